package lab

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"platter/results"
)

// Attach modes: how a real disk reaches the machine. The first goes through QEMU's block layer, the others give the
// guest the device's own command set, serial and geometry.
const (
	AttachBlock = "block" // host block device on bus virtio or scsi
	AttachLUN   = "lun"   // whole SCSI disk, whose commands the guest sends itself
	AttachNVMe  = "nvme"  // NVMe namespace driven by QEMU itself
	AttachPCI   = "pci"   // the controller, with everything on it
	AttachUSB   = "usb"   // the USB device
)

var attachModes = []string{AttachBlock, AttachLUN, AttachNVMe, AttachPCI, AttachUSB}

// ownSerial tells whether the guest sees the device's own serial, so that we cannot choose one.
func ownSerial(attach string) bool {
	return attach == AttachLUN || attach == AttachPCI || attach == AttachUSB
}

// OwnSerial tells whether the guest sees the real disk's own serial instead of Serial.
func (d Disk) OwnSerial() bool { return d.Passport != nil && ownSerial(d.Attach) }

// Claimed fills in the disks that name a claim: find tells the passport of the disk that somebody gave up under a serial
// or WWN. What is wrong becomes faults of the study at the claims, which Validate and Expand return. Plans are kept and
// shown around, so they hold hashes of serials and WWNs, which claims are found by as well.
func (s Study) Claimed(find func(word string) (results.Passport, error)) Study {
	s.Disks, s.faults = slices.Clone(s.Disks), slices.Clone(s.faults)
	seen := map[string]string{} // serial → disk
	for i := range s.Disks {
		d := &s.Disks[i]
		if d.Claim == "" {
			continue
		}
		at := "disks." + d.Name + ".claim"
		refuse := func(format string, args ...any) {
			s.faults = append(s.faults, Fault{Where: s.place(at), Path: at, Problem: fmt.Sprintf(format, args...)})
		}
		p, err := find(d.Claim)
		if err != nil {
			refuse("%v", err)
			continue
		}
		if other := seen[p.Serial]; other != "" {
			refuse("disks %s and %s are the same disk (serial %s)", other, d.Name, p.Serial)
			continue
		}
		seen[p.Serial] = d.Name
		if p.SizeBytes < d.SizeBytes {
			refuse("the disk is too small: it has %s, the study asks for at least %s", FormatSize(p.SizeBytes), FormatSize(d.SizeBytes))
			continue
		}
		if ownSerial(d.Attach) && !serialsOK.MatchString(p.Serial) {
			s.faults = append(s.faults, unfit(s, *d, p.Serial))
			continue
		}
		d.take(p)
	}
	return s
}

// take gives a disk of the study the size and geometry of the real one.
func (d *Disk) take(p results.Passport) {
	hashed := p.Hashed()
	d.Passport, d.Claim, d.SizeBytes = &hashed, hashed.Serial, p.SizeBytes
	d.Format, d.Preallocation = "raw", "off"
	if d.Attach != AttachBlock {
		return
	}
	if d.LogicalBlockBytes == 0 {
		d.LogicalBlockBytes = p.LogicalBlockBytes
	}
	if d.PhysicalBlockBytes == 0 {
		d.PhysicalBlockBytes = p.PhysicalBlockBytes
	}
	if d.RotationRate == 0 && d.Bus == "scsi" && p.Rotational != nil && !*p.Rotational {
		d.RotationRate = 1 // else the guest would take it for a disk that turns
	}
}

// serialsOK are serials that every bus and every tool carries unchanged.
var serialsOK = regexp.MustCompile(`^[A-Za-z0-9_-]{1,20}$`)

// unfit is the fault of a disk that would be found by a serial that cannot be relied on.
func unfit(s Study, d Disk, serial string) Fault {
	at := "disks." + d.Name + ".attach"
	return Fault{Where: s.place(at), Path: at, Problem: fmt.Sprintf("%s shows the guest the disk's own serial %q, which not every bus carries (want at most 20 letters, digits, _ -); use attach: block", d.Attach, serial)}
}

