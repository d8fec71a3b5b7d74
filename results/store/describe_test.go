package store

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const imageText = `{"name":"root","digest":"sha256:` + digest + `","manifest":{"schema":"platter.image/1","format":2,"recipe":{"name":"root"},"recipe_digest":"x","arch":"amd64","mirror":"http://deb.debian.org/debian",
"built_at":"2026-01-30T10:00:00Z","packages":[{"name":"libstdc++6","version":"14.2.0-19+b1","architecture":"amd64","sha256":"` + digest + `"},
{"name":"tzdata","version":"2026a-1","architecture":"all"}],"outputs":{"root.squashfs":{"sha256":"sha256:` + digest + `","size_bytes":1},"kernel":{"sha256":"sha256:` + digest + `","size_bytes":1}}}}`

// described is a whole run with an image.
func described(t *testing.T) *Run {
	t.Helper()
	run := create(t, t.TempDir())
	if err := run.WriteEnv("image-root", json.RawMessage(imageText)); err != nil {
		t.Fatal(err)
	}
	finish(t, run, "000-ext4/1", 1)
	finish(t, run, "001-xfs/1", 1)
	if err := run.Close(Done, ""); err != nil {
		t.Fatal(err)
	}
	return run
}

func readJSON(t *testing.T, path string) map[string]any {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var document map[string]any
	if err := json.Unmarshal(data, &document); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return document
}

// TestDescription: the documents for others' tools name what is there, with digests that SHA256SUMS has too.
func TestDescription(t *testing.T) {
	run := described(t)
	if problems := run.Verify(); len(problems) != 0 {
		t.Errorf("problems: %v", problems)
	}
	sums, problem := run.readSums()
	if problem != nil {
		t.Fatal(problem)
	}
	for _, name := range []string{CrateFile, ProvenanceFile, "env/sbom-root.spdx.json"} {
		if sums[name] == "" {
			t.Errorf("%s is not in %s", name, SumsFile)
		}
	}
	statement := readJSON(t, run.file(ProvenanceFile))
	subjects := statement["subject"].([]any)
	if len(subjects) != 2 {
		t.Errorf("%d subjects, want the two results", len(subjects))
	}
	materials := statement["predicate"].(map[string]any)["buildDefinition"].(map[string]any)["resolvedDependencies"].([]any)
	var names []string
	for _, m := range append(subjects, materials...) {
		name := m.(map[string]any)["name"].(string)
		names = append(names, name)
		if got := m.(map[string]any)["digest"].(map[string]any)["sha256"]; !strings.HasPrefix(name, "image/") && got != sums[name] {
			t.Errorf("%s has digest %v, %s says %s", name, got, SumsFile, sums[name])
		}
	}
	want := "trials/000-ext4/1-1/result.json trials/001-xfs/1-1/result.json plan.json study/ext4-vs-xfs.yaml image/root/kernel image/root/root.squashfs"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("names\n%s, want\n%s", got, want)
	}
	for _, node := range readJSON(t, run.file(CrateFile))["@graph"].([]any) {
		id := node.(map[string]any)["@id"].(string)
		if _, err := os.Stat(run.file(id)); err != nil && !strings.HasPrefix(id, "#") && id != CrateFile {
			t.Errorf("the crate names %s: %v", id, err)
		}
	}
	packages := readJSON(t, run.file("env/sbom-root.spdx.json"))["packages"].([]any)
	last := packages[len(packages)-2].(map[string]any)
	locator := last["externalRefs"].([]any)[0].(map[string]any)["referenceLocator"]
	if len(packages) != 3 || locator != "pkg:deb/debian/libstdc++6@14.2.0-19%2Bb1?arch=amd64" {
		t.Errorf("%d packages, %v", len(packages), locator)
	}
}

// TestResumeTakesDescriptionBack: a run that goes on is described anew at its end.
func TestResumeTakesDescriptionBack(t *testing.T) {
	run := described(t)
	again, err := Resume(run.Path())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{SumsFile, CrateFile, ProvenanceFile} {
		if _, err := os.Stat(run.file(name)); err == nil {
			t.Errorf("%s stayed while the run goes on", name)
		}
	}
	if err := again.Close(Done, ""); err != nil {
		t.Fatal(err)
	}
	if problems := again.Verify(); len(problems) != 0 {
		t.Errorf("problems: %v", problems)
	}
}

// TestReadmeWorks carries out what README.txt tells a stranger, with a shell, coreutils and grep.
func TestReadmeWorks(t *testing.T) {
	run := described(t)
	text, err := os.ReadFile(run.file(ReadmeFile))
	if err != nil {
		t.Fatal(err)
	}
	var commands []string // blocks that are indented by four and begin with a known word
	for block := range strings.SplitSeq(string(text), "\n\n") {
		if strings.HasPrefix(block, "    sha256sum") || strings.HasPrefix(block, "    for ") {
			commands = append(commands, block)
		}
	}
	if len(commands) != 2 {
		t.Fatalf("README.txt has %d commands, want 2", len(commands))
	}
	for i, want := range []string{"", "trials/000-ext4/1-1 1\ntrials/001-xfs/1-1 1\n"} {
		command := exec.Command("sh", "-ec", commands[i])
		command.Dir = run.Path()
		out, err := command.CombinedOutput()
		if err != nil || string(out) != want {
			t.Errorf("%s\ngives %q, %v; want %q", commands[i], out, err, want)
		}
	}
	if err := flip(run.file("trials/001-xfs/1-1/result.json")); err != nil {
		t.Fatal(err)
	}
	command := exec.Command("sh", "-ec", commands[0])
	command.Dir = run.Path()
	if out, err := command.CombinedOutput(); err == nil || !strings.Contains(string(out), "trials/001-xfs/1-1/result.json: FAILED") {
		t.Errorf("a flipped bit: %q, %v", out, err)
	}
}

// TestDescribeFails: images that cannot be described do not keep the digests of what was measured from being written.
func TestDescribeFails(t *testing.T) {
	run := create(t, t.TempDir())
	if err := run.WriteEnv("image-root", "not an image"); err != nil {
		t.Fatal(err)
	}
	if err := run.Close(Done, ""); err == nil || !strings.Contains(err.Error(), "env/image-root.json: broken") {
		t.Errorf("Close: %v", err)
	}
	if _, err := os.Stat(filepath.Join(run.Path(), SumsFile)); err != nil {
		t.Error(err)
	}
}
