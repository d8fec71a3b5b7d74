package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestOneNightAtATime: a second night in the same results directory is told to wait.
func TestOneNightAtATime(t *testing.T) {
	dir := t.TempDir()
	release, err := lockNight(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockNight(dir); err == nil || exitStatus(err, nil) != 2 || !strings.Contains(err.Error(), "another night") {
		t.Errorf("a second night: %v", err)
	}
	release()
	again, err := lockNight(dir)
	if err != nil {
		t.Fatal(err)
	}
	again()
}

// TestAcceptKeepsTheFile: an entry is added at the end, and what people wrote stays.
func TestAcceptKeepsTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), baselinesFile)
	for _, reason := range []string{"the first night", `a "quoted": #reason`} {
		if err := accept(path, baseline{Study: "s", Run: "r-" + reason[:1], Since: today(), Reason: reason}); err != nil {
			t.Fatal(err)
		}
	}
	b, err := readBaselines(path)
	if err != nil || len(b.Baselines) != 2 || b.Baselines[1].Reason != `a "quoted": #reason` {
		t.Fatalf("%+v, %v", b, err)
	}
	if run, ok := b.of("s"); !ok || run != "r-a" || !b.holds("r-t") || b.holds("x") {
		t.Errorf("%q, %v", run, ok)
	}
	if _, ok := b.of("other"); ok {
		t.Error("a study without an entry has a baseline")
	}
}