// checkClaimed says what makes no sense about a disk that names a claim.
func checkClaimed(d Disk) (problems []keyed) {
	add := func(key, format string, args ...any) {
		problems = append(problems, keyed{key, fmt.Sprintf(format, args...)})
	}
	if d.Passport == nil {
		add("claim", "no claims of this host were looked at, so the disk is not known")
		return problems
	}
	p := *d.Passport
	if d.Cache != "auto" && d.Cache != "none" && d.Cache != "directsync" {
		add("cache", "a real disk is measured past the host's page cache: want auto, none or directsync, got %s", d.Cache)
	}
	if d.Bus != "virtio" && d.Bus != "scsi" {
		add("bus", "a claimed disk goes on bus virtio or scsi, not %s; attach: pci gives the guest its own controller", d.Bus)
	}
	if d.Attach == AttachBlock && d.LogicalBlockBytes < p.LogicalBlockBytes {
		add("logical_block", "%s is less than the disk's own %s", FormatSize(d.LogicalBlockBytes), FormatSize(p.LogicalBlockBytes))
	}
	if d.Attach != AttachBlock && (d.LogicalBlockBytes != 0 || d.PhysicalBlockBytes != 0 || d.RotationRate != 0) {
		add("attach", "%s shows the disk's own geometry; leave block sizes and rotation_rate out", d.Attach)
	}
	if ownSerial(d.Attach) && d.Limits != (Limits{}) {
		add("limits", "attach: %s bypasses QEMU's block layer, so nothing can limit it; use attach: block", d.Attach)
	}
	switch {
	case d.Attach == AttachLUN && d.Bus != "scsi":
		add("bus", "a lun needs bus scsi, not %s", d.Bus)
	case d.Attach == AttachLUN && !slices.Contains([]string{"scsi", "sas", "sata", "usb"}, p.Transport):
		add("attach", "a lun is a SCSI disk, to which the guest sends its own commands; this one is %s: use attach: block", p.Transport)
	case d.Attach == AttachNVMe && p.Transport != "nvme":
		add("attach", "nvme needs an NVMe drive, this disk is %s; use attach: block", p.Transport)
	case d.Attach == AttachUSB && p.Transport != "usb":
		add("attach", "usb needs a USB disk, this one is %s; use attach: block", p.Transport)
	case d.Attach == AttachPCI && p.PCIAddress == "":
		add("attach", "pci needs a disk on a PCI controller, this one is on none (%s); use attach: block", p.Transport)
	}
	return problems
}

// claimNotes are what the reader of a plan must know of a real disk.
func claimNotes(d Disk) []string {
	return []string{fmt.Sprintf("disk %s is a real disk, passed through (%s), and loses everything on it: %s", d.Name, d.Attach, d.Passport)}
}

// Destroys lists the real disks whose contents the plan destroys, each once.
func (p Plan) Destroys() []Disk {
	var out []Disk
	for _, t := range p.Trials {
		for _, d := range t.Disks {
			if d.Passport != nil && !slices.ContainsFunc(out, func(have Disk) bool { return have.Name == d.Name }) {
				out = append(out, d)
			}
		}
	}
	return out
}

// successors are the study's. Where claimed disks took the place of an emulated device that no trial has any more, what
// runs in place of the original are those disks.
func (s Study) successors(trials []Trial) []Successor {
	real, emulated := map[string]bool{}, map[string]bool{}
	for _, t := range trials {
		for _, d := range t.Disks {
			emulated[d.Emulated] = true
			if d.Passport != nil {
				real[d.Name] = true
			}
		}
	}
	if len(real) == 0 {
		return s.Successors
	}
	out := slices.Clone(s.Successors)
	for i := range out {
		for _, preset := range presetNames {
			if strings.Contains(out[i].Now, "emulated device") && strings.Contains(out[i].Now, preset) && !emulated[preset] {
				out[i].Now = "real " + strings.Join(slices.Sorted(maps.Keys(real)), ", ")
				out[i].Reason = fmt.Sprintf("claimed disks, passed through, in place of the emulated device %s", preset)
			}
		}
	}
	return out
}
