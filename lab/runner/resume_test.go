package runner

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"platter/images"
	"platter/lab"
	"platter/lab/domain"
	"platter/lab/hypervisor"
	"platter/lab/planner"
	"platter/lab/studies"
	"platter/results"
	"platter/results/store"
)

// brokenHost has no space for any volume, so that every trial is lost.
type brokenHost struct{ volumes []string }

func (*brokenHost) Info(context.Context) (hypervisor.Info, error) {
	return hypervisor.Info{Arch: hostArch}, nil
}
func (*brokenHost) Accel(context.Context, string) (domain.Accel, error) { return domain.TCG, nil }
func (*brokenHost) Stage(context.Context, string, string, func() (io.ReadCloser, error)) (string, error) {
	return "/image", nil
}
func (h *brokenHost) CreateVolume(_ context.Context, spec hypervisor.VolumeSpec) (hypervisor.Volume, error) {
	h.volumes = append(h.volumes, spec.Name)
	return hypervisor.Volume{}, errors.New("no space")
}
func (*brokenHost) RemoveVolume(hypervisor.Volume) error { return nil }
func (*brokenHost) RemoveRun(string) error               { return nil }
func (*brokenHost) Start(context.Context, domain.Spec) (Machine, error) {
	return nil, errors.New("never reached")
}

// emptyImages gives images without files.
type emptyImages struct{}

func (emptyImages) Ensure(_ context.Context, name string, _ func(string)) (images.Image, error) {
	digest := "sha256:" + strings.Repeat("0", 64)
	manifest := images.Manifest{Schema: images.ManifestSchema, Recipe: images.Recipe{Name: name}, Outputs: map[string]images.Output{images.RootFile: {SHA256: digest}}}
	return images.Image{Name: name, Dir: "/cache", Digest: digest, Manifest: manifest}, nil
}

// TestResume: a resumed run keeps plan, order and what is settled; what is lost, cut off or missing gets new attempts.
func TestResume(t *testing.T) {
	run, plan := halfDone(t)
	host := &brokenHost{}
	summary, err := Run(context.Background(), Config{Plan: plan, Store: run, Host: host, Images: emptyImages{}, GuestBinary: self})
	if err != nil {
		t.Fatal(err)
	}
	if want := (Summary{OK: 1, Lost: 3}); summary != want {
		t.Errorf("summary %+v, want %+v", summary, want)
	}
	want := []string{"001-3-data", "001-4-data", "002-2-data", "003-1-data", "002-3-data", "003-2-data"}
	if diff := cmp.Diff(want, host.volumes); diff != "" {
		t.Errorf("volumes, that is attempts (-want +got):\n%s", diff)
	}
	if err := run.Close(store.Done, ""); err != nil {
		t.Fatal(err)
	}
	if problems := run.Verify(); len(problems) > 0 {
		t.Errorf("the resumed run is not sound: %v", problems)
	}
	var begun []string
	entries, _ := run.Journal()
	for _, e := range entries {
		if e.Event == "trial_started" {
			begun = append(begun, e.Trial)
		}
	}
	ids := func(i ...int) (out []string) {
		for _, i := range i {
			out = append(out, plan.Trials[i].ID)
		}
		return out
	}
	if want := ids(1, 1, 2, 3, 2, 3); !slices.Equal(begun, want) {
		t.Errorf("the journal says %v, want %v", begun, want)
	}
	if _, err := os.Stat(run.Path() + "/env/image-root.json"); err == nil {
		t.Error("a resumed run writes over the manifest of the images of earlier trials")
	}
}

// halfDone is a run of four trials that was stopped and is resumed: the first is settled, the second was lost twice, the
// third was cut off and the last never begun.
func halfDone(t *testing.T) (*store.Run, lab.Plan) {
	t.Helper()
	study, _, err := studies.Parse("ext4-vs-xfs@smoke", nil)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := lab.Expand(study, planner.Registry{})
	if err != nil {
		t.Fatal(err)
	}
	document, _ := json.Marshal(plan)
	run, err := store.Create(t.TempDir(), store.CreateSpec{Study: plan.Study, Plan: document, PlanDigest: plan.Digest})
	if err != nil {
		t.Fatal(err)
	}
	finish := func(trial lab.Trial, attempt int, status results.Status) {
		dir, err := run.Trial(trial.ID, attempt)
		if err != nil {
			t.Fatal(err)
		}
		seconds := 1.0
		err = dir.Finish(results.Result{Study: plan.Study, Trial: trial.Name, TrialID: trial.ID, Index: trial.Index, Round: trial.Round,
			Attempt: attempt, Factors: trial.Factors, CellID: trial.CellID, EnvID: trial.CellID, SoftwareID: trial.CellID, Accel: "tcg",
			StartedAt: time.Now(), Status: status, Reason: map[results.Status]string{results.StatusLost: "no space"}[status],
			WallSeconds: &seconds, BootSeconds: &seconds, GuestSeconds: &seconds, OverheadSeconds: new(float64)})
		if err != nil {
			t.Fatal(err)
		}
	}
	finish(plan.Trials[0], 1, results.StatusOK)
	finish(plan.Trials[1], 1, results.StatusLost)
	finish(plan.Trials[1], 2, results.StatusLost)
	if _, err := run.Trial(plan.Trials[2].ID, 1); err != nil {
		t.Fatal(err)
	}
	if err := run.Close(store.Interrupted, "Ctrl-C"); err != nil {
		t.Fatal(err)
	}
	if run, err = store.Resume(run.Path()); err != nil {
		t.Fatal(err)
	}
	if got, want := Settled(plan, run), (Summary{OK: 1}); got != want {
		t.Errorf("settled %+v, want %+v", got, want)
	}
	return run, plan
}

// hostArch is this machine's architecture in libvirt's words.
var hostArch = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]

// self stands for the guest binary: it is never uploaded.
func self(string) (string, error) { return os.Executable() }
