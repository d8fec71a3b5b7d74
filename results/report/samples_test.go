package report

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// FuzzSamples reads samples that a hostile guest wrote: whatever they are, there is an error or finite numbers within the
// limits, in time that follows the number of lines.
func FuzzSamples(f *testing.F) {
	for _, text := range []string{
		"seconds,step,source,name,value\n1,run,workload,transactions_per_second,7\n2,run,workload,transactions_per_second,8\n",
		"1,warmup,workload,x,7\n2,run,workload,x,8\n2,run,cpu,user_seconds_total,1\n2,run,disk:vdb,read_bytes_total,5\n",
		"1,run,server,Questions,10\n2,run,server,Questions,30\n2,run,server,Questions,5\n",
		"\"1\",\"a,b\",\"workload\",\"x\"\"y\",\"2\"\n1,run,workload,x,1e308\n1,run,workload,x,-1e308\n", "\"\n\x00,,,,\n", "1,2,3,4,5,6\n,,,,\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		samples, err := parseSamples(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, step := range samples.steps {
			for name, r := range step.rates {
				if len(r.seconds) != len(r.values) || len(r.values) == 0 || r.measured > len(r.values) {
					t.Errorf("%q: %d seconds, %d values, measured from %d on", name, len(r.seconds), len(r.values), r.measured)
				}
				for i := range r.values {
					if math.IsNaN(r.values[i]) || math.IsInf(r.values[i], 0) || math.IsNaN(r.seconds[i]) {
						t.Errorf("%q holds %v at %v", name, r.values[i], r.seconds[i])
					}
				}
			}
		}
		samples.mainStep().rate()
	})
}

// TestSamplesWithoutEnd: a guest cannot fill the memory of whoever reports, or keep it busy for ever.
func TestSamplesWithoutEnd(t *testing.T) {
	for name, c := range map[string]struct {
		line func(i int) string
		want string
	}{
		"steps":   {func(i int) string { return fmt.Sprintf("%d,run%d,workload,x,1\n", i, i) }, "more than 1000 steps"},
		"rates":   {func(i int) string { return fmt.Sprintf("%d,run,workload,x%d,1\n", i, i) }, "more than 100 rates"},
		"warm-up": {func(i int) string { return fmt.Sprintf("%d,warmup,workload,x%d,1\n", i, i) }, "more than 100 rates"},
		"moments": {func(i int) string { return fmt.Sprintf("%d.5,run,cpu,user_seconds_total,1\n", i) }, "more than 500000 moments"},
	} {
		t.Run(name, func(t *testing.T) {
			var text strings.Builder
			for i := range samplesMaxReadings + 10 {
				text.WriteString(c.line(i))
				if name != "moments" && i > 2*samplesMaxSteps {
					break
				}
			}
			if _, err := parseSamples(strings.NewReader(text.String())); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
