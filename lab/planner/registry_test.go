package planner_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"platter/guest"
	"platter/guest/storage"
	"platter/lab"
	"platter/lab/planner"
	"platter/lab/studies"
	"platter/results/schema"
)

// TestShippedStudies expands every shipped study at every scale with what there really is, and checks the plan against
// its schema.
func TestShippedStudies(t *testing.T) {
	names := studies.Names()
	if len(names) == 0 {
		t.Fatal("no study is shipped")
	}
	for _, name := range names {
		base, _, err := studies.Parse(name, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if base.Name != name {
			t.Errorf("%s.yaml calls itself %s", name, base.Name)
		}
		for _, scale := range []string{"", "smoke", "laptop", "published"} {
			s, _, err := studies.Parse(strings.TrimSuffix(name+"@"+scale, "@"), nil)
			if err != nil {
				t.Errorf("%s@%s: %v", name, scale, err)
				continue
			}
			plan, err := lab.Expand(s, planner.Registry{})
			if err != nil {
				t.Errorf("%s@%s: %v", name, scale, err)
				continue
			}
			text, err := json.Marshal(plan)
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate("plan", text); err != nil {
				t.Errorf("%s@%s: plan does not keep its schema: %v", name, scale, err)
			}
			for _, trial := range plan.Trials {
				if len(trial.Commands) < 2 {
					t.Errorf("%s@%s: %s has no mkfs and mount commands: %q", name, scale, trial.ID, trial.Commands)
				}
			}
		}
	}
}

// refuse expands a study and returns its faults.
func refuse(t *testing.T, study string) string {
	t.Helper()
	s, err := lab.ParseStudy("study.yaml", []byte(study), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = lab.Expand(s, planner.Registry{})
	if err == nil {
		return ""
	}
	return err.Error()
}

const head = "study: x\nquestion: Which?\n"

// TestSizesAndLabels tries the minimum sizes and label limits that mkfs programs were measured to have (case B45).
func TestSizesAndLabels(t *testing.T) {
	for _, c := range []struct{ storage, size, want string }{
		{"{filesystem: xfs}", "299MiB", "minimum"},
		{"{filesystem: xfs}", "300MiB", ""},
		{"{filesystem: xfs, label: twelve-bytes}", "1GiB", ""},
		{"{filesystem: xfs, label: thirteen-byte}", "1GiB", "13 bytes, at most 12"},
		{"{filesystem: ext4, label: sixteen-bytes-ok}", "1GiB", ""},
		{"{filesystem: ext4, label: seventeen-bytes-x}", "1GiB", "17 bytes, at most 16"},
		{"{filesystem: ext4, options: {lazy_itable_ini: 0}}", "1GiB", `did you mean "lazy_itable_init"?`},
		{"{filesystem: nosuchfs}", "1GiB", "unknown filesystem"},
	} {
		got := refuse(t, head+"disks: {d: {size: "+c.size+"}}\nfactors:\n  server: [mariadb-11.8]\n  workload: [mysqlslap]\n  storage:\n    a: "+c.storage+"\n")
		if (c.want == "") != (got == "" || !strings.Contains(got, "storage")) || !strings.Contains(got, c.want) {
			t.Errorf("%s on %s: %q, want %q", c.storage, c.size, got, c.want)
		}
	}
}

func TestUnknownNames(t *testing.T) {
	got := refuse(t, head+`
disks: {d: {size: 1GiB}}
factors:
  storage: [ext4]
  server: [mariadb-11.9, root]
  config: [o-direkt]
  workload: {a: {workload: mysqlslapp}, b: {workload: mysqlslap, concurency: 4, iterations: no}, c: {workload: mysqlslap, auto_generate_sql: true, engine: bdb}}
claims: [{id: a, text: A., metric: querys_per_second, factor: storage, order: [ext4, ext4]}]
`)
	for _, want := range []string{
		`unknown server image "mariadb-11.9", did you mean "mariadb-11.8"?`, "image root is a root image and holds no server",
		`unknown workload "mysqlslapp", did you mean "mysqlslap"?`, `"concurency"`, `"concurrency"?`, `"iterations"`,
		`unknown metric "querys_per_second", did you mean "queries_per_second"?`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	got = refuse(t, head+`
disks: {d: {size: 1GiB}}
factors:
  storage: [ext4]
  server: [mariadb-11.8]
  config: [o-direkt]
  workload: {a: {workload: mysqlslap, auto_generate_sql: true, engine: [innodb, enodb]}}
`)
	for _, want := range []string{`unknown profile "o-direkt", did you mean "o-direct"?`, `engine "enodb"`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestVerbs(t *testing.T) {
	if v, err := (planner.Registry{}).Verbs("mysqlslap"); err != nil || strings.Join(v, " ") != "run" {
		t.Errorf("mysqlslap stands for %v, %v; want run", v, err)
	}
}

func TestAddons(t *testing.T) {
	for fs, want := range map[string]int{"zfs": 1, "ext4": 0} {
		if root, addons := (planner.Registry{}).Images(guest.Storage{Filesystem: fs}); root != "root" || len(addons) != want {
			t.Errorf("%s boots %s with %v", fs, root, addons)
		}
	}
}

// TestLayouts writes every layout the guest can make in the study language and looks for its command.
func TestLayouts(t *testing.T) {
	for _, c := range []struct{ storage, command string }{
		{"{filesystem: xfs, on: a}", "mkfs.xfs"},
		{"{filesystem: ext3, on: {partition: 2, of: 3, disk: a}}", "sgdisk"},
		{"{filesystem: ext3, on: {partition: 1, sizes: '1g,2g', disk: a}}", "sgdisk"},
		{"{filesystem: ext4, on: {md: 5, chunk: 64KiB, of: [a, b, c, d]}}", "mdadm"},
		{"{filesystem: xfs, on: {lvm: striped, of: [a, b]}}", "lvm"},
		{"{filesystem: xfs, on: {crypt: luks2, of: a}}", "cryptsetup"},
		{"{filesystem: xfs, on: {crypt: luks2, disk: {md: 1, of: [a, b]}}}", "cryptsetup"},
		{"{filesystem: btrfs, on: {btrfs: raid1, of: [a, b]}}", "mkfs.btrfs"},
		{"{filesystem: gfs2, on: {partition: 3, of: 3, disk: a}}", "mkfs.gfs2"},
		{"{filesystem: vfat, on: a}", "mkfs.vfat"},
	} {
		s, err := lab.ParseStudy("study.yaml", []byte(head+`
disks: {a: {size: 6GiB}, b: {size: 6GiB}, c: {size: 6GiB}, d: {size: 6GiB}}
factors:
  server: [mariadb-11.8]
  workload: {w: {workload: mysqlslap, auto_generate_sql: true, number_of_queries: 100}}
  storage: {s: `+c.storage+"}\n"), "", nil)
		if err != nil {
			t.Errorf("%s: %v", c.storage, err)
			continue
		}
		plan, err := lab.Expand(s, planner.Registry{})
		if err != nil {
			t.Errorf("%s: %v", c.storage, err)
			continue
		}
		var lines []string
		for _, argv := range plan.Trials[0].Commands {
			lines = append(lines, strings.Join(argv, " "))
		}
		if !strings.Contains(strings.Join(lines, "\n"), c.command) {
			t.Errorf("%s: no %s in\n%s", c.storage, c.command, strings.Join(lines, "\n"))
		}
	}
	for _, c := range []struct{ storage, want string }{
		{"{filesystem: ext4, on: {md: 5, of: [a]}}", "layout md"},
		{"{filesystem: ext4, on: {md: 7, of: [a, b]}}", "level"},
		{"{filesystem: ext4, on: {md: 1, of: [a, a]}}", "used twice"},
		{"{filesystem: ext4, on: {md: 1, chunks: 4KiB, of: [a, b]}}", `"chunk"`},
		{"{filesystem: ext4, on: {btrfs: raid1, of: [a, b]}}", "btrfs"},
		{"{filesystem: ext4, on: {partition: 4, of: 3, disk: a}}", "partition"},
	} {
		got := refuse(t, head+"disks: {a: {size: 6GiB}, b: {size: 6GiB}}\nfactors:\n  server: [mariadb-11.8]\n  workload: {w: {workload: mysqlslap, auto_generate_sql: true}}\n  storage: {s: "+c.storage+"}\n")
		if !strings.Contains(got, "factors.storage.s") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q at factors.storage.s", c.storage, got, c.want)
		}
	}
}

// TestLanguageKnowsEveryLayout holds the study language to the registry: whatever the guest can build can be written.
func TestLanguageKnowsEveryLayout(t *testing.T) {
	for _, l := range storage.Layouts() {
		if l.Name == "disk" {
			continue // written as the disk's name
		}
		got := refuse(t, head+"disks: {a: {size: 6GiB}}\nfactors:\n  server: [mariadb-11.8]\n  workload: [mysqlslap]\n  storage: {s: {filesystem: ext4, on: {"+l.Name+": nosuch, of: [a]}}}\n")
		if !strings.Contains(got, `"nosuch"`) {
			t.Errorf("{%s: nosuch, of: [a]} is not refused for its value but: %s", l.Name, got)
		}
	}
}

// TestEngineOption: every workload of a study that varies the engine is told it, in the words of the tool it counts like.
func TestEngineOption(t *testing.T) {
	for name, want := range map[string]string{"mysqlslap": "engine", "oltp_legacy": "mysql_table_engine", "oltp_read_write": "mysql_storage_engine"} {
		if got := (planner.Registry{}).EngineOption(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestSharedAddons: when one cell of a study needs an add-on image, all its cells boot with it.
func TestSharedAddons(t *testing.T) {
	study, source, err := studies.Parse("filesystems@smoke", nil)
	if err != nil {
		t.Fatalf("%v in %s", err, source.Data)
	}
	plan, err := lab.Expand(study, planner.Registry{})
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Trials) != 13 {
		t.Errorf("%d trials, want one a filesystem", len(plan.Trials))
	}
	for _, trial := range plan.Trials {
		if len(trial.Addons) != 1 || trial.Addons[0] != "zfs" {
			t.Errorf("%s boots with %v", trial.Name, trial.Addons)
		}
	}
}

// K10: a study that sets a limit of the server below what its workload takes is refused before a machine is made.
func TestServerLimitsAreChecked(t *testing.T) {
	step := guest.Step{Do: "run", Workload: "oltp_read_write", Options: json.RawMessage(`{"threads": 32, "tables": 2}`)}
	for option, want := range map[string]string{
		"max_connections=10":         "33 connections are needed, the server takes 10",
		"max-connections=10":         "33 connections are needed, the server takes 10",
		"max_prepared_stmt_count=20": "640 prepared statements are needed, the server takes 20",
		"max_connections=33":         "",
		"innodb_log_file_size=1":     "",
	} {
		name, value, _ := strings.Cut(option, "=")
		errs := planner.Registry{}.Step(step, lab.Site{Server: guest.Server{Image: "mariadb-11.8", Options: map[string]string{name: value}}})
		if text := fmt.Sprint(errs); want == "" && len(errs) > 0 || !strings.Contains(text, want) {
			t.Errorf("%s: %s, want %q", option, text, want)
		}
	}
}
