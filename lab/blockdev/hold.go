package blockdev

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Hold is a disk in our hands: nobody else can mount it, make a filesystem on it or hand it out. It ends with Release.
type Hold struct {
	Disk   Disk
	Claim  Claim
	Before Record
	After  *Record // set by Release
	keeper Keeper
	node   *os.File // open exclusively, locked; nil after LetGo
	lease  *lease
	state  state
}

// acquire tries once. Locks are taken from the widest to the narrowest, and everything is looked at again under them.
func (k Keeper) acquire(claim Claim, owner Owner) (_ *Hold, err error) {
	if time.Now().After(claim.ExpiresAt) {
		return nil, fmt.Errorf("disk %s: its claim ended on %s; claim it again", claim.Passport.Serial, claim.ExpiresAt.Format(time.DateOnly))
	}
	serial := claim.Passport.Serial
	l, dead, err := takeLease(k.LeaseDir, serial, owner)
	if err != nil {
		return nil, err
	}
	h := &Hold{Claim: claim, keeper: k, lease: l}
	defer func() {
		if err != nil {
			h.drop()
		}
	}()
	if dead != nil {
		k.Say(fmt.Sprintf("disk %s: the lease of %s is dead, its process has ended; taken over", serial, dead))
	}
	if h.Disk, err = k.find(k.Host, claim); err != nil {
		return nil, err
	}
	if err = h.lock(); err != nil {
		return nil, err
	}
	// Exclusive opens would find ourselves now: that we could do it was the test.
	again := k.Host
	again.Exclusive = func(string) error { return nil }
	if h.Disk, err = k.find(again, claim); err != nil {
		return nil, err
	}
	if err = h.sameNode(); err != nil {
		return nil, err
	}
	return h, h.open(owner)
}

// open records what lies on the disk and proves that it was given up.
func (h *Hold) open(owner Owner) (err error) {
	if h.Before, err = NewRecord(h.node, h.Disk.Passport.SizeBytes, h.Disk.Signatures); err != nil {
		return fmt.Errorf("record disk %s: %w", h.Claim.Passport.Serial, err)
	}
	last, err := h.keeper.loadState(h.Claim.Passport.Serial)
	if err != nil {
		return err
	}
	note, err := h.Claim.consented(last, h.Before, owner.BootID)
	if err != nil {
		return err
	}
	if note != "" {
		h.keeper.Say(note)
	}
	h.state = state{Schema: stateSchema, Serial: h.Claim.Passport.Serial, Owner: owner, HandedOver: time.Now().UTC(), Before: h.Before}
	return h.keeper.saveState(h.state)
}

// lock opens the node exclusively, which keeps everybody from mounting it, and locks it, which keeps udev from probing.
func (h *Hold) lock() error {
	fd, err := unix.Open(h.Disk.Node, unix.O_RDONLY|unix.O_EXCL|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.EBUSY) {
		return &RefusedError{h.Claim.Passport.Serial, []Reason{{Busy, "was taken by somebody this very moment"}}}
	}
	if err != nil {
		return fmt.Errorf("open %s exclusively: %w", h.Disk.Node, err)
	}
	h.node = os.NewFile(uintptr(fd), h.Disk.Node)
	if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return &RefusedError{h.Claim.Passport.Serial, []Reason{{Open, "is locked by another process, perhaps udev (" + err.Error() + ")"}}}
	}
	return nil
}

// sameNode proves that the node leads to the very device that we hold open.
func (h *Hold) sameNode() error {
	held, err := h.node.Stat()
	if err != nil {
		return fmt.Errorf("look at %s: %w", h.Disk.Node, err)
	}
	now, err := os.Stat(h.Disk.Node)
	if err != nil {
		return fmt.Errorf("look at %s: %w", h.Disk.Node, err)
	}
	a, okA := deviceNumber(held)
	b, okB := deviceNumber(now)
	if !okA || !okB || a != b {
		return fmt.Errorf("disk %s: %s leads to another device (%s) than a moment ago (%s)", h.Claim.Passport.Serial, h.Disk.Node, b, a)
	}
	size, err := h.node.Seek(0, 2)
	if err != nil || size != h.Claim.Passport.SizeBytes {
		return fmt.Errorf("disk %s: %s has %d bytes, claimed were %d (%v)", h.Claim.Passport.Serial, h.Disk.Node, size, h.Claim.Passport.SizeBytes, err)
	}
	return nil
}

// LetGo ends the exclusive open while the lease stays, for a device that is about to be taken from its driver: its node
// will be gone.
func (h *Hold) LetGo() error {
	err := h.node.Close()
	h.node = nil
	return err
}

// Regain opens the disk again after its driver was restored.
func (h *Hold) Regain() error {
	d, err := h.keeper.find(h.keeper.Host, h.Claim)
	if err != nil {
		return err
	}
	h.Disk = d
	return h.lock()
}
