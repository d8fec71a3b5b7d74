package workload

import (
	"math"
	"math/rand/v2"
	"regexp"
	"testing"
)

// The rows of the specification's table that are sysbench 1.0's.
func TestDistributions(t *testing.T) {
	for _, c := range []struct {
		kind            string
		mean, deviation float64
		from, to        uint64
		share           float64
	}{
		{"uniform", 5000, 2887, 1, 100, 0.010},
		{"gaussian", 5000, 833, 4950, 5049, 0.048},
		{"special", 5010, 417, 4975, 5051, 0.759},
		{"special", 0, 0, 4951, 4974, 0.25 * 24 * 0.000479}, // the lower quarter of the block is drawn at the gaussian rate only
		{"pareto", 0, 0, 1, 2000, 0.80},
	} {
		t.Run(c.kind, func(t *testing.T) {
			d := newDistribution(c.kind, rand.New(rand.NewPCG(1, 2)), 1, 10000, 12, 1, 75, 0.2)
			checkDraws(t, 60000, 10000, c.mean, c.deviation, c.from, c.to, c.share, false, func() uint64 { return uint64(d.id()) })
		})
	}
	d := newDistribution("pareto", rand.New(rand.NewPCG(1, 2)), 1, 10000, 12, 1, 75, 0.2)
	var sum, squares float64
	for range 60000 {
		v := float64(d.id())
		sum += v
		squares += v * v
	}
	mean := sum / 60000
	if deviation := math.Sqrt(squares/60000 - mean*mean); mean < 1170 || mean > 1270 || deviation < 2180 || deviation > 2300 {
		t.Errorf("pareto mean %.0f, deviation %.0f; want about 1220 and 2240", mean, deviation)
	}
}

func TestAppendDigits(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for groups, pattern := range map[int]string{10: `^(\d{11}-){9}\d{11}$`, 5: `^(\d{11}-){4}\d{11}$`} {
		if s := string(appendDigits(nil, random, groups)); !regexp.MustCompile(pattern).MatchString(s) {
			t.Errorf("%s", s)
		}
	}
}
