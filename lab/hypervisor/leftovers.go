package hypervisor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/digitalocean/go-libvirt"
	"golang.org/x/sys/unix"

	"platter/lab/domain"
)

// Scope says which of our things count as left over.
type Scope int

// DeadOwners are things whose process has ended; Everything is all that carries
// our tag, that of running studies too.
const (
	DeadOwners Scope = iota
	Everything
)

// LeftoverKind is what a leftover is.
type LeftoverKind string

// The kinds of leftovers.
const (
	LeftoverDomain LeftoverKind = "domain"
	LeftoverRun    LeftoverKind = "run"  // directory with volumes and consoles
	LeftoverTemp   LeftoverKind = "temp" // half-made file or directory
)

// Leftover is something of ours that nobody needs.
type Leftover struct {
	Kind      LeftoverKind
	Name      string // of the domain or run, or the file's
	Path      string // on the host; empty for a domain
	UUID      string // of a domain
	Reason    string
	Tag       domain.Tag // zero for LeftoverTemp
	SizeBytes int64      // allocated on the host
}

// staleAfter is the age from which a temporary directory is nobody's.
const staleAfter = 10 * time.Minute

// Leftovers lists what carries our tag and is not needed: domains first, then
// run directories, then temporary files. Only domains with our metadata and
// directories with our owner file are looked at. What could be found is
// returned also with an error.
func (h *Host) Leftovers(ctx context.Context, scope Scope) ([]Leftover, error) {
	domains, err := h.leftoverDomains(ctx, scope)
	runs, runErr := h.leftoverRuns(scope)
	temps, tempErr := h.leftoverTemps()
	all := append(append(domains, runs...), temps...)
	return all, errors.Join(err, runErr, tempErr)
}

func (h *Host) leftoverDomains(ctx context.Context, scope Scope) ([]Leftover, error) {
	list, err := ask(ctx, h, "ConnectListAllDomains", queryLimit, func(lv *libvirt.Libvirt) ([]libvirt.Domain, error) {
		domains, _, err := lv.ConnectListAllDomains(1, 0)
		return domains, err
	})
	if err != nil {
		return nil, fmt.Errorf("list the machines: %w", err)
	}
	var found []Leftover
	var errs []error
	for _, dom := range list {
		tag, ours, err := h.domainTag(ctx, dom)
		if err != nil {
			errs = append(errs, fmt.Errorf("look at machine %s: %w", dom.Name, err))
			continue
		}
		if reason, left := leftReason(tag, scope); ours && left {
			found = append(found, Leftover{Kind: LeftoverDomain, Name: dom.Name, UUID: uuidText(dom.UUID), Reason: reason, Tag: tag})
		}
	}
	return found, errors.Join(errs...)
}

// domainTag reads a domain's tag. A domain without one, or that has vanished
// since it was listed, is not ours.
func (h *Host) domainTag(ctx context.Context, dom libvirt.Domain) (domain.Tag, bool, error) {
	text, err := ask(ctx, h, "DomainGetMetadata", queryLimit, func(lv *libvirt.Libvirt) (string, error) {
		return lv.DomainGetMetadata(dom, int32(libvirt.DomainMetadataElement), libvirt.OptString{domain.Namespace}, libvirt.DomainAffectCurrent)
	})
	if gone(err) || errorCode(err) == libvirt.ErrNoDomainMetadata {
		return domain.Tag{}, false, nil
	}
	if err != nil {
		return domain.Tag{}, false, err
	}
	tag, err := domain.ParseTagElement(text)
	return tag, true, err
}

// leftReason says why something with this tag is left over, if it is.
func leftReason(tag domain.Tag, scope Scope) (string, bool) {
	owner := fmt.Sprintf("process %d of %s", tag.PID, tag.OwnerName)
	switch {
	case !ownerAlive(tag):
		return "its owner, " + owner + ", has ended", true
	case scope == Everything:
		return "asked for, although its owner, " + owner + ", still runs", true
	}
	return "", false
}

func (h *Host) leftoverRuns(scope Scope) ([]Leftover, error) {
	dirs, err := filepath.Glob(globEscape(h.storage) + "/" + runPrefix + "*")
	if err != nil {
		return nil, fmt.Errorf("list the runs in %s: %w", h.storage, err)
	}
	var found []Leftover
	for _, dir := range dirs {
		tag, err := readOwner(dir)
		if err != nil {
			h.log.Debug("not a run directory of ours", "dir", dir, "err", err)
			continue
		}
		if reason, left := leftReason(tag, scope); left {
			found = append(found, Leftover{Kind: LeftoverRun, Name: tag.Run, Path: dir, Reason: reason, Tag: tag, SizeBytes: diskUsage(dir)})
		}
	}
	return found, nil
}

// leftoverTemps lists files that a process left half-made. Those in the making
// are locked, or too young.
func (h *Host) leftoverTemps() ([]Leftover, error) {
	var found []Leftover
	var errs []error
	for _, pattern := range []string{imagesDir + "/" + stagePrefix, newPrefix, probePrefix} {
		paths, err := filepath.Glob(globEscape(h.storage) + "/" + pattern + "*")
		errs = append(errs, err)
		inRuns, err := filepath.Glob(globEscape(h.storage) + "/" + runPrefix + "*/" + pattern + "*")
		errs = append(errs, err)
		for _, path := range append(paths, inRuns...) {
			if stale(path, strings.Contains(pattern, stagePrefix)) {
				found = append(found, Leftover{Kind: LeftoverTemp, Name: filepath.Base(path), Path: path, Reason: "half-made and abandoned", SizeBytes: diskUsage(path)})
			}
		}
	}
	return found, errors.Join(errs...)
}

// stale tells whether nobody works on a temporary file.
func stale(path string, locked bool) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	if !locked {
		return time.Since(info.ModTime()) > staleAfter
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() // gives the lock back
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}

// diskUsage is what a file or tree takes of its file system.
func diskUsage(path string) int64 {
	var total int64
	_ = filepath.WalkDir(path, func(p string, _ fs.DirEntry, err error) error {
		var st unix.Stat_t
		if err == nil && unix.Lstat(p, &st) == nil {
			total += st.Blocks * 512
		}
		return nil // the size is for information; what cannot be seen counts nothing
	})
	return total
}

// globEscape keeps a directory's own special characters out of a pattern.
func globEscape(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

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
	m.dom = libvirt.Domain{Name: l.Name, UUID: m.id, ID: -1}
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
	defer m.removeLog()
	return m.awaitExit(ctx)
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

func uuidText(id libvirt.UUID) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[0:4], id[4:6], id[6:8], id[8:10], id[10:16])
}

// sameOwner tells whether two tags name the same run of the same process.
func sameOwner(a, b domain.Tag) bool {
	return a.Run == b.Run && a.BootID == b.BootID && a.PID == b.PID && a.PIDStart == b.PIDStart
}
