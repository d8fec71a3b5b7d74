package main

import (
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
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

// TestReadmeCommands compares the commands that README lists with those there are.
func TestReadmeCommands(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, m := range regexp.MustCompile(`(?m)^    platter (\S+)`).FindAllStringSubmatch(string(readme), -1) {
		shown = append(shown, m[1])
	}
	slices.Sort(shown)
	var there []string
	for _, c := range newApp(streams{strings.NewReader(""), io.Discard, io.Discard}).Commands {
		if c.Name != "version" && c.Name != "completion" {
			there = append(there, c.Name)
		}
	}
	slices.Sort(there)
	if shown = slices.Compact(shown); !slices.Equal(shown, there) {
		t.Errorf("README lists %v, there are %v", shown, there)
	}
}
