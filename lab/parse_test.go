package lab

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite golden files")

// golden compares got with a file under testdata, or rewrites the file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// TestFaults reads every testdata/faults/*.yaml and compares the faults with the .golden beside it. A first line
// "# scale: NAME" chooses a scale and lines "# set: PATH=VALUE" are overrides. The studies that parse are expanded.
func TestFaults(t *testing.T) {
	files, err := filepath.Glob("testdata/faults/*.yaml")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d fault studies: %v", len(files), err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".yaml"), func(t *testing.T) {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			var scale string
			var sets []string
			for line := range strings.Lines(string(data)) {
				line = strings.TrimSpace(line)
				if v, ok := strings.CutPrefix(line, "# scale: "); ok {
					scale = v
				}
				if v, ok := strings.CutPrefix(line, "# set: "); ok {
					sets = append(sets, v)
				}
			}
			s, err := ParseStudy("study.yaml", data, scale, sets)
			_, whole := Expand(s, fakeRegistry{})
			if err != nil && whole == nil {
				t.Fatalf("a study with faults expands: %v", err)
			}
			if err = whole; err == nil {
				t.Fatal("no fault found")
			}
			golden(t, "faults/"+strings.TrimSuffix(filepath.Base(f), ".yaml")+".golden", err.Error()+"\n")
		})
	}
}
