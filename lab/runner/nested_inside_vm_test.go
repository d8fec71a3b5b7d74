package runner

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"platter/lab"
	"platter/lab/blockdev"
	"platter/results"
)

var inside = flag.Bool("inside", false, "with -vm: this is the machine that TestNested made")

// TestNestedInside runs in the machine of TestNested, as root of a host like any other: it takes the NVMe drive from its
// driver and hands it to a machine of its own by PCI, with the SCSI disk as LUN. That machine finds both by their own
// serials and formats them; then driver and disks are back.
func TestNestedInside(t *testing.T) {
	if !*vm || !*inside {
		t.Skip("needs -vm in the machine that TestNested makes")
	}
	claims := []blockdev.Claim{claim(t, nestedNVMe, blockdev.Overwrite, blockdev.Detach), claim(t, nestedLUN, blockdev.Overwrite)}
	plan := realPlan(t, claims, "attach: pci", "bus: scsi, attach: lun")
	plan.Images = plan.Images[:0]
	for i := range plan.Trials {
		plan.Trials[i].Server = "" // nothing is run but what the test says
		plan.Images = append(plan.Images[:0], plan.Trials[i].Root)
	}
	tr, real := passthroughRun(t, plan, claims, os.Args[0])
	patience(t, tr)
	address := claims[0].Passport.PCIAddress
	t.Logf("the drive at %s is in IOMMU group %d, the disk is %s", address, *claims[0].Passport.IOMMUGroup, claims[1].Passport)
	undo := cleanup{log: testLog(t)}
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
	if driver := blockdev.Local().Driver(address); driver != passthroughDriver {
		t.Errorf("the drive is bound to %q", driver)
	}
	began := time.Now()
	_, session, err := tr.boot(t.Context(), &undo, data)
	if err != nil {
		var notBooted *lab.BootError
		if errors.As(err, &notBooted) {
			t.Logf("its console:\n%s", notBooted.Console)
		}
		t.Fatal(err)
	}
	t.Logf("booted in %.0f s", time.Since(began).Seconds())
	client, err := session.Client(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range claims {
		inGuest(t, client, fmt.Sprintf(formatBySerial, c.Passport.Serial, c.Passport.SizeBytes/512, c.Passport.LogicalBlockBytes))
	}
	done = true
	if err := undo.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if driver := blockdev.Local().Driver(address); driver != "nvme" {
		t.Errorf("afterwards the drive is bound to %q", driver)
	}
	for i, c := range claims {
		facts := tr.disks[i]
		if facts.Passport == nil || facts.Kind != []string{"pci", "lun"}[i] || facts.Serial != results.HashIdentity(c.Passport.Serial) {
			t.Errorf("facts %+v", facts)
		}
		found, err := real.Keeper.Find(c)
		if err != nil || !strings.Contains(blockdev.Contents(found.Signatures), "from-guest") {
			t.Errorf("%s holds %v, %v", c.Passport.Serial, found.Signatures, err)
		}
		t.Logf("%s came back: %s", c.Passport, blockdev.Contents(found.Signatures))
	}
	t.Logf("conditions: %+v", tr.probes)
}

// patience is for a machine emulated within an emulated one.
func patience(t *testing.T, tr *trial) {
	was := bootTimeout
	bootTimeout = 4 * time.Minute // times tcgScale
	t.Cleanup(func() { bootTimeout = was })
	tr.run.KeepaliveEvery, tr.run.KeepaliveDead = time.Minute, 10*time.Minute
}
