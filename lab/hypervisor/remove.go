package hypervisor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/digitalocean/go-libvirt"

	"platter/lab/domain"
)

// Remove removes one leftover, after making sure that it still is what it was
// when it was found. What is gone is done. Each is independent: an error says
// nothing about the others.
func (h *Host) Remove(ctx context.Context, l Leftover) error {
	var err error
	switch l.Kind {
	case LeftoverDomain:
		err = h.removeDomain(ctx, l)
	case LeftoverRun:
		err = h.removeRun(l)
	case LeftoverTemp:
		err = h.removeTemp(l)
	case LeftoverImage:
		err = h.removeImage(l)
	default:
		err = errors.New("unknown kind")
	}
	if err != nil {
		return fmt.Errorf("remove %s %s: %w", l.Kind, l.Name, err)
	}
	return nil
}

func (h *Host) removeDomain(ctx context.Context, l Leftover) error {
	m, err := newMachine(h, domain.Spec{Name: l.Name, UUID: l.UUID}, "")
	if err != nil {
		return err
	}
	m.dom = m.identity()
	tag, ours, err := h.domainTag(ctx, m.dom)
	if err != nil || !ours {
		return err
	}
	if !sameOwner(tag, l.Tag) {
		return errors.New("it has another owner by now")
	}
	if err := m.findProcess(); err != nil {
		h.log.Debug("QEMU's process is not visible", "machine", l.Name, "err", err)
	}
	if _, err := h.destroyDomain(ctx, m.dom); err != nil {
		return err
	}
	if err := h.undefineDomain(ctx, m.dom); err != nil {
		return err
	}
	defer m.removeLog()
	return m.awaitExit(ctx)
}

// undefineDomain takes back what makes a domain outlive its end. Machines of
// ours are transient, but one that somebody defined, saved or snapshot by hand
// is not any more, and libvirt refuses to forget such a domain unless each of
// these is named. A domain that is gone by now is done.
func (h *Host) undefineDomain(ctx context.Context, dom libvirt.Domain) error {
	const all = libvirt.DomainUndefineManagedSave | libvirt.DomainUndefineSnapshotsMetadata |
		libvirt.DomainUndefineNvram | libvirt.DomainUndefineCheckpointsMetadata
	_, err := ask(ctx, h, "DomainUndefineFlags", destroyLimit, func(lv *libvirt.Libvirt) (struct{}, error) {
		return struct{}{}, lv.DomainUndefineFlags(dom, all)
	})
	if gone(err) || errorCode(err) == libvirt.ErrOperationInvalid { // transient: about to go by itself
		return nil
	}
	return err
}

func (h *Host) removeRun(l Leftover) error {
	tag, err := readOwner(h.RunDir(l.Tag.Run))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !sameOwner(tag, l.Tag) {
		return errors.New("it has another owner by now")
	}
	return h.RemoveRun(l.Tag.Run)
}

func (h *Host) removeTemp(l Leftover) error {
	rel, err := filepath.Rel(h.storage, l.Path)
	base := filepath.Base(l.Path)
	named := strings.HasPrefix(base, stagePrefix) || strings.HasPrefix(base, newPrefix) || strings.HasPrefix(base, probePrefix)
	if err != nil || !filepath.IsLocal(rel) || !named {
		return fmt.Errorf("%s is not a temporary file of ours", l.Path)
	}
	return os.RemoveAll(l.Path)
}

func (h *Host) removeImage(l Leftover) error {
	if filepath.Dir(l.Path) != filepath.Join(h.storage, imagesDir) || !stagedName.MatchString(filepath.Base(l.Path)) {
		return fmt.Errorf("%s is not a staged image of ours", l.Path)
	}
	if err := os.Remove(l.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func uuidText(id libvirt.UUID) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[0:4], id[4:6], id[6:8], id[8:10], id[10:16])
}

// sameOwner tells whether two tags name the same run of the same process.
func sameOwner(a, b domain.Tag) bool {
	return a.Run == b.Run && a.BootID == b.BootID && a.PID == b.PID && a.PIDStart == b.PIDStart && a.PIDNamespace == b.PIDNamespace
}
