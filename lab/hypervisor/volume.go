package hypervisor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/docker/go-units"
	"golang.org/x/sys/unix"

	"platter/lab/domain"
)

// Preallocation says whether the blocks of a volume exist before it is used.
type Preallocation string

// PreallocateFull reserves all blocks, PreallocateOff leaves holes that the
// host's file system fills during the measurement.
const (
	PreallocateFull Preallocation = "full"
	PreallocateOff  Preallocation = "off"
)

// reserveBytes must stay free on the file system of the volumes.
const reserveBytes = 256 << 20

// VolumeSpec describes a volume to create.
type VolumeSpec struct {
	Tag           domain.Tag // at least Run; the owner is filled in
	Name          string     // unique within the run
	SizeBytes     int64
	Format        domain.Format // empty: raw
	Preallocation Preallocation // empty: full
}

// Volume is a disk image of a run on the host.
type Volume struct {
	Run, Name     string
	Path          string // on the host, for domain.Disk
	SizeBytes     int64
	Format        domain.Format
	Preallocation Preallocation
	// Method is how the blocks were reserved: "fallocate", "zeroes" on a file
	// system that cannot, or "none".
	Method string
	Probe  Probe // what the directory can do
}

// SpaceError says that a volume does not fit.
type SpaceError struct {
	Dir               string
	NeedBytes         int64 // with the reserve
	AvailableBytes    int64
	VolumeName        string
	VolumeSizeRequest int64
}

func (e *SpaceError) Error() string {
	return fmt.Sprintf("create volume %s of %s: %s has %s free and %s must be; free some space, use smaller disks or choose another --storage-dir",
		e.VolumeName, units.BytesSize(float64(e.VolumeSizeRequest)), e.Dir, units.BytesSize(float64(e.AvailableBytes)), units.BytesSize(float64(e.NeedBytes)))
}

func (s VolumeSpec) withDefaults() (VolumeSpec, error) {
	if s.Format == "" {
		s.Format = domain.Raw
	}
	if s.Preallocation == "" {
		s.Preallocation = PreallocateFull
	}
	switch {
	case s.SizeBytes < 512 || s.SizeBytes%512 != 0:
		return s, fmt.Errorf("create volume %s: size of %d bytes: want a multiple of 512", s.Name, s.SizeBytes)
	case s.Format != domain.Raw && s.Format != domain.QCOW2:
		return s, fmt.Errorf("create volume %s: format %q: want raw or qcow2", s.Name, s.Format)
	case s.Preallocation != PreallocateFull && s.Preallocation != PreallocateOff:
		return s, fmt.Errorf("create volume %s: preallocation %q: want full or off", s.Name, s.Preallocation)
	case s.Name == ownerFile:
		return s, fmt.Errorf("create volume %s: the name is taken", s.Name)
	}
	return s, checkName("volume", s.Name)
}

// CreateVolume makes a volume in the directory of its run. A volume of that
// name that is there already is an error. The error is a *SpaceError when it
// would not fit; nothing is left behind after any error.
func (h *Host) CreateVolume(ctx context.Context, s VolumeSpec) (Volume, error) {
	s, err := s.withDefaults()
	if err != nil {
		return Volume{}, err
	}
	tag, err := ownTag(s.Tag)
	if err != nil {
		return Volume{}, err
	}
	dir, err := h.ensureRun(tag)
	if err != nil {
		return Volume{}, err
	}
	if err := checkSpace(dir, s); err != nil {
		return Volume{}, err
	}
	probe, err := probeDir(dir)
	if err != nil {
		return Volume{}, fmt.Errorf("create volume %s: %w", s.Name, err)
	}
	v := Volume{
		Run: tag.Run, Name: s.Name, Path: filepath.Join(dir, s.Name), SizeBytes: s.SizeBytes,
		Format: s.Format, Preallocation: s.Preallocation, Probe: probe,
	}
	if v.Method, err = v.allocate(ctx); err != nil {
		return Volume{}, err
	}
	if err := h.giveToQEMU(ctx, v.Path); err != nil {
		return Volume{}, errors.Join(err, h.RemoveVolume(v))
	}
	return v, nil
}

