package workload

// legacyDistribution draws row ids like sysbench 0.4: integer arithmetic, truncating, in 64 bits where the original's sum
// overflows 32 above about 178 million rows.
type legacyDistribution struct {
	random *rand48
	rows   uint64 // N
	iter   uint64 // draws averaged
	pct    uint64 // hot block, % of the rows
	res    uint64 // draws sent to it, %
	draw   func(*legacyDistribution) uint64
}

// legacyModulus is what every 31-bit draw is reduced by before use.
const legacyModulus = 1073741823

func (d *legacyDistribution) r() uint64 { return d.random.next() % legacyModulus }

// id draws one id, 1 … N.
func (d *legacyDistribution) id() uint64 { return d.draw(d) }

func legacyUniform(d *legacyDistribution) uint64 { return 1 + d.r()%d.rows }

func legacyGaussian(d *legacyDistribution) uint64 {
	var sum uint64
	for range d.iter {
		sum += 1 + d.r()%d.rows
	}
	return sum / d.iter
}

// legacySpecial sends all draws but one in m to a block of hot ids around the middle. m is truncated, so only some values
// of res do what they say.
func legacySpecial(d *legacyDistribution) uint64 {
	m := 100 / (100 - d.res)
	v := 1 + d.r()%(d.rows*m)
	if v <= d.rows {
		return legacyGaussian(d)
	}
	hot := max(1, d.rows*d.pct/100)
	return v%hot + d.rows/2 - d.rows*d.pct/200
}

// legacyDistributions by the names of oltp-dist-type.
var legacyDistributions = map[string]func(*legacyDistribution) uint64{
	"uniform": legacyUniform, "gaussian": legacyGaussian, "special": legacySpecial,
}
