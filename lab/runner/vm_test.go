package runner

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"platter/images"
	"platter/images/build"
	"platter/images/cache"
	"platter/lab"
	"platter/lab/hypervisor"
	"platter/lab/planner"
	"platter/results"
	"platter/results/store"

	"encoding/json"
)

func needVM(t *testing.T) {
	t.Helper()
	if !*vm {
		t.Skip("needs -vm: boots real machines")
	}
}

// catalogue gives images of the cache; change may alter one before it is used.
type catalogue struct {
	cache  *cache.Cache
	change func(images.Image) images.Image
}

func (c catalogue) Ensure(ctx context.Context, name string, say func(string)) (images.Image, error) {
	recipe, err := images.Lookup(name)
	if err != nil {
		return images.Image{}, err
	}
	image, err := c.cache.Ensure(ctx, recipe, images.Options{Arch: runtime.GOARCH}, say)
	if err == nil && c.change != nil {
		image = c.change(image)
	}
	return image, err
}

// tinyPlan is the plan of one small trial.
func tinyPlan(t *testing.T) lab.Plan {
	t.Helper()
	data, err := os.ReadFile("../../cmd/platter/testdata/tiny.yaml")
	if err != nil {
		t.Fatal(err)
	}
	study, err := lab.ParseStudy("tiny.yaml", data, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := lab.Expand(study, planner.Registry{})
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func testLog(t *testing.T) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelInfo}))
}

// carry runs the tiny study in this process and returns its results.
func carry(t *testing.T, change func(images.Image) images.Image, guestBinary string) []results.Result {
	t.Helper()
	ctx := context.Background()
	plan := tinyPlan(t)
	host, err := hypervisor.Open(ctx, hypervisor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	info, err := host.Info(ctx)
	if err != nil {
		t.Fatal(err)
	}
	document, _ := json.Marshal(plan)
	run, err := store.Create(t.TempDir(), store.CreateSpec{Study: plan.Study, Plan: document, PlanDigest: plan.Digest, Host: HostFacts(info)})
	if err != nil {
		t.Fatal(err)
	}
	tag, err := hypervisor.NewTag(run.ID())
	if err != nil {
		t.Fatal(err)
	}
	kept, err := cache.Open("", build.Builder{})
	if err != nil {
		t.Fatal(err)
	}
	summary, err := Run(ctx, Config{Plan: plan, Store: run, Host: NewHost(host), Images: catalogue{kept, change}, Tag: tag,
		GuestBinary: func(string) (string, error) { return guestBinary, nil }})
	if err != nil || summary.CleanupErr != nil {
		t.Fatalf("%v, clean-up %v", err, summary.CleanupErr)
	}
	left, err := host.Leftovers(ctx, hypervisor.Everything)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range left {
		if l.Tag.Run == run.ID() {
			t.Errorf("left behind: %s %s", l.Kind, l.Name)
		}
	}
	var out []results.Result
	for r, err := range run.Results() {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// TestNeverBoots: a machine whose kernel finds no root ends as a boot error that shows the end of its console, soon.
func TestNeverBoots(t *testing.T) {
	needVM(t)
	empty := filepath.Join(t.TempDir(), "images")
	noRoot := func(image images.Image) images.Image {
		if image.Name != "root" {
			return image
		}
		if err := exec.Command("cp", "-a", image.Dir, empty).Run(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(empty, images.InitramfsFile), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		image.Dir = empty
		image.Manifest.Outputs = map[string]images.Output{}
		for name, output := range mustLoad(t, empty) {
			image.Manifest.Outputs[name] = output
		}
		image.Manifest.Outputs[images.InitramfsFile] = images.Output{SHA256: "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}
		return image
	}
	found := carry(t, noRoot, guestPath(t))
	if len(found) != 2 {
		t.Fatalf("%d results, want both attempts", len(found))
	}
	for _, r := range found {
		if r.Status != results.StatusLost || r.ErrorKind != "boot" || !strings.Contains(r.Evidence, "Kernel panic") || len(r.Metrics) > 0 {
			t.Errorf("attempt %d: %s, kind %s: %s\n%s", r.Attempt, r.Status, r.ErrorKind, r.Reason, r.Evidence)
		}
		if r.WallSeconds == nil || *r.WallSeconds > 120 {
			t.Errorf("attempt %d took %v s to say so", r.Attempt, *r.WallSeconds)
		}
	}
}

func mustLoad(t *testing.T, dir string) map[string]images.Output {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, images.ManifestFile))
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := images.DecodeManifest(data)
	if err != nil {
		t.Fatal(err)
	}
	return manifest.Outputs
}

func guestPath(t *testing.T) string {
	t.Helper()
	return buildGuest(t, "../../cmd/platter-guest")
}

// buildGuest compiles a guest binary of the same build as this test; flags are further ones of go build.
func buildGuest(t *testing.T, source string, flags ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "guest")
	command := exec.Command("go", append(append([]string{"build", "-o", path}, flags...), source)...)
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// TestGuestKilled: when the agent is killed in the middle of its job the trial is lost, with no numbers, and tried again.
func TestGuestKilled(t *testing.T) {
	needVM(t)
	found := carry(t, nil, buildGuest(t, "./testdata/faulty-guest", "-ldflags", "-X main.killAfter=5s"))
	if len(found) != 2 {
		t.Fatalf("%d results, want both attempts", len(found))
	}
	for _, r := range found {
		if r.Status != results.StatusLost || r.ErrorKind != "infra" || len(r.Metrics) > 0 {
			t.Errorf("attempt %d: %s, kind %s: %s", r.Attempt, r.Status, r.ErrorKind, r.Reason)
		}
		if !strings.Contains(r.Reason, "agent") {
			t.Errorf("attempt %d does not say that the agent is gone: %s", r.Attempt, r.Reason)
		}
	}
}
