package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"platter/lab"
	"platter/lab/blockdev"
	"platter/lab/domain"
	"platter/lab/hypervisor"
	"platter/results"
)

// Passthrough is how a run gets at real disks. A run without any needs none.
type Passthrough struct {
	Claims  func(serial string) (blockdev.Claim, error) // by serial or its hash
	Keeper  blockdev.Keeper
	Owner   blockdev.Owner
	Wait    time.Duration // how long to wait for a disk that another platter has
	Full    bool          // results keep serials as they are, instead of hashes of them
	Devices NodeDevices

	hostdevs []domain.Hostdev // of the machine that runs now
}

// NodeDevices takes PCI functions from their driver and gives them back.
type NodeDevices interface {
	Detach(ctx context.Context, address string) error
	Reattach(ctx context.Context, address string) error
}

// machine is what the machine gets beside disks.
func (p *Passthrough) machine() []domain.Hostdev {
	if p == nil {
		return nil
	}
	return p.hostdevs
}

// realDisk is a disk of the host in the hands of a trial.
type realDisk struct {
	*trial
	disk   lab.Disk
	hold   *blockdev.Hold
	health blockdev.Health // before
}

// handOver acquires a claimed disk for the trial's machine and registers how it is given back. It returns false when the
// machine gets it as a device instead of a disk.
func (t *trial) handOver(ctx context.Context, undo *cleanup, d lab.Disk) (domain.Disk, bool, error) {
	what := "hand over disk " + d.Name
	p := t.Passthrough
	if p == nil {
		return domain.Disk{}, false, &lab.InputError{Err: fmt.Errorf("%s: this run was given no claims", what)}
	}
	claim, err := p.Claims(d.Passport.Serial)
	if err == nil {
		if differs := d.Passport.Differences(claim.Passport); len(differs) > 0 {
			err = fmt.Errorf("the plan was made for another disk: %s", strings.Join(differs, "; "))
		}
	}
	if err != nil {
		return domain.Disk{}, false, &lab.InfraError{What: what, Err: err}
	}
	owner := p.Owner
	owner.Run, owner.Trial = t.Store.ID(), t.ID
	keeper := p.Keeper
	keeper.Say = func(line string) {
		t.emit(lab.RunEvent{Kind: lab.LogLine, Trial: t.Name, TrialID: t.ID, Index: t.Index + 1, Level: "warn", Message: line})
	}
	t.identities = append(t.identities, claim.Passport)
	hold, err := keeper.Acquire(ctx, claim, owner, p.Wait)
	if err != nil {
		return domain.Disk{}, false, &lab.InfraError{What: what, Err: err}
	}
	r := &realDisk{trial: t, disk: d, hold: hold}
	r.tellSerial()
	undo.add("release disk "+d.Name, r.release)
	r.askHealth(ctx, "before", hold.Disk.Node)
	if claim.Allows(blockdev.Discard) {
		if err := hold.Discard(); err != nil {
			return domain.Disk{}, false, &lab.InfraError{What: what, Err: err}
		}
	}
	effective, err := hypervisor.ResolveCache(hypervisor.CacheMode{Cache: domain.Cache(d.Cache), IO: domain.IO(d.IO)}, hypervisor.Probe{DirectIO: true, IOURing: true})
	if err != nil {
		return domain.Disk{}, false, &lab.InputError{Err: fmt.Errorf("disk %s: %w", d.Name, err)}
	}
	r.facts(effective)
	return r.attach(ctx, undo, effective)
}

// attach chooses the way.
func (r *realDisk) attach(ctx context.Context, undo *cleanup, effective hypervisor.CacheMode) (domain.Disk, bool, error) {
	d, p := r.disk, r.hold.Disk.Passport
	volume := hypervisor.Volume{Name: d.Name, Path: r.hold.Disk.Node, SizeBytes: p.SizeBytes, Format: domain.Raw}
	disk := dataDisk(d, volume, effective)
	switch d.Attach {
	case lab.AttachLUN:
		disk.Kind = domain.LUN
	case lab.AttachNVMe, lab.AttachPCI:
		if err := r.takeController(ctx, undo); err != nil {
			return disk, false, &lab.InfraError{What: "hand over disk " + d.Name, Err: err}
		}
		if d.Attach == lab.AttachPCI {
			r.Passthrough.hostdevs = append(r.Passthrough.hostdevs, domain.Hostdev{Name: d.Serial, PCI: domain.PCIAddress(p.PCIAddress)})
			return disk, false, nil
		}
		disk.Kind, disk.Path, disk.PCI, disk.Namespace = domain.NVMeNamespace, "", domain.PCIAddress(p.PCIAddress), p.Namespace
	case lab.AttachUSB:
		bus, device, err := blockdev.Local().USBDevice(r.hold.Disk)
		if err = errors.Join(err, r.mayDetach()); err == nil {
			err = r.hold.LetGo() // QEMU takes the device from the host's driver
		}
		if err != nil {
			return disk, false, &lab.InfraError{What: "hand over disk " + d.Name, Err: err}
		}
		r.Passthrough.hostdevs = append(r.Passthrough.hostdevs, domain.Hostdev{Name: d.Serial, USBBus: bus, USBDevice: device})
		return disk, false, nil
	default:
		disk.Kind = domain.Block
	}
	return disk, true, nil
}

