package runner

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"platter/images/build"
	"platter/images/cache"
	"platter/lab"
	"platter/lab/hypervisor"
	"platter/results"
	"platter/results/store"
)

var resultsDir = flag.String("results", "", "keep the run folder of TestEveryStorage below this directory")

// storageRun is a run whose trials share machines.
type storageRun struct {
	*run
	rows []storageRow
}

func openStorageRun(t *testing.T, trials []lab.Trial) *storageRun {
	t.Helper()
	ctx := context.Background()
	host, err := hypervisor.Open(ctx, hypervisor.Options{StorageDir: awkward(t, "/var/lib/libvirt/images")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { host.Close() })
	info, err := host.Info(ctx)
	if err != nil {
		t.Fatal(err)
	}
	plan := lab.Plan{Schema: lab.PlanSchema, Study: "storage", Question: "Is every storage made as it was asked?", Rounds: 1, Trials: trials, Images: []string{"root"}}
	if plan.Digest, err = results.Digest(trials); err != nil {
		t.Fatal(err)
	}
	document, _ := json.Marshal(plan)
	dir := *resultsDir
	if dir == "" {
		dir = awkward(t, t.TempDir())
	}
	folder, err := store.Create(dir, store.CreateSpec{Study: plan.Study, Plan: document, PlanDigest: plan.Digest, Host: HostFacts(info)})
	if err != nil {
		t.Fatal(err)
	}
	tag, err := hypervisor.NewTag(folder.ID())
	if err != nil {
		t.Fatal(err)
	}
	kept, err := cache.Open("", build.Builder{})
	if err != nil {
		t.Fatal(err)
	}
	binary := guestPath(t)
	r := &run{staged: map[string]stagedImage{}, Config: Config{Plan: plan, Store: folder, Host: NewHost(host), Images: catalogue{kept, nil}, Tag: tag,
		GuestBinary: func(string) (string, error) { return binary, nil }, Events: func(lab.RunEvent) {}, Log: slog.New(slog.DiscardHandler)}}
	if err := r.prepare(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Host.RemoveRun(folder.ID()); err != nil {
			t.Error(err)
		}
	})
	return &storageRun{run: r}
}

// awkward makes a directory below base with the characters that somebody once forgot to quote (B23); the whole run lives
// there: images, volumes and console on the host, and the run folder.
func awkward(t *testing.T, base string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		base = t.TempDir()
	}
	top, err := os.MkdirTemp(base, `platter-R&D, "q1" it's `)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(top) })
	dir := filepath.Join(top, "data")
	if err := errors.Join(os.Chmod(top, 0o755), os.Mkdir(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// finish writes the table and closes the run folder, which must then verify.
func (r *storageRun) finish(t *testing.T) {
	t.Helper()
	table := storageTable(r.rows)
	t.Logf("%s\n%s", r.Store.Path(), table)
	err := r.Store.WriteReport("storage.md", func(w io.Writer) error {
		_, err := io.WriteString(w, table)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if err := r.Store.Close(store.Done, ""); err != nil {
		t.Error(err)
	}
	if len(r.rows) < len(r.Plan.Trials) {
		return // -run chose some of them
	}
	for _, problem := range r.Store.Verify() {
		t.Error(problem)
	}
}

// storageRow is one line of the table.
type storageRow struct{ filesystem, layout, status, mkfs, mount, facts string }

func rowOf(t lab.Trial, r results.Result) storageRow {
	row := storageRow{filesystem: t.Factors["storage"], layout: t.Factors["layout"], status: string(r.Status), facts: r.Reason}
	if r.Storage == nil || r.Status != results.StatusOK {
		return row
	}
	row.mkfs, row.mount = secondsText(r.Storage.MkfsSeconds), secondsText(r.Storage.MountSeconds)
	var facts []string
	for _, s := range r.Settings {
		if s.Asked != nil && s.Effective != nil && s.Subject != "disk" && s.Subject != "machine" && *s.Effective != "" {
			facts = append(facts, s.Name+"="+*s.Effective)
		}
	}
	row.facts = strings.Join(facts, " ")
	return row
}

func secondsText(v *float64) string {
	if v == nil {
		return "?"
	}
	return fmt.Sprintf("%.2f", *v)
}

// storageTable is Markdown.
func storageTable(rows []storageRow) string {
	var b strings.Builder
	b.WriteString("| filesystem | layout | status | mkfs, s | mount, s | read back as asked, or the reason |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", r.filesystem, r.layout, r.status, r.mkfs, r.mount, r.facts)
	}
	return b.String()
}
