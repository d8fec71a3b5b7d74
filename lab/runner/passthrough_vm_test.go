package runner

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"platter/images/build"
	"platter/images/cache"
	"platter/lab"
	"platter/lab/blockdev"
	"platter/lab/hypervisor"
	"platter/lab/planner"
	"platter/lab/remote"
	"platter/results"
	"platter/results/store"
)

var stacks = flag.Bool("stacks", false, "with -vm: also refuse md, LVM, device mapper and LUKS on loop devices inside a machine")

// claimLoop makes a clean loop device and claims it.
func claimLoop(t *testing.T, size int64, sector int) blockdev.Claim {
	t.Helper()
	file := filepath.Join(t.TempDir(), "disk.img")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, size); err != nil {
		t.Fatal(err)
	}
	node := output(t, "losetup", "--find", "--show", "--sector-size", fmt.Sprint(sector), file)
	t.Cleanup(func() { exec.Command("losetup", "--detach", node).Run() })
	return claim(t, node, blockdev.Overwrite)
}

// claim gives up a disk as it is now.
func claim(t *testing.T, word string, uses ...string) blockdev.Claim {
	t.Helper()
	inv, err := blockdev.Read(blockdev.Local())
	if err != nil {
		t.Fatal(err)
	}
	d, err := inv.Resolve(word)
	if err != nil {
		t.Fatal(err)
	}
	content, err := blockdev.Examine(d)
	if err != nil {
		t.Fatal(err)
	}
	return blockdev.Claim{Passport: d.Passport, Uses: uses, Content: content,
		ClaimedAt: time.Now().Add(-time.Second), ExpiresAt: time.Now().Add(time.Hour)}
}

func output(t *testing.T, argv ...string) string {
	t.Helper()
	out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v: %s", argv, err, out)
	}
	return strings.TrimSpace(string(out))
}

// passthroughRun is a run of one trial on claimed disks, ready to boot.
func passthroughRun(t *testing.T, plan lab.Plan, claims []blockdev.Claim, guestBinary string) (*trial, *Passthrough) {
	t.Helper()
	host, err := hypervisor.Open(t.Context(), hypervisor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { host.Close() })
	info, err := host.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	kept, err := cache.Open("", build.Builder{})
	if err != nil {
		t.Fatal(err)
	}
	planned := plan.Trials[0]
	planned.Disks = plan.Destroys() // all of them in one machine, in the order of the claims
	slices.SortFunc(planned.Disks, func(a, b lab.Disk) int { return strings.Compare(a.Name, b.Name) })
	document, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Create(t.TempDir(), store.CreateSpec{Study: plan.Study, Plan: document, PlanDigest: plan.Digest, Host: HostFacts(info)})
	if err != nil {
		t.Fatal(err)
	}
	tag, err := hypervisor.NewTag(s.ID())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := host.RemoveRun(tag.Run); err != nil {
			t.Error(err)
		}
	})
	owner, err := blockdev.NewOwner()
	if err != nil {
		t.Fatal(err)
	}
	real := &Passthrough{Owner: owner, Devices: host, Keeper: blockdev.Keeper{LeaseDir: t.TempDir(), StateDir: t.TempDir()},
		Claims: func(serial string) (blockdev.Claim, error) {
			for _, c := range claims {
				if results.HashIdentity(c.Passport.Serial) == serial {
					return c, nil
				}
			}
			return blockdev.Claim{}, fmt.Errorf("nobody claimed %s", serial)
		}}
	r := &run{Config: Config{Plan: plan, Store: s, Host: NewHost(host), Images: catalogue{kept, nil}, Tag: tag, Passthrough: real, Events: func(e lab.RunEvent) { t.Log(e.Phase, e.Message) },
		GuestBinary: func(string) (string, error) { return guestBinary, nil }, Log: slog.New(slog.DiscardHandler)}, staged: map[string]stagedImage{}}
	if err := r.prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	dir, err := s.Trial(planned.ID, 1)
	if err != nil {
		t.Fatal(err)
	}
	return &trial{run: r, Trial: planned, dir: dir, attempt: 1, started: time.Now()}, real
}

