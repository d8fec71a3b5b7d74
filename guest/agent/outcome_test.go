package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"platter/guest"
	"platter/guest/server"
	"platter/guest/workload"
	"platter/results"

	"github.com/google/go-cmp/cmp"
)

func TestOutcome(t *testing.T) {
	exit := &server.ExitError{Status: 1, Reason: "InnoDB: no space", LogTail: "2026 [ERROR] InnoDB: no space left"}
	for name, test := range map[string]struct {
		err      error
		invalid  []string
		wall     time.Duration
		hardware int64 // seconds the hardware clock moved; 0: there is none
		status   results.Status
		reason   string
		evidence string
	}{
		"well":             {status: results.StatusOK},
		"rule broken":      {invalid: []string{"the sampler was silent for 7.0 s"}, status: results.StatusInvalid, reason: "silent"},
		"clock stepped":    {wall: -time.Hour, status: results.StatusInvalid, reason: "the wall clock stepped by 3600.0 s"},
		"clock back":       {wall: time.Hour, status: results.StatusInvalid, reason: "stepped by -3600.0 s"},
		"clock drifts":     {wall: time.Second, status: results.StatusOK},
		"clock too slow":   {hardware: 190, status: results.StatusInvalid, reason: "190 s by the machine's hardware clock and 0.0 s by its kernel's"},
		"clock of seconds": {hardware: 2, status: results.StatusOK},
		"skipped":          {err: fmt.Errorf("preflight: %w", &SkipError{"no module"}), status: results.StatusSkipped, reason: "no module"},
		"lost":             {err: &LostError{errors.New("no disk has serial")}, status: results.StatusLost, reason: "no disk"},
		"stopped":          {err: errors.Join(ErrStopped, errors.New("x")), status: results.StatusInterrupted, reason: "stopped in phase"},
		"wrong rows":       {err: fmt.Errorf("step run: %w", &workload.InvalidError{Reason: "9 rows, not 10"}), status: results.StatusInvalid, reason: "9 rows"},
		"deadline":         {err: &DeadlineError{5}, status: results.StatusFailed, reason: "deadline of 5 s"},
		"server died":      {err: fmt.Errorf("step run: %w", exit), status: results.StatusFailed, reason: "InnoDB: no space", evidence: "[ERROR] InnoDB: no space left"},
		"command failed":   {err: &CommandError{Argv: []string{"mkfs.x", "/dev/a"}, Status: 1, Line: "too small", Output: "a page\nof usage"}, status: results.StatusFailed, reason: "too small", evidence: "mkfs.x /dev/a\na page"},
		"an endless text":  {err: errors.New(strings.Repeat("e", 2*guest.MaxMessageBytes)), status: results.StatusFailed, reason: "eee"},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Now()
			began := clocks{monotonic: now, wall: now.Round(0).Add(test.wall)}
			sys := System{Root: t.TempDir()}
			if test.hardware > 0 {
				began.hardware = 1_700_000_000
				rtc := sys.path("/sys/class/rtc/rtc0/since_epoch")
				if err := errors.Join(os.MkdirAll(filepath.Dir(rtc), 0o755), os.WriteFile(rtc, fmt.Append(nil, began.hardware+test.hardware, "\n"), 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			tr := &trial{sys: sys, enc: guest.NewEncoder(&lockedBuffer{}), began: began, invalid: test.invalid, phase: "steps"}
			done := tr.outcome(test.err)
			if done.Status != test.status || !strings.Contains(done.Reason, test.reason) || !strings.Contains(done.Evidence, test.evidence) {
				t.Errorf("got %+v", done)
			}
			if test.status != results.StatusOK && done.Reason == "" || len(done.Reason) > guest.MaxMessageBytes {
				t.Errorf("a reason of %d bytes", len(done.Reason))
			}
		})
	}
}

func TestKernelLines(t *testing.T) {
	for record, want := range map[string]string{
		"6,339,5140900,-;NET: Registered\n":       "[    5.140900] NET: Registered",
		"3,1,12345678901,-;a\n SUBSYSTEM=block\n": "[12345.678901] a",
		"no record at all":                        "",
		"6,x":                                     "",
		"4,1,99,-;Out of memory: Killed process 1 (a) x\n": "[    0.000099] Out of memory: Killed process 1 (a) x",
	} {
		if got := kernelLine(record); got != want {
			t.Errorf("kernelLine(%q) = %q, want %q", record, got, want)
		}
	}
	for line, want := range map[string]string{
		"[   99.1] Out of memory: Killed process 812 (mariadbd) total-vm:1500000kB, anon-rss:400000kB": "mariadbd",
		"[   99.1] Memory cgroup out of memory: Killed process 7 (mysqld) total-vm:1kB":                "mysqld",
		"[   99.1] oom_reaper: reaped process 812 (mariadbd)":                                          "",
	} {
		if got := killedByKernel(line); got != want {
			t.Errorf("killedByKernel(%q) = %q, want %q", line, got, want)
		}
	}
	for line, want := range map[string]bool{
		"EXT4-fs error (device vdb): ext4_lookup:1": true, "XFS (vdb): Corruption detected": true, "blk_update_request: I/O error, dev vdb": true,
		"INFO: task mariadbd:812 blocked for more than 120 seconds.": true, "BTRFS error (device vdb): bad": true,
		"BUG: unable to handle page fault": true, "..MP-BIOS bug: 8254 timer not connected to IO-APIC": false,
		"EXT4-fs (vdb): mounted filesystem with ordered data mode": false, "XFS (vdb): Mounting V5 Filesystem": false,
		"XFS (vdb): Ending clean mount": false, "virtio_blk virtio2: [vdb] 1 512-byte logical blocks": false,
	} {
		if got := kernelFault.MatchString(line); got != want {
			t.Errorf("fault %v for %q", got, line)
		}
	}
}

// TestLayoutSettingsLast: two makings of the same layout have the same settings, for all that mdadm and sgdisk print of them.
func TestLayoutSettingsLast(t *testing.T) {
	made := func(at, uuid string) map[string]string {
		return map[string]string{"level": "5", "Chunk Size": "512K", "Creation Time": at, "Update Time": at, "Events": uuid, "UUID": uuid, "Partition unique GUID": uuid}
	}
	asked := map[string]string{"level": "5"}
	one, two := made("Tue Dec  1 01:01:13 2026", "528a1d07"), made("Tue Dec  1 01:05:52 2026", "9e6588d0")
	got := compare("layout", asked, lasting(one))
	if diff := cmp.Diff(got, compare("layout", asked, lasting(two))); diff != "" || len(got) != 2 {
		t.Errorf("%d settings, %s", len(got), diff)
	}
	if one["UUID"] == "" {
		t.Error("the fact itself is gone")
	}
}
