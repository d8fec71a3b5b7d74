package images

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestRecipesGolden shows in a diff what a change does to the recipes, whose
// digests are the keys of every cache.
func TestRecipesGolden(t *testing.T) {
	for _, r := range Catalogue() {
		got, err := json.MarshalIndent(struct {
			Digest string `json:"digest"`
			Recipe Recipe `json:"recipe"`
		}{r.Digest(Options{Arch: "amd64"}), r}, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", r.Name+".golden.json")
		if *update {
			if err := os.WriteFile(golden, append(got, '\n'), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got)+"\n", "\n")); diff != "" {
			t.Errorf("%s changed; if that is intended, run the test with -update (-golden +now):\n%s", golden, diff)
		}
	}
}

// TestDigestSeesEverything changes one thing at a time.
func TestDigestSeesEverything(t *testing.T) {
	base := func() (Recipe, Options) {
		return Recipe{Name: "x", Kind: KindRoot, Suite: "trixie", Components: []string{"main"}, Packages: []string{"p"},
			Customize: Customize{Files: []File{{"/a", 0o644, "text"}}}, Boot: &Boot{Init: "script"}}, Options{Arch: "amd64"}
	}
	changes := map[string]func(*Recipe, *Options){
		"suite":       func(r *Recipe, _ *Options) { r.Suite = "sid" },
		"package":     func(r *Recipe, _ *Options) { r.Packages = append(r.Packages, "q") },
		"script":      func(r *Recipe, _ *Options) { r.Customize.Files[0].Content = "other" },
		"mode":        func(r *Recipe, _ *Options) { r.Customize.Files[0].Mode = 0o755 },
		"init":        func(r *Recipe, _ *Options) { r.Boot.Init = "other" },
		"mirror":      func(_ *Recipe, o *Options) { o.Mirror = "http://mirror.example/debian" },
		"apt options": func(_ *Recipe, o *Options) { o.AptOptions = []string{`Acquire::Retries "9";`} },
		"arch":        func(_ *Recipe, o *Options) { o.Arch = "arm64" },
	}
	r, o := base()
	seen := map[string]string{r.Digest(o): "nothing"}
	for name, change := range changes {
		r, o := base()
		change(&r, &o)
		digest := r.Digest(o)
		if other, taken := seen[digest]; taken {
			t.Errorf("changing %s gives the digest of changing %s", name, other)
		}
		seen[digest] = name
	}
	r, o = base()
	r.About = "only words"
	if _, same := seen[r.Digest(o)]; !same {
		t.Error("the listing's words change the digest")
	}
}

func TestPackagesFor(t *testing.T) {
	r := Recipe{Packages: []string{"linux-image-{arch}", "kmod"}}
	if diff := cmp.Diff([]string{"linux-image-arm64", "kmod"}, r.PackagesFor("arm64")); diff != "" {
		t.Error(diff)
	}
	if r.Packages[0] != "linux-image-{arch}" {
		t.Error("PackagesFor changed the recipe")
	}
}

func TestManifest(t *testing.T) {
	m := Manifest{
		Schema: ManifestSchema, Format: Format, Recipe: Recipe{Name: "root", Kind: KindRoot}, RecipeDigest: "sha256:1",
		Packages: []Package{{"libc6", "2.41-12", "amd64", "abc"}},
		Outputs:  map[string]Output{RootFile: {"def", 7}, KernelFile: {"123", 9}},
		BuiltAt:  time.Date(2026, 11, 30, 18, 0, 0, 0, time.UTC),
	}
	data, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := DecodeManifest(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, back); diff != "" {
		t.Errorf("a manifest changed on its way through JSON:\n%s", diff)
	}
	later := m
	later.BuiltAt, later.BuildSeconds = later.BuiltAt.Add(time.Hour), 99
	if later.Digest() != m.Digest() {
		t.Error("the digest depends on when the image was built")
	}
	later.Packages = []Package{{"libc6", "2.41-13", "amd64", "abc"}}
	if later.Digest() == m.Digest() {
		t.Error("the digest does not depend on the packages")
	}
	if _, err := DecodeManifest([]byte(`{"schema":"platter.image/2"}`)); err == nil || !strings.Contains(err.Error(), "platter.image/2") {
		t.Errorf("decode another schema: %v", err)
	}

	image := Image{Dir: "/c", Manifest: m}
	if image.Kernel() != "/c/kernel" || image.Initramfs() != "" || image.Root() != "/c/root.squashfs" {
		t.Errorf("paths are %q, %q, %q", image.Kernel(), image.Initramfs(), image.Root())
	}
}

func TestCheckStack(t *testing.T) {
	image := func(kind Kind, kernel string) Image {
		return Image{Name: string(kind), Manifest: Manifest{Recipe: Recipe{Kind: kind}, KernelVersion: kernel}}
	}
	root := image(KindRoot, "6.12.118")
	for _, c := range []struct {
		addon Image
		ok    bool
	}{
		{image(KindAddon, "6.12.118"), true},
		{image(KindAddon, ""), true},
		{image(KindAddon, "6.12.117"), false},
		{image(KindServer, ""), false},
	} {
		if err := CheckStack(root, c.addon); (err == nil) != c.ok {
			t.Errorf("stack %s (kernel %q): %v", c.addon.Name, c.addon.Manifest.KernelVersion, err)
		}
	}
}
