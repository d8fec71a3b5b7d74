package report

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"platter/results/store"
)

// archivedRun copies the run folder of the tests; its trial 003-ext4/2 is the one to spoil.
func archivedRun(t *testing.T) (run *store.Run, spoiled string) {
	t.Helper()
	const id = "20260131T021500Z-ext4-vs-xfs-7f3a9c"
	copied := filepath.Join(t.TempDir(), id)
	if err := os.CopyFS(copied, os.DirFS(filepath.Join("..", "store", "testdata", id))); err != nil {
		t.Fatal(err)
	}
	run, err := store.Open(copied)
	if err != nil {
		t.Fatal(err)
	}
	return run, filepath.Join(copied, "trials", "003-ext4", "2-1", "result.json")
}

// secondsOfResult is the value of run_seconds as the file has it.
var secondsOfResult = regexp.MustCompile(`("name": "run_seconds",\s*"step": "slap",\s*"value": )([0-9.]+)`)

// TestNumbersOfOtherCountries (K11, units and locale): a number in a result is a JSON number in its base unit. Text that
// is one in some country or for some tool's reader spoils its file, which is named, and nothing is taken from it.
func TestNumbersOfOtherCountries(t *testing.T) {
	run, path := archivedRun(t)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !secondsOfResult.Match(good) {
		t.Fatalf("no run_seconds in %s", good)
	}
	for _, c := range []struct {
		value string
		whole bool
	}{
		{"1e-05", true}, {"999.9", true},
		{`"999.9us"`, false}, {`"1.0ms"`, false}, {`"1.00 s"`, false}, {`"1 min 0.01 sec"`, false}, {`"1:02:03"`, false}, {`"12,5"`, false},
		{`"1.234,5"`, false}, {`"4.0K"`, false}, {`"1,234.5"`, false}, {`"7.7"`, false}, {"12,5", false}, {"1.234.5", false}, {".5", false},
		{"1e400", false}, {"NaN", false}, {"true", false},
	} {
		if err := os.WriteFile(path, secondsOfResult.ReplaceAll(good, []byte("${1}"+c.value)), 0o644); err != nil {
			t.Fatal(err)
		}
		m, err := Build([]Folder{run}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if c.whole {
			if m.Partial() || m.Counts.OK != 4 {
				t.Errorf("%s: counts %+v, problems %v", c.value, m.Counts, m.Problems)
			}
			continue
		}
		named := len(m.Problems) == 1 && strings.Contains(fmt.Sprint(m.Problems), "trials/003-ext4/2-1/result.json")
		if m.Counts.OK != 3 || !m.Partial() || !named {
			t.Errorf("%s: counts %+v, problems %v", c.value, m.Counts, m.Problems)
		}
	}
}

// dialects are what load generators of several ages print, in the shape of each.
var dialects = map[string]string{
	"0.4":          "OLTP test statistics:\n    transactions:                        800199 (636.77 per sec.)\n    deadlocks:                           3      (0.00 per sec.)\n",
	"0.5":          "[  10s] threads: 2, tps: 4711.31, reads/s: 65958.40, writes/s: 0.00, response time: 47.11ms (99%)\n",
	"1.0":          "[ 10s ] thds: 2 tps: 4711.31 qps: 94226.26 (r/w/o: 65958.40/0.00/9422.63) lat (ms,95%): 47.11 err/s: 0.00 reconn/s: 0.00\n",
	"1.1":          "Throughput:\n    events/s (eps):                      4711.3100\n    time elapsed:                        10.0001s\n",
	"three blocks": strings.Repeat("SQL statistics:\n    transactions:                        47113 (4711.31 per sec.)\nLatency (ms):\n         95th percentile:                       47.11\n", 3),
	"cut":          "SQL statistics:\n    transactions:                        4711",
	"CRLF":         "SQL statistics:\r\n    transactions:                        47113  (4711.31 per sec.)\r\n",
	"json":         "[\n  {\n    \"time\": 10,\n    \"tps\": 4711.31,\n  },\n]\n",
	"fatal":        "FATAL: unable to connect to MySQL server on host 'localhost', port 4711, aborting...\n",
}

// TestOutputOfOtherTools (K11, dialects of load generators): platter's numbers come from its own guest. The text of
// another tool is no result in whatever dialect; it is named in place of one and left alone beside one, and no format
// takes a number from it.
func TestOutputOfOtherTools(t *testing.T) {
	for name, text := range dialects {
		for place, want := range map[string]int{"result.json": 3, "logs/sysbench.log": 4, "samples.csv": 4} {
			run, path := archivedRun(t)
			path = filepath.Join(filepath.Dir(path), place)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			m, err := Build([]Folder{run}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if m.Counts.OK != want || m.Partial() != (want < 4) {
				t.Errorf("%s as %s: counts %+v, problems %v", name, place, m.Counts, m.Problems)
			}
			for _, format := range []string{"text", "markdown", "csv", "json"} {
				var page strings.Builder
				if err := Write(&page, format, m, Style{}); err != nil {
					t.Fatal(err)
				}
				if strings.Contains(page.String(), "4711") || strings.Contains(page.String(), "800199") {
					t.Errorf("%s as %s: the report in %s has its number", name, place, format)
				}
				if want < 4 && format != "csv" && !strings.Contains(page.String(), "trials/003-ext4/2-1/result.json") {
					t.Errorf("%s as %s: the report in %s does not name the file", name, place, format)
				}
			}
		}
	}
}
