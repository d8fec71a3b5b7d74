package blockdev

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Keeper acquires disks. Zero fields get their defaults.
type Keeper struct {
	Host     Host
	LeaseDir string // default LeaseDir()
	StateDir string // default platter/disks in the user's state directory
	Say      func(string)
}

// RefusedError says why a disk is not handed over. Nothing was written to it.
type RefusedError struct {
	Serial  string
	Reasons []Reason
}

func (e *RefusedError) Error() string {
	texts := make([]string, len(e.Reasons))
	for i, r := range e.Reasons {
		texts[i] = r.Text
	}
	return fmt.Sprintf("disk %s is refused: %s", e.Serial, strings.Join(texts, "; "))
}

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

func (k Keeper) defaults() (Keeper, error) {
	if k.Host.FS == nil {
		k.Host = Local()
	}
	if k.LeaseDir == "" {
		k.LeaseDir = LeaseDir()
	}
	if k.Say == nil {
		k.Say = func(string) {}
	}
	if k.StateDir == "" {
		dir := os.Getenv("XDG_STATE_HOME")
		if dir == "" {
			home, err := os.UserHomeDir()
			if err != nil {
				return k, fmt.Errorf("find the state directory: %w", err)
			}
			dir = filepath.Join(home, ".local", "state")
		}
		k.StateDir = filepath.Join(dir, "platter", "disks")
	}
	return k, nil
}

// Find looks for the disk of a claim and says whether it could be acquired now; it takes nothing. The error is a
// *RefusedError or says that the disk is not there or another one.
func (k Keeper) Find(claim Claim) (Disk, error) {
	k, err := k.defaults()
	if err != nil {
		return Disk{}, err
	}
	if held := heldBy(k.LeaseDir, claim.Passport.Serial); held != nil {
		return Disk{}, held
	}
	return k.find(k.Host, claim)
}

func (k Keeper) find(h Host, claim Claim) (Disk, error) {
	inv, err := Read(h)
	if err != nil {
		return Disk{}, err
	}
	serial := claim.Passport.Serial
	d, err := inv.Resolve(serial)
	if gone, ok := inv.orphan(claim.Passport); err != nil && ok {
		return gone, &RefusedError{serial, gone.Refusals}
	}
	if err != nil {
		return Disk{}, fmt.Errorf("%w: it was claimed as %s", err, claim.Passport)
	}
	if differs := claim.Passport.Differences(d.Passport); len(differs) > 0 {
		return d, fmt.Errorf("disk %s is not the one that was claimed: %s", serial, strings.Join(differs, "; "))
	}
	if !d.Free() {
		return d, &RefusedError{serial, d.Refusals}
	}
	return d, nil
}

// Acquire takes a claimed disk for as long as a machine has it. Where another platter has it, or a process has it open
// for a moment, it tries again until wait has passed.
func (k Keeper) Acquire(ctx context.Context, claim Claim, owner Owner, wait time.Duration) (*Hold, error) {
	k, err := k.defaults()
	if err != nil {
		return nil, err
	}
	patience := time.Now().Add(wait)
	moment := time.Now().Add(3 * time.Second)
	for {
		h, err := k.acquire(claim, owner)
		if err == nil || !passing(err, time.Now().Before(moment)) && !(Passes(err) && time.Now().Before(patience)) {
			return h, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w while waiting: %w", context.Cause(ctx), err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// Passes tells a refusal that ends by itself: another platter has the disk, or a process has it open.
func Passes(err error) bool {
	var held *HeldError
	return errors.As(err, &held) || onlyOpen(err)
}

// passing tells what usually ends within moments: a udev worker, a blkid, a machine of a killed platter that is ending.
func passing(err error, soon bool) bool { return soon && onlyOpen(err) }

func onlyOpen(err error) bool {
	var refused *RefusedError
	return errors.As(err, &refused) && !slices.ContainsFunc(refused.Reasons, func(r Reason) bool { return r.Code != Open && r.Code != Busy })
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

// releaseWait is how long the machine's process may take to close the disk.
const releaseWait = 10 * time.Second

// Release gives the disk back: it makes sure that nobody has it open, flushes, records what lies there, reads the
// partition table again, and lets go of the locks last. A disk that is still open stays locked until this process ends.
func (h *Hold) Release() error { return h.release(releaseWait) }

func (h *Hold) release(wait time.Duration) error {
	deadline := time.Now().Add(wait)
	for {
		users := h.users()
		if len(users) == 0 {
			break
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("release disk %s: %s; it stays locked while this process lives", h.Claim.Passport.Serial, strings.Join(users, ", "))
		}
		time.Sleep(100 * time.Millisecond)
	}
	var errs []error
	if h.node != nil {
		errs = append(errs, flushBuffers(h.node), h.recordAfter(), rereadPartitions(h.node))
	}
	now := time.Now().UTC()
	h.state.ReleasedAt, h.state.After = &now, h.After
	errs = append(errs, h.keeper.saveState(h.state), h.drop())
	return errors.Join(errs...)
}

func (h *Hold) recordAfter() error {
	found, err := h.keeper.Host.Signatures(h.Disk.Node)
	if err != nil {
		return fmt.Errorf("record disk %s: %w", h.Claim.Passport.Serial, err)
	}
	for i := range found {
		found[i].Device = h.Disk.Name
	}
	after, err := NewRecord(h.node, h.Disk.Passport.SizeBytes, found)
	if err != nil {
		return fmt.Errorf("record disk %s: %w", h.Claim.Passport.Serial, err)
	}
	h.After = &after
	return nil
}

// users names the processes that have the disk open, other than ours.
func (h *Hold) users() (out []string) {
	again := h.keeper.Host
	again.Exclusive = func(string) error { return nil }
	inv, err := Read(again)
	if err != nil {
		return []string{err.Error()} // what cannot be seen may be in use
	}
	for _, d := range inv.Disks {
		if d.Passport.Serial != h.Claim.Passport.Serial {
			continue
		}
		for _, r := range d.Refusals {
			if r.Code == Open {
				out = append(out, r.Text)
			}
		}
	}
	return out
}

// drop lets go of everything, the lease last.
func (h *Hold) drop() error {
	var err error
	if h.node != nil {
		err = h.node.Close()
		h.node = nil
	}
	return errors.Join(err, h.lease.end())
}

func (k Keeper) statePath(serial string) string { return filepath.Join(k.StateDir, fileOf(serial)) }

func (k Keeper) loadState(serial string) (*state, error) {
	data, err := os.ReadFile(k.statePath(serial))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var s state
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		return nil, fmt.Errorf("read what is known of disk %s: %w", serial, err)
	}
	return &s, nil
}

func (k Keeper) saveState(s state) error {
	if err := os.MkdirAll(k.StateDir, 0o700); err != nil {
		return fmt.Errorf("keep what is known of disk %s: %w", s.Serial, err)
	}
	return writeJSON(k.statePath(s.Serial), s)
}
