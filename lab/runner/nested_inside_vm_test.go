package runner

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
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
// serials and formats them; then driver and disks are back. What is kept of it has the drive's condition and no serial.
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
	tr.Machine.MemoryBytes = 512 << 20 // all of it is pinned and mapped for the drive before the machine starts
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
	kept, err := tr.finish(tr.result(t.Context(), &lab.JobError{Reason: "nothing was to be measured"}))
	if err != nil {
		t.Fatal(err)
	}
	conditionKept(t, kept, "disk "+tr.Disks[0].Name)
	noSerials(t, os.DirFS(tr.Store.Path()), claims)
}

// conditionKept wants what the NVMe drive said of itself before the machine had it and after.
func conditionKept(t *testing.T, r results.Result, note string) {
	t.Helper()
	said := map[string]map[string]*float64{}
	for _, p := range r.Probes {
		if p.Name == "smart" && p.Note == note {
			said[p.When] = p.Values
		}
	}
	for _, when := range []string{"before", "after"} {
		if c := said[when]["temperature_celsius"]; c == nil || *c <= 0 {
			t.Errorf("%s: no temperature in %v; is smartmontools installed?", when, said[when])
		}
	}
	before, after := said["before"]["written_bytes"], said["after"]["written_bytes"]
	if before == nil || after == nil || *after < *before {
		t.Errorf("written bytes are unknown or went back: %v", said)
	}
}

// noSerials looks through all that the run keeps, its plan and result among it, for the disks' own serials and WWNs.
func noSerials(t *testing.T, folder fs.FS, claims []blockdev.Claim) {
	t.Helper()
	looked, hashed := 0, 0
	err := fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(folder, name)
		looked++
		for _, c := range claims {
			hashed += bytes.Count(text, []byte(results.HashIdentity(c.Passport.Serial)))
			for _, secret := range []string{c.Passport.Serial, c.Passport.WWN} {
				if secret != "" && bytes.Contains(text, []byte(secret)) {
					t.Errorf("%s holds %s as it is", name, secret)
				}
			}
		}
		return err
	})
	if err != nil || hashed == 0 {
		t.Errorf("%d files with %d hashes of serials, %v", looked, hashed, err)
	}
	t.Logf("%d files name the disks %d times, by hashes alone", looked, hashed)
}
