package workload

import (
	"math"
	"math/rand/v2"
)

// distribution draws row ids like sysbench 1.0: doubles, one generator a client, truncated.
type distribution struct {
	random *rand.Rand
	from   float64 // first id
	span   float64 // last id - first id
	iter   int     // draws averaged
	pct    float64 // hot block, % of the rows
	res    float64 // draws sent to it, %
	power  float64 // of pareto
	draw   func(*distribution) float64
}

// newDistribution draws ids from…to.
func newDistribution(kind string, random *rand.Rand, from, to int64, iter int, pct, res int, h float64) distribution {
	return distribution{random: random, from: float64(from), span: float64(to - from), iter: iter, pct: float64(pct), res: float64(res),
		power: math.Log(h) / math.Log(1-h), draw: distributions[kind]}
}

func (d *distribution) id() int64 { return int64(d.draw(d)) }

func uniform(d *distribution) float64 { return d.from + d.random.Float64()*(d.span+1) }

func (d *distribution) mean() float64 {
	var sum float64
	for range d.iter {
		sum += d.random.Float64()
	}
	return sum / float64(d.iter)
}

func gaussian(d *distribution) float64 { return d.from + d.mean()*(d.span+1) }

// special reuses the number that chose the hot block for the place in it, as the original does: only the upper part of
// the block (three quarters by default) is ever drawn.
func special(d *distribution) float64 {
	u := d.random.Float64()
	if u < (100-d.res)/100 {
		return d.from + d.mean()*d.span
	}
	return d.from + u*(d.span*d.pct/100+1) + d.span/2 - d.span*d.pct/200
}

func pareto(d *distribution) float64 {
	return d.from + (d.span+1)*math.Pow(d.random.Float64(), d.power)
}

// distributions by the names of rand-type.
var distributions = map[string]func(*distribution) float64{"uniform": uniform, "gaussian": gaussian, "special": special, "pareto": pareto}

// appendDigits appends groups of eleven random digits joined by dashes: the c (ten groups) and pad (five) of sysbench 1.0.
func appendDigits(b []byte, random *rand.Rand, groups int) []byte {
	for g := range groups {
		if g > 0 {
			b = append(b, '-')
		}
		// One 64-bit draw gives eleven digits; the bias of 2^64 mod 10^11 is one in 10^8.
		v := random.Uint64() % 100_000_000_000
		var digits [11]byte
		for i := len(digits) - 1; i >= 0; i-- {
			digits[i] = '0' + byte(v%10)
			v /= 10
		}
		b = append(b, digits[:]...)
	}
	return b
}
