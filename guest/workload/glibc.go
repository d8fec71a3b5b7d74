package workload

// glibcRandom is the random() of the GNU C library in its default state: an additive feedback generator of 31 words, with
// 31-bit results. mysqlslap builds its table text from it before it seeds anything, so every invocation anywhere sends the
// same rows (first integer 1804289383), and so do we.
type glibcRandom struct {
	state [31]int32
	front int
	rear  int
}

// newGlibcRandom is the generator after srandom(seed); a program that never calls srandom has seed 1.
func newGlibcRandom(seed int32) *glibcRandom {
	g := &glibcRandom{front: 3}
	if seed == 0 {
		seed = 1
	}
	g.state[0] = seed
	for i := 1; i < len(g.state); i++ {
		// The library's word: 16807 * x mod 2^31-1, computed without overflow.
		word := 16807*(int64(g.state[i-1])%127773) - 2836*(int64(g.state[i-1])/127773)
		if word < 0 {
			word += 2147483647
		}
		g.state[i] = int32(word)
	}
	for range 310 {
		g.next()
	}
	return g
}

// next is the next number, 0 … 2^31-1.
func (g *glibcRandom) next() int64 {
	g.state[g.front] += g.state[g.rear]
	result := uint32(g.state[g.front]) >> 1
	g.front = (g.front + 1) % len(g.state)
	g.rear = (g.rear + 1) % len(g.state)
	return int64(result)
}