// realPlan is the plan of a study with a cell on each claimed disk, each handed over in its way.
func realPlan(t *testing.T, claims []blockdev.Claim, ways ...string) lab.Plan {
	t.Helper()
	text, storage := "study: real\nquestion: Which?\nrounds: 1\nmachine: {cpus: 1, memory: 1GiB}\ndisks:\n", ""
	for i, c := range claims {
		text += fmt.Sprintf("  real%d: {claim: %s, %s}\n", i, c.Passport.Serial, ways[i])
		storage += fmt.Sprintf("    s%d: {filesystem: ext2, on: real%[1]d}\n", i)
	}
	text += "factors:\n  storage:\n" + storage + "  server: [mariadb-11.8]\n  workload: {w: {workload: mysqlslap, auto_generate_sql: true}}\n"
	study, err := lab.ParseStudy("real.yaml", []byte(text), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := lab.Expand(study.Claimed(func(word string) (results.Passport, error) {
		for _, c := range claims {
			if c.Passport.Serial == word {
				return c.Passport, nil
			}
		}
		return results.Passport{}, fmt.Errorf("nobody claimed %s", word)
	}), planner.Registry{})
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// TestPassthrough hands two clean claimed loop devices, of 512 and 4096 byte sectors, to a real machine, which finds them
// by serial, formats them and writes; the host cannot touch them meanwhile, and has them back afterwards.
// With -stacks the refusals of lab/blockdev are tried in the same machine on kernel drivers that this host may lack.
func TestPassthrough(t *testing.T) {
	needVM(t)
	claims := []blockdev.Claim{claimLoop(t, 64<<20, 512), claimLoop(t, 96<<20, 4096)}
	tr, real := passthroughRun(t, realPlan(t, claims, "bus: virtio", "bus: scsi"), claims, guestPath(t))
	undo := cleanup{log: tr.Log}
	done := false
	defer func() {
		if !done {
			undo.run(t.Context())
		}
	}()
	data, err := tr.volumes(t.Context(), &undo)
	if err != nil {
		t.Fatal(err)
	}
	_, session, err := tr.boot(t.Context(), &undo, data)
	if err != nil {
		t.Fatal(err)
	}
	client, err := session.Client(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range claims {
		inGuest(t, client, fmt.Sprintf(formatBySerial, data[i].Serial, c.Passport.SizeBytes/512, c.Passport.LogicalBlockBytes))
		node := data[i].Path
		if out, err := exec.Command("mkfs.ext4", "-q", "-F", node).CombinedOutput(); err == nil {
			t.Errorf("the host made a filesystem on a disk that a machine has: %s", out)
		}
		if _, err := (blockdev.Keeper{LeaseDir: real.Keeper.LeaseDir, StateDir: t.TempDir()}).Find(c); err == nil || !strings.Contains(err.Error(), tr.Store.ID()) {
			t.Errorf("another platter is told %v", err)
		}
		inv, err := blockdev.Read(blockdev.Local())
		if err != nil {
			t.Fatal(err)
		}
		if d, err := inv.Resolve(node); err != nil || d.Free() || !strings.Contains(d.Verdict(), "is open in the machine platter-") {
			t.Errorf("%s: %s, %v", node, d.Verdict(), err)
		}
	}
	if *stacks {
		stacksInGuest(t, client)
	}
	done = true
	if err := undo.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, c := range claims {
		if facts := tr.disks[i]; facts.Passport == nil || facts.Kind != "block" || strings.Contains(fmt.Sprintf("%+v %+v", facts, *facts.Passport), c.Passport.Serial) {
			t.Errorf("facts %+v of a claim of %s", facts, c.Passport.Serial)
		}
		found, err := real.Keeper.Find(c)
		if err != nil || len(found.Signatures) == 0 || found.Signatures[0].Label != "from-guest" {
			t.Errorf("after its release the disk holds %v, %v", found.Signatures, err)
		}
		hold, err := real.Keeper.Acquire(t.Context(), c, real.Owner, 0)
		if err != nil {
			t.Errorf("what platter left on the disk is taken for somebody's: %v", err)
		} else if err := hold.Release(); err != nil {
			t.Error(err)
		}
	}
}

// formatBySerial proves serial, size and sectors of a disk and then makes a filesystem on it.
const formatBySerial = `modprobe -a virtio_scsi sd_mod nvme; sleep 2
for d in /sys/block/*; do
	s=$(cat $d/serial 2>/dev/null || cat $d/device/serial 2>/dev/null || tail -c +5 $d/device/vpd_pg80 2>/dev/null) || continue
	s=$(echo $s)
	[ "$s" = %s ] || continue
	[ $(cat $d/size) = %d ] && [ $(cat $d/queue/logical_block_size) = %d ] || { echo "$d: $(cat $d/size) $(cat $d/queue/logical_block_size)"; exit 1; }
	mkfs.ext4 -q -L from-guest /dev/${d##*/} && mkdir -p /tmp/m && mount /dev/${d##*/} /tmp/m && echo hello >/tmp/m/file && umount /tmp/m && exit 0
done
cat /sys/block/*/serial; exit 1`

func inGuest(t *testing.T, c *remote.Client, script string) string {
	t.Helper()
	out, err := c.Output(t.Context(), "sh", "-c", script)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// stacksInGuest runs the tests of lab/blockdev that need drivers which a host may lack; in the machine none may be left out.
func stacksInGuest(t *testing.T, c *remote.Client) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "blockdev.test")
	output(t, "go", "test", "-c", "-o", binary, "platter/lab/blockdev")
	data, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Upload(t.Context(), "/run/blockdev.test", int64(len(data)), 0o755, bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	out, err := c.Output(t.Context(), "sh", "-c", "modprobe loop; cd /run && TMPDIR=/run ./blockdev.test -test.v -test.run 'TestRealStacks/(dm-linear|lvm|luks|md|btrfs|swap)' -vm -complete 2>&1 || echo FAILED")
	if err != nil || strings.Contains(string(out), "FAILED") || strings.Contains(string(out), "SKIP") || !strings.Contains(string(out), "is a member of md77") {
		t.Errorf("%v in the machine:\n%s", err, out)
		return
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "refused:") {
			t.Log(strings.TrimSpace(line))
		}
	}
}
