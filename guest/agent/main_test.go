package agent

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"platter/guest"
)

var vm = flag.Bool("vm", false, "also run tests that need root and loop devices")

// TestMain lets the test binary stand in for platter-guest, which Detach starts again.
func TestMain(m *testing.M) {
	if len(os.Args) == 6 && os.Args[1] == "run" {
		if err := Run(context.Background(), os.Args[3], os.Args[5], os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// tree writes files below a new root and returns it as a System.
func tree(t *testing.T, files map[string]string) System {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return System{Root: root}
}

// writeJob stores a job of this build and returns its name.
func writeJob(t *testing.T, job guest.Job) string {
	t.Helper()
	job.Build = guest.Build()
	b, err := guest.EncodeJob(job)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "job.json")
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// conversation decodes everything an agent told in dir.
func conversation(t *testing.T, dir string) []guest.Event {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, EventsFile))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	dec := guest.NewDecoder(f, guest.Build())
	var events []guest.Event
	for {
		ev, err := dec.Next()
		if err == io.EOF {
			return events
		}
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, ev)
	}
}

func doneOf(events []guest.Event) guest.Done { return *events[len(events)-1].Done }
