package report

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"platter/results"
)

var update = flag.Bool("update", false, "write the golden files anew")

// troubled has everything that can go wrong with trials and files.
func troubled() *memory {
	f := studyOf(map[string][]float64{"ext4": {8.1, 8.2, 8.3, 8.2, 8.1, 8.3}, "xfs": {7.7, 9.9, 7.6, 7.8}}, "ext4", "xfs")
	fail := func(i int, status results.Status, kind, reason, evidence string) {
		r := &f.results[i]
		r.Status, r.ErrorKind, r.Reason, r.Evidence, r.Metrics = status, kind, reason, evidence, nil
	}
	fail(1, results.StatusFailed, "job", "server died with signal 9", "first\nsecond\n[ERROR] \x1b[31mInnoDB: out of space\x1b[0m\n")
	fail(4, results.StatusLost, "boot", "no login within 120 s", "Kernel panic - not syncing: \u202eno init")
	f.results[2].Flags = []results.Flag{{Name: "asked_not_effective", Detail: "server sync_binlog: asked 1, effective 0"}}
	f.results[6].Accel = "kvm"
	f.problems = []error{errors.New("trials/011-xfs/6-1/result.json: broken: unexpected end of JSON input")}
	f.status = "interrupted"
	return f
}

func TestGolden(t *testing.T) {
	for name, folder := range map[string]*memory{"two-trials": twoTrials(), "ten-trials": tenTrials(), "troubled": troubled(), "rich": rich()} {
		m, err := Build([]Folder{folder}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, format := range Formats() {
			if format.Binary || name == "rich" && !slices.Contains([]string{"text", "markdown"}, format.Name) {
				continue // an image's bytes are its library's, and the rich report is large; other tests look at both
			}
			t.Run(name+format.Extension, func(t *testing.T) {
				var got bytes.Buffer
				if err := Write(&got, format.Name, m, Style{}); err != nil {
					t.Fatal(err)
				}
				path := filepath.Join("testdata", name+format.Extension)
				if *update {
					if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), got.String()); diff != "" {
					t.Errorf("%s (-want +got; -update writes it anew):\n%s", path, diff)
				}
			})
		}
	}
}
