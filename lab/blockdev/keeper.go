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
