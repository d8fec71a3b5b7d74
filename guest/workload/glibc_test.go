package workload

import "testing"

// The first numbers random() gives a C program that seeds nothing, and after srandom(42).
func TestGlibcRandom(t *testing.T) {
	for seed, want := range map[int32][]int64{
		1:  {1804289383, 846930886, 1681692777, 1714636915, 1957747793, 424238335, 719885386, 1649760492},
		42: {71876166, 708592740, 1483128881, 907283241, 442951012},
	} {
		g := newGlibcRandom(seed)
		for i, w := range want {
			if got := g.next(); got != w {
				t.Errorf("seed %d, number %d: %d, want %d", seed, i, got, w)
			}
		}
	}
}
