package store

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"platter/results"
	"platter/results/schema"
)

//go:embed README.txt
var readme []byte

// CreateSpec is everything a run folder starts with.
type CreateSpec struct {
	Study      string            // the study's name; goes into the folder's name
	Plan       []byte            // plan.json, verbatim
	PlanDigest string            // 64 hex digits, with or without "sha256:"
	StudyFiles map[string][]byte // base name → bytes
	Host       results.HostFacts
	Command    []string  // the command line, so that a reader can run it again
	Now        time.Time // the zero time means time.Now
}

var planDigest = regexp.MustCompile(`^(sha256:)?[0-9a-f]{64}$`)

// maxSameName is how many runs of one plan may start in one second.
const maxSameName = 1000

// Create makes a new run folder below dir (made if need be) and fills in all that is known before the first trial.
// It never writes into a folder that exists: runs that start in one second get a counter. On an error nothing stays.
func Create(dir string, spec CreateSpec) (*Run, error) {
	if !planDigest.MatchString(spec.PlanDigest) {
		return nil, fmt.Errorf("create run: plan digest %q: want 64 hex digits of a SHA-256", spec.PlanDigest)
	}
	if err := schema.Validate("plan", spec.Plan); err != nil {
		return nil, fmt.Errorf("create run: %w", err)
	}
	for name := range spec.StudyFiles {
		if !baseName.MatchString(name) {
			return nil, fmt.Errorf("create run: study file %q: want a plain file name without directories", name)
		}
	}
	if spec.Now.IsZero() {
		spec.Now = time.Now()
	}
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return nil, explain(dir, err)
	}
	path, err := makeExclusive(dir, runID(spec.Now, spec.Study, spec.PlanDigest))
	if err != nil {
		return nil, fmt.Errorf("create run: %w", err)
	}
	run := &Run{path: path, meta: Meta{
		Schema: RunSchema, ID: filepath.Base(path), Study: spec.Study, Status: Running,
		PlanDigest: "sha256:" + strings.TrimPrefix(spec.PlanDigest, "sha256:"),
		StartedAt:  spec.Now.UTC(), PlatterVersion: spec.Host.PlatterVersion, Command: spec.Command,
	}}
	run.meta.stampProcess()
	if err := run.fill(spec); err != nil {
		return nil, errors.Join(fmt.Errorf("create run: %w", err), os.RemoveAll(path))
	}
	return run, nil
}

// makeExclusive makes a directory that did not exist; os.Mkdir is atomic, so two processes never share one.
func makeExclusive(dir, name string) (string, error) {
	for n := 1; n <= maxSameName; n++ {
		path := filepath.Join(dir, name)
		if n > 1 {
			path += fmt.Sprintf("-%d", n)
		}
		err := os.Mkdir(path, dirMode)
		if err == nil {
			return path, syncDir(dir)
		}
		if !errors.Is(err, os.ErrExist) {
			return "", explain(path, err)
		}
	}
	return "", fmt.Errorf("%s: %d runs of this name are there already", filepath.Join(dir, name), maxSameName)
}

// fill writes what is known before the first trial. run.json comes last: it makes the folder a run folder.
func (r *Run) fill(spec CreateSpec) error {
	for _, dir := range []string{StudyDir, RawDir, TrialsDir, DerivedDir, ReportDir, SchemaDir} {
		if err := os.MkdirAll(r.file(dir), dirMode); err != nil {
			return explain(r.file(dir), err)
		}
	}
	whole := map[string][]byte{PlanFile: spec.Plan, ReadmeFile: readme}
	for name, data := range spec.StudyFiles {
		whole[filepath.Join(StudyDir, name)] = data
	}
	for _, name := range schema.Names() {
		whole[filepath.Join(SchemaDir, name+schema.Suffix)] = schema.Text(name)
	}
	for name, data := range whole {
		if err := writeBytes(r.file(name), data); err != nil {
			return err
		}
	}
	registry := struct {
		Schema  string               `json:"schema"`
		Metrics []results.MetricInfo `json:"metrics"`
	}{"platter.metrics/1", results.Metrics()}
	if err := writeJSON(r.file(MetricsFile), registry); err != nil {
		return err
	}
	if err := writeJSON(r.file(HostFile), spec.Host); err != nil {
		return err
	}
	if err := r.openJournal(); err != nil {
		return err
	}
	if err := r.Log(JournalEntry{Event: "run_started", Time: r.meta.StartedAt, PID: r.meta.PID}); err != nil {
		return err
	}
	return writeJSON(r.file(RunFile), r.meta)
}
