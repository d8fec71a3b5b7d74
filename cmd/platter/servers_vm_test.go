package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"platter/images"
	"platter/results"
	"platter/results/store"
)

// runToEnd carries out a study and returns its status, what it printed, and the results it left.
func runToEnd(t *testing.T, dir string, args ...string) (status int, report, errors string, found []results.Result) {
	t.Helper()
	c := start(t, append([]string{"run", "--results", dir}, args...)...)
	var text strings.Builder
	for c.events.Scan() {
		text.WriteString(c.events.Text() + "\n")
	}
	status = c.wait()
	runs, problems, err := store.List(dir)
	if err != nil || len(problems) > 0 {
		t.Fatalf("problems %v, %v", problems, err)
	}
	for _, run := range runs {
		for r, err := range run.Results() {
			if err != nil {
				t.Fatal(err)
			}
			if !triedAgain(t, r) {
				found = append(found, r)
			}
		}
	}
	return status, text.String(), c.stderr.String(), found
}

// TestServers crosses three servers with two engines on one kernel, restarts each between load and run, and wants them
// in one table: the shipped study, smaller.
func TestServers(t *testing.T) {
	needVM(t)
	began := time.Now()
	load, work := `{prepare: {workload: oltp_legacy, oltp_table_size: 500}}`, `{run: {workload: oltp_legacy, oltp_table_size: 500, num_threads: 2, max_requests: 60}}`
	status, report, errors, found := runToEnd(t, t.TempDir(), "servers@smoke", "--set", "disks.data.size=1GiB", "--set", "quiesce=5s",
		"--set", "factors.workload={oltp: {steps: ["+load+", restart, "+work+"]}}")
	if status != 0 {
		t.Fatalf("exit status %d\n%s\n%s", status, report, errors)
	}
	t.Logf("%s, report:\n%s", time.Since(began).Round(time.Second), report)
	if len(found) != 6 {
		t.Errorf("%d results, want 6", len(found))
	}
	versions := map[string]string{"mysql-9.7": "9.7.", "mariadb-11.8": "11.8.", "mariadb-10.11": "10.11."}
	for _, r := range found {
		if r.Status != results.StatusOK || r.Server == nil || r.Guest == nil {
			t.Errorf("%s: %s: %s\n%s", r.Trial, r.Status, r.Reason, r.Evidence)
			continue
		}
		if r.Guest.Kernel != found[0].Guest.Kernel {
			t.Errorf("%s: kernel %s, another trial has %s", r.Trial, r.Guest.Kernel, found[0].Guest.Kernel)
		}
		image := r.Factors["server"]
		if flavour, _, _ := strings.Cut(image, "-"); r.Server.Flavour != flavour || !strings.HasPrefix(r.Server.Version, versions[image]) {
			t.Errorf("%s: the server says it is %s %s", r.Trial, r.Server.Flavour, r.Server.Version)
		}
		if want := map[string]string{"innodb": "full", "myisam": "none"}[r.Factors["engine"]]; r.Durability != want {
			t.Errorf("%s: durability %s, want %s", r.Trial, r.Durability, want)
		}
		if !hasMetric(r, "transactions_per_second") && !hasMetric(r, "queries_per_second") {
			t.Errorf("%s: no throughput", r.Trial)
		}
	}
	oneTable(t, report)
}

// oneTable fails unless one block of the report has a line for each of the six cells, and the report tells the classes.
func oneTable(t *testing.T, report string) {
	t.Helper()
	for block := range strings.SplitSeq(report, "\n\n") {
		lines := 0
		for line := range strings.Lines(block) {
			words := strings.Fields(line)
			if len(words) > 2 && (words[0] == "innodb" || words[0] == "myisam") && strings.Contains("mysql-9.7 mariadb-11.8 mariadb-10.11", words[1]) {
				lines++
			}
		}
		if lines == 6 {
			for _, class := range []string{"durability", "full", "none"} {
				if !strings.Contains(report, class) {
					t.Errorf("the report does not say %s", class)
				}
			}
			return
		}
	}
	t.Errorf("no table has the six cells:\n%s", report)
}

