package runner

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"platter/lab"
	"platter/lab/domain"
	"platter/lab/hypervisor"
)

func planWith(disks ...lab.Disk) lab.Plan {
	t := lab.Trial{Name: "write/storage=xfs/round=1", CellID: "c", Root: "root", Server: "mariadb-11.8", Disks: disks}
	again := t
	again.Name = "write/storage=xfs/round=2"
	return lab.Plan{Trials: []lab.Trial{t, again}}
}

func disk(name, serial string) lab.Disk {
	return lab.Disk{Name: name, Serial: serial, SizeBytes: 64 << 20, Bus: "virtio", Cache: "auto", Discard: "unmap", DetectZeroes: "off", Format: "raw", IOThread: true}
}

// TestCheck: serials that the guest could not tell apart, and other machines that cannot be built, are refused by name
// before anything is made; each fault once, however many rounds a plan has.
func TestCheck(t *testing.T) {
	info := hypervisor.Info{LibvirtVersion: domain.Version(9000000), Arch: "x86_64"}
	if err := Check(planWith(disk("a", "data-a"), disk("b", "data-b")), info); err != nil {
		t.Fatalf("a good plan: %v", err)
	}
	var many []lab.Disk
	for i := range 400 {
		many = append(many, disk(fmt.Sprint("d", i), fmt.Sprint("data-", i)))
	}
	long := "bench-data-volume-0001-"
	for name, c := range map[string]struct {
		plan lab.Plan
		want string
	}{
		"long serial":  {planWith(disk("a", long+"a")), long + "a"},
		"same serial":  {planWith(disk("a", "same"), disk("b", "same")), "same"},
		"odd serial":   {planWith(disk("a", "with space")), "with space"},
		"native cache": {planWith(lab.Disk{Name: "a", Serial: "a", SizeBytes: 1 << 20, Bus: "virtio", Cache: "writeback", IO: "native", Format: "raw"}), "native"},
		"many disks":   {planWith(many...), "402 disks need"},
	} {
		t.Run(name, func(t *testing.T) {
			err := Check(c.plan, info)
			var input *lab.InputError
			if !errors.As(err, &input) {
				t.Fatalf("got %v, want an InputError", err)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q does not say %q", err, c.want)
			}
			if n := strings.Count(err.Error(), "write/storage=xfs"); n != 1 {
				t.Errorf("said %d times:\n%v", n, err)
			}
		})
	}
}
