package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"platter/lab"
	"platter/lab/runner"
	"platter/results/store"
)

func TestExitStatus(t *testing.T) {
	interrupted := &signalError{os.Interrupt}
	for _, c := range []struct {
		name  string
		err   error
		cause error
		want  int
	}{
		{"no error", nil, nil, 0},
		{"usage", &usageError{errors.New("x")}, nil, 2},
		{"input", fmt.Errorf("plan: %w", &lab.InputError{Err: errors.New("x")}), nil, 2},
		{"no run folder", &store.NotARunError{Path: "x", Err: &store.Problem{Path: "run.json", Kind: store.Missing}}, nil, 2},
		{"damaged", &store.Problem{Path: "result.json", Kind: store.Broken}, nil, 5},
		{"damage beside a failure", errors.Join(errSubject, errIntegrity), nil, 5},
		{"not comparable", fmt.Errorf("%w: accel", errNotComparable), nil, 6},
		{"trial failed", fmt.Errorf("%w: 2 of 4", errSubject), nil, 1},
		{"failed and incomplete", errors.Join(errIncomplete, errSubject), nil, 1},
		{"boot", &lab.InfraError{What: "trial", Err: &lab.BootError{What: "login", Err: errors.New("timeout")}}, nil, 7},
		{"infra", &lab.InfraError{What: "attach", Err: errors.New("x")}, nil, 8},
		{"incomplete", errIncomplete, nil, 4},
		{"inconclusive", errInconclusive, nil, 3},
		{"anything else", errors.New("surprise"), nil, 8},
		{"Ctrl-C", fmt.Errorf("wait: %w", context.Canceled), interrupted, 130},
		{"Ctrl-C that came with lost trials", errors.Join(errIncomplete, fmt.Errorf("boot: %w", interrupted)), interrupted, 130},
		{"SIGTERM", context.Canceled, &signalError{syscall.SIGTERM}, 143},
		{"an error before a late signal", &lab.InputError{Err: errors.New("x")}, interrupted, 2},
	} {
		if got := exitStatus(c.err, c.cause); got != c.want {
			t.Errorf("%s: status %d, want %d", c.name, got, c.want)
		}
	}
}

// TestExitTable compares what --help says with the table, and README with both.
func TestExitTable(t *testing.T) {
	var out bytes.Buffer
	if err := run(context.Background(), []string{"--help"}, streams{strings.NewReader(""), &out, &out}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), exitTable()) {
		t.Errorf("--help does not hold the table:\n%s", out.String())
	}
	lines := strings.Split(strings.TrimRight(exitTable(), "\n"), "\n")
	if len(lines) != len(exits)+1 {
		t.Errorf("%d lines, want one for each of %d rows and success", len(lines), len(exits))
	}
}

func TestReadmeExitTable(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^\| +(\d+) +\| (.+?) +\|$`).FindAllStringSubmatch(string(readme), -1) {
		got = append(got, fmt.Sprintf("%5s  %s\n", m[1], m[2]))
	}
	if strings.Join(got, "") != exitTable() {
		t.Errorf("README's table of exit statuses is\n%s\nwant\n%s", strings.Join(got, ""), exitTable())
	}
}

func TestComplain(t *testing.T) {
	var b bytes.Buffer
	complain(&b, errors.New("one\ntwo\n"))
	if b.String() != "platter: one\n         two\n" {
		t.Errorf("%q", b.String())
	}
}

// TestOutcome: how a run's trials ended decides its exit status. The faults of lab/runner's tests end as these kinds.
func TestOutcome(t *testing.T) {
	for _, c := range []struct {
		name string
		ends runner.Summary
		want int
	}{
		{"all well", runner.Summary{OK: 3, Skipped: 1}, 0},
		{"a server died, was killed for memory, or filled its disk", runner.Summary{OK: 3, Failed: 1}, 1},
		{"a clock stepped, somebody paused the machine", runner.Summary{OK: 3, Invalid: 1}, 1},
		{"a kernel panicked, a guest or the daemon fell silent, the host's disk was full", runner.Summary{OK: 3, Lost: 1}, 4},
		{"lost and failed", runner.Summary{Failed: 1, Lost: 1}, 4},
		{"all lost, not at boot", runner.Summary{Lost: 2, NotBooted: 1}, 4},
		{"one did not boot", runner.Summary{OK: 1, Lost: 1, NotBooted: 1}, 4},
		{"none booted", runner.Summary{Lost: 2, NotBooted: 2}, 7},
	} {
		if got := exitStatus(outcome(c.ends), nil); got != c.want {
			t.Errorf("%s: status %d, want %d", c.name, got, c.want)
		}
	}
}