// RemoveVolume removes a volume; one that is gone is done.
func (h *Host) RemoveVolume(v Volume) error {
	if filepath.Dir(v.Path) != h.RunDir(v.Run) {
		return fmt.Errorf("remove volume %s: it is not below %s", v.Path, h.RunDir(v.Run))
	}
	if err := os.Remove(v.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove volume %s: %w", v.Name, err)
	}
	return nil
}

func checkSpace(dir string, s VolumeSpec) error {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return fmt.Errorf("create volume %s: ask %s for its space: %w", s.Name, dir, err)
	}
	available := int64(st.Bavail) * st.Bsize
	if need := s.SizeBytes + reserveBytes; available < need {
		return &SpaceError{Dir: dir, NeedBytes: need, AvailableBytes: available, VolumeName: s.Name, VolumeSizeRequest: s.SizeBytes}
	}
	return nil
}

// allocate makes the image file and says how its blocks were reserved.
func (v Volume) allocate(ctx context.Context) (method string, err error) {
	f, err := os.OpenFile(v.Path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return "", fmt.Errorf("create volume %s: %w", v.Name, err)
	}
	defer f.Close()
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(v.Path))
		}
	}()
	if v.Format == domain.QCOW2 {
		return v.makeQCOW2(ctx)
	}
	if err := f.Truncate(v.SizeBytes); err != nil {
		return "", fmt.Errorf("create volume %s: %w", v.Name, err)
	}
	if v.Preallocation == PreallocateOff {
		return "none", nil
	}
	err = unix.Fallocate(int(f.Fd()), 0, 0, v.SizeBytes)
	if err == nil {
		return "fallocate", nil
	}
	if !errors.Is(err, unix.EOPNOTSUPP) && !errors.Is(err, unix.ENOSYS) {
		return "", fmt.Errorf("create volume %s: reserve %d bytes: %w", v.Name, v.SizeBytes, err)
	}
	if err := writeZeroes(ctx, f, v.SizeBytes); err != nil {
		return "", fmt.Errorf("create volume %s: write %d bytes: %w", v.Name, v.SizeBytes, err)
	}
	return "zeroes", nil
}

// makeQCOW2 lets QEMU write its own format over the empty file.
func (v Volume) makeQCOW2(ctx context.Context) (string, error) {
	method := "none"
	option := "preallocation=off"
	if v.Preallocation == PreallocateFull {
		option, method = "preallocation=falloc", "fallocate"
	}
	cmd := exec.CommandContext(ctx, "qemu-img", "create", "-q", "-f", "qcow2", "-o", option, v.Path, fmt.Sprint(v.SizeBytes))
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("create volume %s: qemu-img: %w: %s", v.Name, err, oneLine(string(out)))
	}
	return method, nil
}

func writeZeroes(ctx context.Context, f *os.File, size int64) error {
	chunk := make([]byte, 4<<20)
	for offset := int64(0); offset < size; offset += int64(len(chunk)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := f.WriteAt(chunk[:min(int64(len(chunk)), size-offset)], offset); err != nil {
			return err
		}
	}
	return f.Sync()
}

// giveToQEMU makes the user that QEMU runs as the owner of a volume. libvirt
// does so for the disks it knows; NVMe disks on QEMU's command line are none of
// them.
func (h *Host) giveToQEMU(ctx context.Context, path string) error {
	if h.addr.mode != SystemMode || h.env.uid != 0 {
		return nil
	}
	info, err := h.Info(ctx)
	if err != nil {
		return err
	}
	if err := os.Chown(path, info.QEMUUID, info.QEMUGID); err != nil {
		return fmt.Errorf("give %s to QEMU's user: %w", path, err)
	}
	return nil
}
