package agent

import (
	"strings"
	"testing"

	"platter/guest"
	"platter/guest/storage"
	"platter/results"
)

// A mkfs that fails fails the job with the one line that tells why, never its usage text.
func TestMkfsThatFailsSaysWhyInOneLine(t *testing.T) {
	for _, test := range []struct {
		storage guest.Storage
		want    string
	}{
		{guest.Storage{Filesystem: "ext4", Options: map[string]string{"features": "no_such_feature"}}, "Invalid filesystem option set: no_such_feature"},
		{guest.Storage{Filesystem: "ext4", Options: map[string]string{"journal_size": "39000"}}, "it must be between 1024 and 10240000 blocks"},
		{guest.Storage{Filesystem: "xfs", Options: map[string]string{"log.size": "1g"}}, "log size 262144 too large"},
		{guest.Storage{Filesystem: "btrfs", Options: map[string]string{"features": "no-such-feature"}}, "no-such-feature"},
	} {
		t.Run(test.storage.Filesystem, func(t *testing.T) {
			sys, disks := loopMachine(t, 320)
			test.storage.Layout = guest.Layout{Disk: "d0"}
			events, log := carry(t, sys, guest.Job{Disks: disks, Storage: test.storage})
			done := doneOf(events)
			if done.Status != results.StatusFailed || !strings.Contains(done.Reason, test.want) || strings.Contains(done.Reason, "\n") ||
				strings.Contains(done.Reason, "sage:") || !strings.Contains(done.Reason, "make "+test.storage.Filesystem+" on disk(d0)") {
				t.Errorf("%+v\n%s", done, log)
			}
			if facts := lastStorage(events); len(facts.Commands) == 0 || facts.MkfsSeconds != nil {
				t.Errorf("the command that failed is not among the facts, or has a time: %+v", facts)
			}
			if _, err := (&trial{sys: System{"/"}}).mountAt(storage.MountPoint); err == nil {
				t.Error("something is mounted")
			}
		})
	}
}
