package lab

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"platter/results"
)

const claimedStudy = `study: real
question: Which?
rounds: 1
disks:
  ssd: {claim: S1, bus: virtio}
  hdd: {claim: S2, size: 1GiB, bus: scsi, preset: hdd-7200}
factors:
  storage: {s: {filesystem: ext4, on: ssd}, h: {filesystem: ext4, on: hdd}}
  server: [mariadb-11.8]
  workload: {w: {workload: mysqlslap}}
`

// shelf is the claimed disks of a host.
func shelf(word string) (results.Passport, error) {
	solid, turning := false, true
	switch word {
	case "S1", "naa.1":
		return results.Passport{Serial: "S1", WWN: "naa.1", SizeBytes: 4 << 30, LogicalBlockBytes: 4096, PhysicalBlockBytes: 4096, Transport: "nvme", PCIAddress: "0000:01:00.0", Rotational: &solid}, nil
	case "S2":
		return results.Passport{Serial: "S2", SizeBytes: 2 << 30, LogicalBlockBytes: 512, PhysicalBlockBytes: 4096, Transport: "sata", PCIAddress: "0000:00:17.0", Rotational: &turning}, nil
	case "S3":
		return results.Passport{Serial: "loop-0123456789ab", SizeBytes: 2 << 30, LogicalBlockBytes: 512, PhysicalBlockBytes: 512, Transport: "loop"}, nil
	case "LONG":
		return results.Passport{Serial: "A SERIAL WITH SPACES", SizeBytes: 2 << 30, LogicalBlockBytes: 512, PhysicalBlockBytes: 512, Transport: "sas", PCIAddress: "0000:00:17.0"}, nil
	}
	return results.Passport{}, errors.New("nobody has claimed it")
}

