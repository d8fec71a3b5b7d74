package lab

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// FuzzParseStudy feeds anything to the decoder: it must answer with a plan or an InputError, never panic, and never
// accept in one go what it refuses in the next.
func FuzzParseStudy(f *testing.F) {
	for _, pattern := range []string{"testdata/plans/*.yaml", "testdata/faults/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data, "smoke", "rounds=2")
		}
	}
	f.Add([]byte("a: {<<: 1}"), "", "a.b=c")
	f.Fuzz(func(t *testing.T, data []byte, scale, set string) {
		s, err := ParseStudy("fuzz.yaml", data, scale, []string{set})
		if s.product() > 1000 {
			return // a plan too large to be worth the time
		}
		_, whole := Expand(s, fakeRegistry{})
		if err != nil && whole == nil {
			t.Fatalf("refused by the decoder and expanded: %v", err)
		}
		var input *InputError
		if whole != nil && !errors.As(whole, &input) {
			t.Fatalf("%v is no input error", whole)
		}
	})
}