func (r *realDisk) mayDetach() error {
	if r.hold.Claim.Allows(blockdev.Detach) {
		return nil
	}
	return fmt.Errorf("attach: %s takes the disk from the host's driver, which its claim does not allow; claim it again with --use %s", r.disk.Attach, blockdev.Detach)
}

// takeController takes the controller of a disk from its driver, once it is clear what hangs on it.
func (r *realDisk) takeController(ctx context.Context, undo *cleanup) error {
	if err := r.mayDetach(); err != nil {
		return err
	}
	host := blockdev.Local()
	inv, err := blockdev.Read(host)
	if err != nil {
		return err
	}
	var given []string
	for _, d := range r.Plan.Destroys() {
		given = append(given, d.Passport.Serial)
	}
	if reasons := inv.Controller(host, r.hold.Disk, given); len(reasons) > 0 {
		return &blockdev.RefusedError{Serial: r.hold.Disk.Passport.Serial, Reasons: reasons}
	}
	if err := r.hold.LetGo(); err != nil { // its node will be gone
		return err
	}
	c := &controller{devices: r.Passthrough.Devices, host: host, address: r.hold.Disk.Passport.PCIAddress}
	undo.add("give "+c.address+" back to its driver", c.giveBack)
	return c.take(ctx)
}

// facts are what results say of the disk. The serial is hashed unless somebody wants it shown.
func (r *realDisk) facts(effective hypervisor.CacheMode) {
	p := r.hold.Disk.Passport
	facts := results.DiskFacts{Name: r.disk.Name, Serial: r.disk.Serial, Kind: r.disk.Attach, SizeBytes: p.SizeBytes, Bus: r.disk.Bus,
		CacheAsked: r.disk.Cache, CacheEffective: string(effective.Cache), IOEffective: string(effective.IO), Preallocation: "off"}
	if !r.Passthrough.Full {
		p = p.Hashed()
	}
	if r.disk.OwnSerial() {
		facts.Serial = p.Serial
	}
	facts.Passport = &p
	r.trial.disks = append(r.trial.disks, facts)
	r.setting("disk", r.disk.Name+".cache", r.disk.Cache, facts.CacheEffective)
	r.setting("disk", r.disk.Name+".io", r.disk.IO, facts.IOEffective)
	r.setting("disk", r.disk.Name+".passthrough", r.disk.Attach, r.disk.Attach)
}

// tellSerial tells the guest the serial of a disk that it sees as it is, which the plan does not hold.
func (r *realDisk) tellSerial() {
	if !r.disk.OwnSerial() {
		return
	}
	r.Job.Disks = slices.Clone(r.Job.Disks) // the plan's
	for i := range r.Job.Disks {
		if r.Job.Disks[i].Name == r.disk.Name {
			r.Job.Disks[i].Serial = r.hold.Disk.Passport.Serial
		}
	}
}

// hide replaces serials and WWNs of the trial's real disks by hashes in what is kept, unless somebody wants them shown.
func (t *trial) hide(text string) string {
	if t.Passthrough == nil || t.Passthrough.Full {
		return text
	}
	for _, p := range t.identities {
		text = p.Hide(text)
	}
	return text
}

// askHealth keeps what the drive says of its condition, where it has anything to say.
func (r *realDisk) askHealth(ctx context.Context, when, node string) {
	health, err := blockdev.ReadHealth(ctx, node)
	if err != nil {
		if !errors.Is(err, blockdev.ErrNoSMART) {
			r.Log.Warn("ask a drive for its condition", "disk", r.disk.Name, "error", err)
		}
		return
	}
	r.probes = append(r.probes, results.Probe{Name: "smart", When: when, Note: "disk " + r.disk.Name, Values: health})
	if when == "before" {
		r.health = health
	} else if how, hot := blockdev.Throttled(r.health, health); hot {
		r.flag(results.Flag{Name: "thermal", Detail: fmt.Sprintf("disk %s may have been slowed down by heat: %s", r.disk.Name, how)})
	}
}

// regainWait is how long a disk may take to come back after its driver did.
const regainWait = 30 * time.Second

// release gives the disk back when its machine is gone. What it leaves is kept beside the result.
func (r *realDisk) release(ctx context.Context) error {
	r.Passthrough.hostdevs = nil
	var err error
	if r.disk.Attach != lab.AttachBlock && r.disk.Attach != lab.AttachLUN {
		err = r.regain(ctx)
	}
	r.askHealth(ctx, "after", r.hold.Disk.Node)
	err = errors.Join(err, r.hold.Release())
	document, jsonErr := json.MarshalIndent(map[string]any{"before": r.hold.Before, "after": r.hold.After}, "", "  ")
	if jsonErr != nil {
		return errors.Join(err, jsonErr)
	}
	r.keep("effective/disk-"+r.disk.Name+".json", append(document, '\n'))
	return err
}

// regain opens the disk again, as soon as the driver shows it.
func (r *realDisk) regain(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, regainWait)
	defer cancel()
	for {
		err := r.hold.Regain()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the disk did not come back within %s: %w", regainWait, err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}