// TestTarball makes a binary distribution of Debian's package files, and an image of it: what is wrong is said before
// anything exists, and the right one runs. Its configuration asks for a redo log of one byte, which no server gives.
func TestTarball(t *testing.T) {
	needVM(t)
	file := distribution(t)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	right, wrong := hex.EncodeToString(sum[:]), strings.Repeat("0", 64)
	study := func(digest, config string) []string {
		return []string{"testdata/tiny.yaml", "--set", fmt.Sprintf("factors.server={own: {tarball: %s, sha256: %q}}", file, digest), "--set", "factors.config={asked: " + config + "}"}
	}

	dir := t.TempDir()
	status, _, errors, _ := runToEnd(t, dir, study(wrong, "{}")...)
	if entries, _ := os.ReadDir(dir); status != 2 || !strings.Contains(errors, "its digest is sha256 "+right) || len(entries) > 0 {
		t.Errorf("wrong digest: exit status %d, left %v, said %s", status, entries, errors)
	}

	status, report, errors, found := runToEnd(t, dir, study(right, "{innodb_log_file_size: 1, innodb_buffer_pool_size: 32M}")...)
	if status != 0 || len(found) != 1 {
		t.Fatalf("exit status %d, %d results\n%s\n%s", status, len(found), report, errors)
	}
	r := found[0]
	t.Logf("%s %s, %v s, report:\n%s", r.Server.Flavour, r.Server.Version, *r.WallSeconds, report)
	if r.Server.Flavour != "mariadb" || strings.TrimSuffix(r.Server.Variables["basedir"], "/") != images.TarballDir || r.Images[1].Name != "tarball-"+right[:12] {
		t.Errorf("server %s %s in %s of %+v", r.Server.Flavour, r.Server.Version, r.Server.Variables["basedir"], r.Images)
	}
	flagged := false
	for _, f := range r.Flags {
		flagged = flagged || f.Name == "asked_not_effective" && strings.Contains(f.Detail, "innodb_log_file_size: asked 1, in force 4194304")
	}
	if !flagged || !strings.Contains(report, "innodb_log_file_size: asked 1, in force 4194304") {
		t.Errorf("the redo log of one byte: flags %+v, or the report does not tell:\n%s", r.Flags, report)
	}
}

// distribution packs Debian's server the way binary distributions are laid out, where it was compiled to find its parts.
// The same packages give the same bytes, so that the next run of the test finds the image in the cache.
func distribution(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	script := `set -e
apt-get download -qq mariadb-server-core mariadb-client-core mariadb-server >/dev/null
for deb in *.deb; do dpkg-deb -x "$deb" root; done
base=mariadb-linux-systemd; mkdir -p $base/bin $base/sbin $base/scripts $base/lib
cp root/usr/sbin/mariadbd $base/sbin/
cp root/usr/bin/my_print_defaults root/usr/bin/resolveip $base/bin/
cp root/usr/bin/mariadb-install-db $base/scripts/
mkdir $base/share
for texts in mysql mariadb; do if [ -d root/usr/share/$texts ]; then cp -r root/usr/share/$texts $base/share/; fi; done
cp -r root/usr/lib/mysql/plugin $base/lib/plugin
tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf - $base | gzip -1n >server.tar.gz`
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make a distribution: %v\n%s", err, out)
	}
	return filepath.Join(dir, "server.tar.gz")
}

// TestMisspeltOption: an option that the server does not have costs seconds and no machine.
func TestMisspeltOption(t *testing.T) {
	needVM(t)
	dir := t.TempDir()
	rootImage(t)
	began := time.Now()
	status, _, errors, _ := runToEnd(t, dir, "testdata/tiny.yaml", "--set", "factors.config={typo: {innodb_bufer_pool_size: 32M}}")
	t.Logf("refused after %s", time.Since(began)) // on a host that does nothing else, well under a second
	for _, want := range []string{"factors.config.typo on mariadb-11.8", `"innodb_bufer_pool_size"`, `"innodb-buffer-pool-size"`, "checked against the server's own list before the run"} {
		if !strings.Contains(errors, want) {
			t.Errorf("it does not say %s: %s", want, errors)
		}
	}
	if entries, _ := os.ReadDir(dir); status != 2 || len(entries) > 0 {
		t.Errorf("exit status %d, left %v", status, entries)
	}
}
