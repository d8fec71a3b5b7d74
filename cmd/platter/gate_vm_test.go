package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestConfirmOnMachines gates made-up runs whose plan is real, and confirms the suspect on real machines: one fresh trial
// a side, which decides nothing and must be said to.
func TestConfirmOnMachines(t *testing.T) {
	needVM(t)
	binary, err := filepath.Abs("../../bin/platter")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/vm",
		RequireExplicitExec: true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"status": status, "makerun": makeRun},
		Setup: func(e *testscript.Env) error {
			for _, name := range []string{"HOME", "XDG_CACHE_HOME", "PLATTER_IMAGES", "PLATTER_MIRROR", "LIBVIRT_DEFAULT_URI"} {
				e.Setenv(name, os.Getenv(name))
			}
			e.Setenv("PLATTER", binary) // not the test's own binary: the guest's build must match
			return nil
		},
	})
}
