package main

import (
	"flag"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"platter/lab/domain"
	"platter/lab/hypervisor"
)

func TestWanted(t *testing.T) {
	old, young := time.Now().Add(-48*time.Hour), time.Now().Add(-time.Hour)
	tagged := func(run string, created time.Time) hypervisor.Leftover {
		return hypervisor.Leftover{Kind: hypervisor.LeftoverRun, Tag: domain.Tag{Run: run, Created: created}}
	}
	for _, c := range []struct {
		name      string
		run       string
		olderThan time.Duration
		left      hypervisor.Leftover
		want      bool
	}{
		{"all", "", 0, tagged("a", young), true},
		{"the run", "a", 0, tagged("a", young), true},
		{"another run", "b", 0, tagged("a", young), false},
		{"old enough", "", 24 * time.Hour, tagged("a", old), true},
		{"too young", "", 24 * time.Hour, tagged("a", young), false},
		{"old, of another run", "b", 24 * time.Hour, tagged("a", old), false},
		{"a temporary file", "", 24 * time.Hour, hypervisor.Leftover{Kind: hypervisor.LeftoverTemp}, true},
		{"a temporary file, asked for a run", "a", 0, hypervisor.Leftover{Kind: hypervisor.LeftoverTemp}, false},
	} {
		set := flag.NewFlagSet("", flag.ContinueOnError)
		set.String("run", c.run, "")
		set.Duration("older-than", c.olderThan, "")
		if got := wanted(cli.NewContext(nil, set, nil), c.left); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
