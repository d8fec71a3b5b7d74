package workload

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func legacyDraws(kind string, rows, pct, res uint64) *legacyDistribution {
	return &legacyDistribution{random: &rand48{}, rows: rows, iter: 12, pct: pct, res: res, draw: legacyDistributions[kind]}
}

// What a one-thread run of sysbench 0.4.12 with defaults draws first: 17 ids, then the ten numbers of its first c, which
// it writes in reverse order of drawing.
func TestLegacyVector(t *testing.T) {
	d := legacyDraws("special", 10000, 1, 75)
	var got []uint64
	for range 17 {
		got = append(got, d.id())
	}
	want := []uint64{5273, 4957, 5013, 5792, 4973, 6380, 4522, 4503, 4824, 5048, 4984, 4977, 4951, 5018, 4992, 5028, 5022}
	if !slices.Equal(got, want) {
		t.Errorf("ids %v, want %v", got, want)
	}
	const wantC = "618268884-949692053-612769513-998075866-57522370-805218651-186358951-414361086-1079721-8783635"
	if c := string(d.numbers(nil, 10)); c != wantC {
		t.Errorf("c %s, want %s", c, wantC)
	}
}

// The table of distributions: 30000 draws over 10000 rows; shares within one percentage point.
func TestLegacyDistributions(t *testing.T) {
	const n, rows = 30000, 10000
	for _, c := range []struct {
		name               string
		kind               string
		pct, res           uint64
		mean, deviation    float64
		from, to           uint64
		share              float64
		allHotIDsAreEquals bool
	}{
		{"uniform", "uniform", 1, 75, 5000, 2887, 4950, 5049, 0.010, false},
		{"gaussian", "gaussian", 1, 75, 5000, 833, 4950, 5049, 0.048, false},
		{"special 1/75", "special", 1, 75, 5000, 417, 4950, 5049, 0.762, true},
		{"special 5/75", "special", 5, 75, 0, 0, 4750, 5249, 0.809, false},
		{"special 10/75", "special", 10, 75, 0, 0, 4500, 5499, 0.863, false},
		{"special 1/80", "special", 1, 80, 0, 0, 4950, 5049, 0.810, false},
		{"special 1/60 acts as 50", "special", 1, 60, 0, 0, 4950, 5049, 0.523, false},
		{"special 1/70 acts as 66.7", "special", 1, 70, 0, 0, 4950, 5049, 0.675, false},
		{"special 1/30 has no hot block", "special", 1, 30, 0, 0, 4950, 5049, 0.044, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := legacyDraws(c.kind, rows, c.pct, c.res)
			checkDraws(t, n, rows, c.mean, c.deviation, c.from, c.to, c.share, c.allHotIDsAreEquals, d.id)
		})
	}
}

func checkDraws(t *testing.T, n int, rows uint64, mean, deviation float64, from, to uint64, share float64, equal bool, draw func() uint64) {
	t.Helper()
	var sum, squares float64
	inside := 0
	hits := map[uint64]int{}
	for range n {
		id := draw()
		if id < 1 || id > rows {
			t.Fatalf("id %d is outside 1…%d", id, rows)
		}
		sum += float64(id)
		squares += float64(id) * float64(id)
		if id >= from && id <= to {
			inside++
			hits[id]++
		}
	}
	gotMean := sum / float64(n)
	gotDeviation := math.Sqrt(squares/float64(n) - gotMean*gotMean)
	if mean > 0 && (math.Abs(gotMean-mean) > mean/100 || math.Abs(gotDeviation-deviation) > deviation/20) {
		t.Errorf("mean %.0f, standard deviation %.0f; want %.0f, %.0f", gotMean, gotDeviation, mean, deviation)
	}
	if got := float64(inside) / float64(n); math.Abs(got-share) > 0.01 {
		t.Errorf("%.1f %% inside %d…%d, want %.1f %%", 100*got, from, to, 100*share)
	}
	if !equal {
		return
	}
	expected := float64(inside) / float64(to-from+1)
	for id := from; id <= to; id++ {
		if h := float64(hits[id]); math.Abs(h-expected) > 6*math.Sqrt(expected) {
			t.Errorf("hot id %d was drawn %.0f times, expected about %.0f", id, h, expected)
		}
	}
}

// Above 178 million rows the original's 32-bit sum overflows; ours stays inside the table.
func TestLegacyGaussianDoesNotOverflow(t *testing.T) {
	d := legacyDraws("gaussian", 500_000_000, 1, 75)
	var sum float64
	for range 1000 {
		sum += float64(d.id())
	}
	if mean := sum / 1000; mean < 2.3e8 || mean > 2.7e8 {
		t.Errorf("mean %.0f", mean)
	}
}

// Client 0 without a seed is the original's stream; every other client has another one, the same in every run.
func TestRand48Clients(t *testing.T) {
	seen := map[uint64]string{}
	for _, seed := range []uint64{0, 1, 2} {
		for client := range 4 {
			first := rand48For(seed, client).next()
			if again := rand48For(seed, client).next(); again != first {
				t.Errorf("seed %d client %d: %d then %d", seed, client, first, again)
			}
			name := strings.Join([]string{strconv.Itoa(int(seed)), strconv.Itoa(client)}, "/")
			if other, ok := seen[first]; ok {
				t.Errorf("%s and %s draw the same first number", name, other)
			}
			seen[first] = name
		}
	}
}
