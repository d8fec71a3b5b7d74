package main

import (
	"errors"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets scripts run this very binary as the command platter.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"platter": main})
}

// TestScripts runs testdata/script/*.txtar: the command line as people type it, without a hypervisor.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"status": status, "makerun": makeRun},
		Setup: func(e *testscript.Env) error {
			e.Setenv("XDG_CACHE_HOME", e.WorkDir+"/cache")
			e.Setenv("HOME", e.WorkDir)
			return nil
		},
	})
}

// status runs platter and checks its exit status: status 2 plan nosuch.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: status N ARGS...")
	}
	err := ts.Exec("platter", args[1:]...)
	got := "0"
	if err != nil {
		got = exitCode(err)
	}
	if got != args[0] {
		ts.Fatalf("exit status %s, want %s: %v\n%s", got, args[0], err, ts.ReadFile("stderr"))
	}
}

func exitCode(err error) string {
	var exited *exec.ExitError
	if errors.As(err, &exited) {
		return strconv.Itoa(exited.ExitCode())
	}
	return err.Error()
}
