package main

import (
	"os"
	"regexp"
	"testing"

	"platter/lab"
	"platter/lab/planner"
)

// TestReadmeStudy plans the study that README shows, at every scale.
func TestReadmeStudy(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(readme)
	if block == nil {
		t.Fatal("README shows no study")
	}
	for _, scale := range []string{"", "smoke"} {
		s, err := lab.ParseStudy("README.md", block[1], scale, nil)
		if err == nil {
			_, err = lab.Expand(s, planner.Registry{})
		}
		if err != nil {
			t.Errorf("scale %q: %v", scale, err)
		}
	}
}
