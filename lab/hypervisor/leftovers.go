package hypervisor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/digitalocean/go-libvirt"
	"golang.org/x/sys/unix"

	"platter/lab/domain"
)

// Scope says which of our things count as left over.
type Scope int

// DeadOwners are things whose process has ended, or that have expired where it
// cannot be seen whether it has; Expired are these and the expired things of
// processes that still run; Everything is all that carries our tag, that of
// running studies too.
const (
	DeadOwners Scope = iota
	Expired
	Everything
)

// LeftoverKind is what a leftover is.
type LeftoverKind string

// The kinds of leftovers.
const (
	LeftoverDomain LeftoverKind = "domain"
	LeftoverRun    LeftoverKind = "run"  // directory with volumes and consoles
	LeftoverTemp   LeftoverKind = "temp" // half-made file or directory
	// LeftoverImage is a staged image, a copy that the next run would make
	// again; it is listed only when everything is asked for.
	LeftoverImage LeftoverKind = "image"
)

// Leftover is something of ours that nobody needs.
type Leftover struct {
	Kind      LeftoverKind
	Name      string // of the domain or run, or the file's
	Path      string // on the host; empty for a domain
	UUID      string // of a domain
	Reason    string
	Tag       domain.Tag // zero for LeftoverTemp and LeftoverImage
	Since     time.Time  // when its run began, or a file of no run was last written
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
	all := slices.Concat(domains, runs, temps)
	if scope == Everything {
		all = append(all, h.stagedImages()...)
	}
	return all, errors.Join(err, runErr, tempErr)
}

// stagedName is how Stage names what it keeps.
var stagedName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*-[0-9a-f]{16}$`)

func (h *Host) stagedImages() []Leftover {
	entries, err := os.ReadDir(filepath.Join(h.storage, imagesDir))
	if err != nil {
		return nil // nothing was ever staged
	}
	var found []Leftover
	for _, e := range entries {
		if e.Type().IsRegular() && stagedName.MatchString(e.Name()) {
			path := filepath.Join(h.storage, imagesDir, e.Name())
			found = append(found, Leftover{Kind: LeftoverImage, Name: e.Name(), Path: path, Reason: "a copy from the image cache", Since: lastWritten(path), SizeBytes: diskUsage(path)})
		}
	}
	return found
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
			found = append(found, Leftover{Kind: LeftoverDomain, Name: dom.Name, UUID: uuidText(dom.UUID), Reason: reason, Tag: tag, Since: tag.Created})
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
	state, over := stateOf(tag), expired(tag, time.Now())
	since := "expired on " + tag.Expires.UTC().Format(time.DateTime) + " UTC"
	switch {
	case state == ownerEnded:
		return "its owner, " + owner + ", has ended", true
	case state == ownerUnseen && over:
		return since + "; its owner, " + owner + " in another container, cannot be seen", true
	case state == ownerRuns && over && scope != DeadOwners:
		return since + ", although its owner, " + owner + ", still runs", true
	case scope == Everything && state == ownerUnseen:
		return "asked for, although its owner, " + owner + " in another container, may still run", true
	case scope == Everything:
		return "asked for, although its owner, " + owner + ", still runs", true
	}
	return "", false
}

// lastWritten is a file's time of change, zero when it is gone.
func lastWritten(path string) time.Time {
	info, err := os.Lstat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
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
			found = append(found, Leftover{Kind: LeftoverRun, Name: tag.Run, Path: dir, Reason: reason, Tag: tag, Since: tag.Created, SizeBytes: diskUsage(dir)})
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
				found = append(found, Leftover{Kind: LeftoverTemp, Name: filepath.Base(path), Path: path, Reason: "half-made and abandoned", Since: lastWritten(path), SizeBytes: diskUsage(path)})
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
