package workload

// rand48 is the POSIX 48-bit linear congruential generator with 31-bit results, the one sysbench 0.4.10 and later draw
// from. The zero value is the state a run without init-rng starts in.
type rand48 struct{ x uint64 }

const (
	rand48Multiplier = 0x5DEECE66D
	rand48Increment  = 0xB
	rand48Mask       = 1<<48 - 1
)

// next is the next number, 0 … 2^31-1.
func (r *rand48) next() uint64 {
	r.x = (r.x*rand48Multiplier + rand48Increment) & rand48Mask
	return r.x >> 17
}

// rand48For is the generator of one client. Client 0 without a seed is the original's; the others start at points far
// apart, which the original does not have: it shares one generator among its threads, so its draws hang on their timing.
func rand48For(seed uint64, client int) *rand48 {
	if seed == 0 && client == 0 {
		return &rand48{}
	}
	return &rand48{x: mix(seed, uint64(client)) & rand48Mask}
}

// mix spreads two numbers over 64 bits (the finaliser of SplitMix64).
func mix(a, b uint64) uint64 {
	z := a + (b+1)*0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}
