package cache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"platter/images"
)

// fake is a builder that writes a small image and can be told to misbehave.
type fake struct {
	mu     sync.Mutex
	builds int
	err    error
	during func(ctx context.Context, dir, scratch string) error
}

func (f *fake) Build(ctx context.Context, r images.Recipe, o images.Options, dir, scratch string, progress func(string)) error {
	f.mu.Lock()
	f.builds++
	f.mu.Unlock()
	progress("building")
	if err := os.WriteFile(filepath.Join(scratch, "half"), nil, 0o644); err != nil {
		return err
	}
	content := []byte("the root of " + r.Name)
	if err := os.WriteFile(filepath.Join(dir, images.RootFile), content, 0o644); err != nil {
		return err
	}
	if f.during != nil {
		if err := f.during(ctx, dir, scratch); err != nil {
			return err
		}
	}
	if f.err != nil {
		return f.err
	}
	sum := sha256.Sum256(content)
	m := images.Manifest{
		Schema: images.ManifestSchema, Format: images.Format, Recipe: r, RecipeDigest: r.Digest(o), Arch: o.Arch,
		Outputs: map[string]images.Output{images.RootFile: {SHA256: hex.EncodeToString(sum[:]), SizeBytes: int64(len(content))}},
	}
	data, err := m.Encode()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, images.ManifestFile), data, 0o644)
}

func (f *fake) Clean(scratch string) error { return os.RemoveAll(scratch) }

var (
	recipe  = images.Recipe{Name: "small", Kind: images.KindServer, Suite: "trixie"}
	options = images.Options{Arch: "amd64"}
	quiet   = func(string) {}
)

func open(t *testing.T, dir string, b Builder) *Cache {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	c, err := Open(dir, b)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// leftovers lists what is neither a finished image nor a lock.
func leftovers(t *testing.T, c *Cache) []string {
	t.Helper()
	var list []string
	for _, pattern := range []string{filepath.Join(c.dir, "*.new"), filepath.Join(c.dir, "*.scratch"), filepath.Join(os.Getenv("TMPDIR"), scratchPrefix+"*")} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, found...)
	}
	return list
}

func TestEnsureBuildsOnce(t *testing.T) {
	b := &fake{}
	c := open(t, t.TempDir(), b)
	first, err := c.Ensure(t.Context(), recipe, options, quiet)
	if err != nil {
		t.Fatal(err)
	}
	if first.Name != "small" || first.Digest != recipe.Digest(options) || !strings.HasPrefix(first.Dir, c.Dir()) {
		t.Errorf("image %+v", first)
	}
	if left := leftovers(t, c); left != nil {
		t.Errorf("a finished build leaves %q", left)
	}
	start := time.Now()
	if _, err := c.Ensure(t.Context(), recipe, options, func(s string) { t.Errorf("progress %q for a cached image", s) }); err != nil {
		t.Fatal(err)
	}
	t.Logf("a cached image took %v", time.Since(start))
	if b.builds != 1 {
		t.Errorf("%d builds, want 1", b.builds)
	}
	other := options
	other.Mirror = "http://mirror.example/debian"
	if _, err := c.Ensure(t.Context(), recipe, other, quiet); err != nil || b.builds != 2 {
		t.Errorf("another mirror: %d builds, error %v", b.builds, err)
	}
}

// TestEnsureTogether asks from many goroutines at once.
func TestEnsureTogether(t *testing.T) {
	waiting := make(chan string, 10)
	b := &fake{during: func(context.Context, string, string) error {
		select { // the build goes on when somebody waits for it
		case <-waiting:
			return nil
		case <-time.After(20 * time.Second):
			return errors.New("nobody said that it waits")
		}
	}}
	c := open(t, t.TempDir(), b)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			_, err := c.Ensure(context.Background(), recipe, options, func(s string) {
				if strings.Contains(s, "waiting for another process") {
					waiting <- s
				}
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if b.builds != 1 {
		t.Errorf("%d builds, want 1", b.builds)
	}
}

// TestMain lets the test binary play another process that builds.
func TestMain(m *testing.M) {
	dir := os.Getenv("PLATTER_TEST_CACHE")
	if dir == "" {
		os.Exit(m.Run())
	}
	b := &fake{during: func(context.Context, string, string) error {
		fmt.Println("building")
		if os.Getenv("PLATTER_TEST_HANG") != "" {
			time.Sleep(time.Hour)
		}
		time.Sleep(300 * time.Millisecond)
		return nil
	}}
	c, err := Open(dir, b)
	if err == nil {
		_, err = c.Ensure(context.Background(), recipe, options, quiet)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("builds", b.builds)
}

func process(t *testing.T, dir string, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), "PLATTER_TEST_CACHE="+dir), env...)
	return cmd
}

// TestTwoProcesses starts two at once: together they build once.
func TestTwoProcesses(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir := t.TempDir()
	var outputs [2]strings.Builder
	var cmds [2]*exec.Cmd
	for i := range cmds {
		cmds[i] = process(t, dir)
		cmds[i].Stdout = &outputs[i]
		if err := cmds[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	for i, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %s", err, outputs[i].String())
		}
	}
	if n := strings.Count(outputs[0].String()+outputs[1].String(), "building"); n != 1 {
		t.Errorf("%d builds, want 1: %q %q", n, outputs[0].String(), outputs[1].String())
	}
}

// TestKilledBuild kills a process in the middle of its build with a signal that
// leaves it no time to clean up.
func TestKilledBuild(t *testing.T) {
	b := &fake{}
	c := open(t, t.TempDir(), b)
	cmd := process(t, c.Dir(), "PLATTER_TEST_HANG=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if left := leftovers(t, c); len(left) != 3 {
		t.Fatalf("the killed build left %q, want three things", left)
	}
	if list, err := c.List(); len(list) != 0 || err != nil {
		t.Errorf("a half-built image is listed: %v, %v", list, err)
	}
	if _, err := c.Ensure(t.Context(), recipe, options, quiet); err != nil || b.builds != 1 {
		t.Errorf("after the killed build: %d builds, error %v", b.builds, err)
	}
	if left := leftovers(t, c); left != nil {
		t.Errorf("still there: %q", left)
	}
}

func TestFailedAndCancelledBuild(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	for name, b := range map[string]*fake{
		"failed": {err: errors.New("mirror unreachable")},
		"cancelled": {during: func(ctx context.Context, _, _ string) error {
			cancel()
			<-ctx.Done()
			return ctx.Err()
		}},
	} {
		c := open(t, t.TempDir(), b)
		if _, err := c.Ensure(ctx, recipe, options, quiet); err == nil {
			t.Errorf("%s: no error", name)
		}
		if left := leftovers(t, c); left != nil {
			t.Errorf("%s: leaves %q", name, left)
		}
		if list, err := c.List(); len(list) != 0 || err != nil {
			t.Errorf("%s: lists %v, %v", name, list, err)
		}
	}
}

// TestCancelWhileWaiting ends the wait for another's build.
func TestCancelWhileWaiting(t *testing.T) {
	started, release := make(chan struct{}), make(chan struct{})
	b := &fake{during: func(context.Context, string, string) error { close(started); <-release; return nil }}
	c := open(t, t.TempDir(), b)
	done := make(chan error)
	go func() {
		_, err := c.Ensure(context.Background(), recipe, options, quiet)
		done <- err
	}()
	<-started
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := c.Ensure(ctx, recipe, options, func(string) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
}
