package images

import (
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// TestCatalogue holds what every row must keep, whoever adds one.
func TestCatalogue(t *testing.T) {
	rows := Catalogue()
	if len(rows) == 0 {
		t.Fatal("the catalogue is empty")
	}
	for _, r := range rows {
		t.Run(r.Name, func(t *testing.T) {
			if r.About == "" || strings.HasSuffix(r.About, ".") {
				t.Errorf("About %q: want a line without a full stop", r.About)
			}
			if r.Suite == "" || len(r.Components) == 0 || len(r.Packages) == 0 || !strings.HasSuffix(r.SigningKey, ".gpg") {
				t.Errorf("suite %q, components %q, packages %q, signing key %q: none may be empty", r.Suite, r.Components, r.Packages, r.SigningKey)
			}
			if (r.Kind == KindRoot) != (r.Boot != nil) {
				t.Errorf("kind %s with boot %v: root images boot, others do not", r.Kind, r.Boot != nil)
			}
			for _, p := range slices.Concat(r.Customize.Exclude, r.Customize.Include, r.Customize.Remove, r.Customize.Keep) {
				if !strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "*/") {
					t.Errorf("pattern %q matches no path: start it with / or */", p)
				}
			}
			checkAdditions(t, r.Customize)
			if r.Kind == KindServer {
				checkServer(t, r)
			}
		})
	}
}

func checkAdditions(t *testing.T, c Customize) {
	seen := map[string]bool{}
	add := func(p string) {
		if p != path.Clean(p) || !path.IsAbs(p) || p == "/" {
			t.Errorf("added path %q: want a clean absolute path", p)
		}
		if seen[p] {
			t.Errorf("added path %q: named twice", p)
		}
		seen[p] = true
	}
	for _, f := range c.Files {
		add(f.Path)
		if strings.HasPrefix(f.Content, "#!") && f.Mode&0o111 == 0 {
			t.Errorf("%s is a script but not executable", f.Path)
		}
	}
	for _, d := range c.Directories {
		add(d.Path)
	}
	for _, l := range c.Links {
		add(l.Path)
	}
}

func checkServer(t *testing.T, r Recipe) {
	owned := map[string]bool{}
	for _, d := range r.Customize.Directories {
		owned[d.Path] = d.UID == ServerUID && d.GID == ServerUID
	}
	for _, dir := range []string{ServerDataDir, ServerRunDir, ServerTmpDir} {
		if !owned[dir] {
			t.Errorf("%s is not there or does not belong to user %d", dir, ServerUID)
		}
	}
	if !slices.Contains(r.Customize.Remove, "/var/lib/mysql") {
		t.Error("the data directory that a package may have made stays in the image")
	}
}

func TestLookup(t *testing.T) {
	r, err := Lookup("root")
	if err != nil || r.Name != "root" {
		t.Errorf("Lookup(root) = %q, %v", r.Name, err)
	}
	_, err = Lookup("mariadb-11.9")
	if err == nil || !strings.Contains(err.Error(), "mariadb-11.8") {
		t.Errorf("Lookup of an unknown name: %v; want an error that lists the names", err)
	}
}

// TestRootHasNoDatabase holds a promise of the package comment.
func TestRootHasNoDatabase(t *testing.T) {
	root, err := Lookup("root")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range root.Packages {
		for _, word := range []string{"mysql", "mariadb", "systemd-sysv", "cron"} {
			if strings.Contains(p, word) {
				t.Errorf("the root image installs %s", p)
			}
		}
	}
}

// TestScripts lets the shell parse what would otherwise fail in the guest.
func TestScripts(t *testing.T) {
	for _, name := range []string{"init", "initramfs-init"} {
		if out, err := exec.Command("sh", "-n", "files/"+name).CombinedOutput(); err != nil {
			t.Errorf("sh -n files/%s: %v\n%s", name, err, out)
		}
		script := text(name)
		for _, word := range []string{Ready, RootSerial, AuthorizedKeyString, HostKeyString, TokenString, TokenPath, "platter.lower"} {
			// "platter: ready" is printed by a function that adds the prefix.
			if where := ownerOf[word]; where == name && !strings.Contains(script, strings.TrimPrefix(word, "platter: ")) {
				t.Errorf("files/%s does not mention %q", name, word)
			}
		}
	}
}

// ownerOf says which script a word of the contract with the host belongs to.
var ownerOf = map[string]string{
	Ready: "init", AuthorizedKeyString: "init", HostKeyString: "init", TokenString: "init", TokenPath: "init",
	RootSerial: "initramfs-init", "platter.lower": "initramfs-init",
}

// TestApplets compares the commands of the initramfs' script with the links
// that the initramfs has.
func TestApplets(t *testing.T) {
	root, err := Lookup("root")
	if err != nil {
		t.Fatal(err)
	}
	builtin := []string{"while", "for", "do", "done", "if", "then", "else", "fi", "case", "esac", "read", "echo", "export", "unset", "exec", "return", "die", "disk", "continue", "break", "["}
	for line := range strings.Lines(root.Boot.Init) {
		words := strings.Fields(strings.TrimSuffix(strings.TrimSpace(line), ";;"))
		if len(words) == 0 || strings.ContainsAny(words[0], "#=)}$(") {
			continue
		}
		if !slices.Contains(builtin, words[0]) && !slices.Contains(root.Boot.Applets, words[0]) {
			t.Errorf("the initramfs runs %q, which is not among its applets %q", words[0], root.Boot.Applets)
		}
	}
}

func TestSerialFits(t *testing.T) {
	if len(RootSerial) > 20 {
		t.Errorf("virtio cuts serials after 20 bytes; %q has %d", RootSerial, len(RootSerial))
	}
}

func TestCmdline(t *testing.T) {
	plain := Cmdline()
	if !strings.Contains(plain, "console=ttyS0") || strings.Contains(plain, "platter.lower") {
		t.Errorf("Cmdline() = %q", plain)
	}
	if got, want := Cmdline("zfs", "tools"), plain+" platter.lower=zfs,tools"; got != want {
		t.Errorf("Cmdline(zfs, tools) = %q, want %q", got, want)
	}
}