// TestClaimedDisks: a claimed disk brings its own size and geometry into the plan, is destroyed by it, and takes no space.
func TestClaimedDisks(t *testing.T) {
	s, err := ParseStudy("s.yaml", []byte(claimedStudy), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Expand(s.Claimed(shelf), fakeRegistry{})
	if err != nil {
		t.Fatal(err)
	}
	if p.DiskBytes != 0 {
		t.Errorf("real disks take %d bytes of the host's space", p.DiskBytes)
	}
	destroyed := p.Destroys()
	if len(destroyed) != 2 {
		t.Fatalf("the plan destroys %v", destroyed)
	}
	for _, d := range destroyed {
		switch d.Name {
		case "ssd":
			if d.SizeBytes != 4<<30 || d.LogicalBlockBytes != 4096 || d.Attach != "block" || d.Passport.Serial != results.HashIdentity("S1") || d.Claim != d.Passport.Serial {
				t.Errorf("%+v", d)
			}
		case "hdd":
			if d.Emulated != "" || d.Limits != (Limits{}) || d.ReadDelaySeconds != 0 || d.RotationRate != 0 || d.SizeBytes != 2<<30 {
				t.Errorf("the preset is in force on a real disk: %+v", d)
			}
		}
	}
	for _, trial := range p.Trials {
		if !trial.Job.Disks[0].Wipe || trial.Job.Disks[0].SizeBytes != trial.Disks[0].SizeBytes {
			t.Errorf("the guest is told %+v", trial.Job.Disks[0])
		}
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{`"S1"`, `"S2"`, "naa.1"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("the plan holds %s", secret)
		}
	}
	other := func(word string) (results.Passport, error) {
		p, err := shelf(word)
		p.Model = "another"
		return p, err
	}
	q, err := Expand(s.Claimed(other), fakeRegistry{})
	if err != nil || q.Digest == p.Digest {
		t.Errorf("another disk under the same claim gives the same plan (%v)", err)
	}
}

// TestClaimFaults: what does not fit a real disk is refused at its key.
func TestClaimFaults(t *testing.T) {
	for name, c := range map[string]struct {
		sets []string
		want string
	}{
		"not claimed":         {[]string{"disks.ssd.claim=NONE"}, "disks.ssd.claim: nobody has claimed it"},
		"too small":           {[]string{"disks.hdd.size=3GiB"}, "disks.hdd.claim: the disk is too small: it has 2GiB, the study asks for at least 3GiB"},
		"same disk twice":     {[]string{"disks.hdd.claim=naa.1"}, "disks.hdd.claim: disks ssd and hdd are the same disk (serial S1)"},
		"a path":              {[]string{"disks.ssd.claim=/dev/sdb"}, "disks.ssd.claim: want the serial or WWN"},
		"page cache":          {[]string{"disks.ssd.cache=writeback"}, "disks.ssd.cache: a real disk is measured past the host's page cache"},
		"bus":                 {[]string{"disks.ssd.bus=sata", "disks.ssd.iothread=false"}, "disks.ssd.bus: a claimed disk goes on bus virtio or scsi"},
		"smaller blocks":      {[]string{"disks.ssd.logical_block=512B"}, "disks.ssd.logical_block: 512B is less than the disk's own 4KiB"},
		"lun of a loop":       {[]string{"disks.hdd.claim=S3", "disks.hdd.attach=lun"}, "disks.hdd.attach: a lun is a SCSI disk, to which the guest sends its own commands; this one is loop"},
		"lun on virtio":       {[]string{"disks.ssd.claim=S2", "disks.hdd.claim=S1", "disks.ssd.attach=lun"}, "disks.ssd.bus: a lun needs bus scsi"},
		"lun with limits":     {[]string{"disks.hdd.attach=lun", "disks.hdd.limits={total_iops: 5}"}, "disks.hdd.limits: attach: lun bypasses"},
		"lun, serial":         {[]string{"disks.hdd.claim=LONG", "disks.hdd.attach=lun"}, "disks.hdd.attach: lun shows the guest the disk's own serial"},
		"nvme of sata":        {[]string{"disks.hdd.attach=nvme"}, "disks.hdd.attach: nvme needs an NVMe drive, this disk is sata"},
		"usb of sata":         {[]string{"disks.hdd.attach=usb"}, "disks.hdd.attach: usb needs a USB disk"},
		"pci of a loop":       {[]string{"disks.hdd.claim=S3", "disks.hdd.attach=pci"}, "disks.hdd.attach: pci needs a disk on a PCI controller"},
		"attach unclaimed":    {[]string{"disks.ssd={size: 1GiB, attach: lun}"}, "disks.ssd.attach: is for a claimed disk"},
		"neither of the two":  {[]string{"disks.ssd={bus: scsi}"}, "disks.ssd.size: key is missing (or give claim)"},
		"unknown attach mode": {[]string{"disks.ssd.attach=nvm"}, `disks.ssd.attach: unknown attach mode "nvm"`},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := ParseStudy("s.yaml", []byte(claimedStudy), "", c.sets)
			_, err := Expand(s.Claimed(shelf), fakeRegistry{})
			var input *InputError
			if !errors.As(err, &input) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v\nwant %s", err, c.want)
			}
		})
	}
	s, _ := ParseStudy("s.yaml", []byte(claimedStudy), "", nil)
	if _, err := Expand(s, fakeRegistry{}); err == nil || !strings.Contains(err.Error(), "no claims of this host were looked at") {
		t.Errorf("without claims: %v", err)
	}
}

// TestRealSuccessors: a replay on real disks does not say that emulated devices ran.
func TestRealSuccessors(t *testing.T) {
	const text = claimedStudy + "successors:\n  - {was: RAID, now: emulated device hdd-7200, reason: limits}\n  - {was: MySQL 5, now: MariaDB, reason: age}\n"
	for name, c := range map[string]struct {
		sets []string
		want string
	}{
		"real":     {nil, "real hdd, ssd"},
		"emulated": {[]string{"disks.hdd={size: 1GiB, preset: hdd-7200}"}, "emulated device hdd-7200"},
	} {
		s, err := ParseStudy("s.yaml", []byte(text), "", c.sets)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Expand(s.Claimed(shelf), fakeRegistry{})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Successors; got[0].Now != c.want || got[1].Now != "MariaDB" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
