package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"platter/results/store"
)

func sum(text string) (int64, string) {
	digest := sha256.Sum256([]byte(text))
	return int64(len(text)), hex.EncodeToString(digest[:])
}

func TestUnpack(t *testing.T) {
	file, into := packed(t), filepath.Join(t.TempDir(), "new")
	for _, there := range []bool{false, true} { // a second time is no error and changes nothing
		runs, err := Unpack(file, into, DefaultLimits())
		if err != nil || len(runs) != 1 || runs[0].There != there {
			t.Fatalf("%+v, %v; want there %v", runs, err, there)
		}
	}
	run := open(t, filepath.Join(into, runName))
	if problems := run.Verify(); len(problems) != 0 {
		t.Error(problems)
	}
	if !same(run.Path(), fixture) {
		t.Error("it is not what was packed")
	}
	if err := os.WriteFile(filepath.Join(run.Path(), "study", "more.yaml"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	before := tree(t, into)
	var exists *ExistsError
	if _, err := Unpack(file, into, DefaultLimits()); !errors.As(err, &exists) || exists.Path != run.Path() {
		t.Errorf("over another folder: %v", err)
	}
	if after := tree(t, into); !slices.Equal(before, after) {
		t.Errorf("it changed\n%s", strings.Join(after, "\n"))
	}
}

// TestUnpackAfterKill: what a killed unpacking left is removed by the next, and what another one works on is not.
func TestUnpackAfterKill(t *testing.T) {
	into := t.TempDir()
	old := time.Now().Add(-time.Minute)
	for _, name := range []string{"dead", "young"} {
		if err := os.MkdirAll(filepath.Join(into, tempPrefix+name, "half"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	busy, release, err := makeTemp(into)
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Join(into, tempPrefix+"dead"), busy} {
		if err := os.Chtimes(dir, old, old); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{busy, into} {
		if err := RemoveAbandoned(dir); err == nil {
			t.Errorf("%s is in use or not ours, and was removed", dir)
		}
	}
	if _, err := Unpack(packed(t), into, DefaultLimits()); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(into)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := []string{filepath.Base(busy), tempPrefix + "young", runName}
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("there are %v, want %v", names, want)
	}
	release()
	if _, err := os.Stat(busy); err == nil {
		t.Error("the temporary directory stayed")
	}
}

func TestImport(t *testing.T) {
	from, into := copyRun(t, t.TempDir()), t.TempDir()
	if err := os.WriteFile(filepath.Join(from.Path(), "report", "x.html"), []byte("x"), 0o644); errors.Is(err, os.ErrNotExist) {
		if err := os.MkdirAll(filepath.Join(from.Path(), "report"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, there := range []bool{false, true} {
		got, err := Import(from, into)
		if err != nil || got.There != there || got.Path != filepath.Join(into, runName) {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	if problems := open(t, filepath.Join(into, runName)).Verify(); len(problems) != 0 {
		t.Error(problems)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(from.Path(), "study", "link")); err != nil {
		t.Fatal(err)
	}
	if _, err := Import(from, t.TempDir()); err == nil || !strings.Contains(err.Error(), "link") {
		t.Errorf("a link: %v", err)
	}
}

// TestSeveralRuns: two runs in one file, and one of them there already.
func TestSeveralRuns(t *testing.T) {
	a := copyRun(t, t.TempDir())
	other := filepath.Join(t.TempDir(), "20260201T021500Z-ext4-vs-xfs-7f3a9c")
	if err := os.CopyFS(other, os.DirFS(fixture)); err != nil {
		t.Fatal(err)
	}
	data := strings.Replace(string(read1(t, other+"/run.json")), runName, filepath.Base(other), 1)
	if err := os.WriteFile(other+"/run.json", []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
	b := open(t, other)
	x, y := filepath.Join(t.TempDir(), "x"+Suffix), filepath.Join(t.TempDir(), "y"+Suffix)
	if err := errors.Join(Pack(x, []*store.Run{a, b}, DefaultLimits()), Pack(y, []*store.Run{a, b}, DefaultLimits())); err != nil {
		t.Fatal(err)
	}
	into := t.TempDir()
	if _, err := Import(a, into); err != nil {
		t.Fatal(err)
	}
	runs, err := Unpack(x, into, DefaultLimits())
	if err != nil || len(runs) != 2 || !runs[0].There || runs[1].There {
		t.Errorf("%+v, %v", runs, err)
	}
	if string(read1(t, x)) != string(read1(t, y)) {
		t.Error("they differ")
	}
}

func TestVerify(t *testing.T) {
	var ids []string
	err := Verify(packed(t), DefaultLimits(), func(run *store.Run) error {
		ids = append(ids, run.ID())
		if problems := run.Verify(); len(problems) != 0 {
			return problems[0]
		}
		return nil
	})
	if err != nil || !slices.Equal(ids, []string{runName}) {
		t.Errorf("%v, %v", ids, err)
	}
}

// TestReleasedFormStaysReadable: what the first release packed is read for ever, and packed again gives the same files.
// The file is never written anew; a new form adds one beside it.
func TestReleasedFormStaysReadable(t *testing.T) {
	runs, err := Unpack(filepath.Join("testdata", "first"+Suffix), t.TempDir(), DefaultLimits())
	if err != nil || len(runs) != 1 {
		t.Fatalf("%v, %v", runs, err)
	}
	if !same(runs[0].Path, fixture) {
		t.Error("it is not the archived run")
	}
}

// TestRealRunStaysReadable is the same of a run on two real machines, with all that a run leaves.
func TestRealRunStaysReadable(t *testing.T) {
	results := 0
	err := Verify(filepath.Join("testdata", "real"+Suffix), DefaultLimits(), func(run *store.Run) error {
		for _, err := range run.Results() {
			if err != nil {
				t.Error(err)
			}
			results++
		}
		if problems := run.Verify(); len(problems) != 0 {
			t.Errorf("problems: %v", problems)
		}
		return nil
	})
	if err != nil || results != 2 {
		t.Errorf("%d results, %v", results, err)
	}
}
