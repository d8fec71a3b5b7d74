package store

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"platter/results"
)

// archived is a run folder as the first release of the schemas wrote it. It is never written anew: every later platter
// must read it. A new schema version adds a folder beside it.
var archived = filepath.Join("testdata", "20260131T021500Z-ext4-vs-xfs-7f3a9c")

func TestArchivedRunStaysReadable(t *testing.T) {
	run, err := Open(archived)
	if err != nil {
		t.Fatal(err)
	}
	if problems := run.Verify(); len(problems) != 0 {
		t.Errorf("problems: %v", problems)
	}
	ids, problems := collect(run)
	if len(ids) != 4 || len(problems) != 0 {
		t.Errorf("results %v, problems %v", ids, problems)
	}
	if entries, problems := run.Journal(); len(entries) != 2 || len(problems) != 0 {
		t.Errorf("journal %v, problems %v", entries, problems)
	}
}

// addedSince are the files that came to the layout after the archived run: minor versions only add.
var addedSince = []string{CrateFile, ProvenanceFile, "schema/host.schema.json", "schema/image.schema.json"}

// TestLayoutIsTheArchives writes the archived run with this platter and wants the same files, and those added. With -archive DIR the
// folder stays there, to be frozen as the fixture of a new schema version.
func TestLayoutIsTheArchives(t *testing.T) {
	dir := *archive
	if dir == "" {
		dir = t.TempDir()
	}
	run := writeArchive(t, dir)
	want := append(fileNames(t, archived), addedSince...)
	slices.Sort(want)
	if got := fileNames(t, run.Path()); !slices.Equal(got, want) {
		t.Errorf("files\n%q, want those of the archive\n%q", got, want)
	}
}

func fileNames(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func writeArchive(t *testing.T, dir string) *Run {
	t.Helper()
	s := spec()
	plan, err := os.ReadFile(filepath.Join("testdata", "plan-four-trials.json"))
	if err != nil {
		t.Fatal(err)
	}
	s.Plan = plan
	run, err := Create(dir, s)
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range []string{"000-ext4/1", "001-xfs/1", "002-xfs/2", "003-ext4/2"} {
		attempt, err := run.Trial(id, 1)
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{Domain: "<domain/>\n", Console: "Linux version 6.12\n", Samples: "seconds,cpu\n1,2\n"} {
			if err := attempt.WriteFile(name, []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		r := result(id)
		seconds := []float64{8.146, 7.702, 7.731, 8.414}[i]
		r.Index, r.Round, r.Metrics = i, i/2+1, []results.Metric{{Name: "run_seconds", Step: "slap", Value: &seconds}}
		if err := attempt.Finish(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := run.Close(Done, ""); err != nil {
		t.Fatal(err)
	}
	return run
}
