package blockdev

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"crypto/sha256"
	"encoding/hex"

	"golang.org/x/sys/unix"
)

// Owner is who holds a disk: a process, told from a later one with its number by its start and the boot.
type Owner struct {
	User     string `json:"user"`
	PID      int    `json:"pid"`
	PIDStart int64  `json:"pid_start"` // clock ticks since boot
	BootID   string `json:"boot_id"`
	Run      string `json:"run,omitempty"`
	Trial    string `json:"trial,omitempty"`
	Machine  string `json:"machine,omitempty"` // name of the domain
}

// String is the owner as messages name it.
func (o Owner) String() string {
	text := fmt.Sprintf("%s's platter (process %d", o.User, o.PID)
	if o.Run != "" {
		text += ", run " + o.Run
	}
	return text + ")"
}

// NewOwner is this process.
func NewOwner() (Owner, error) {
	o := Owner{PID: os.Getpid(), User: strconv.Itoa(os.Getuid())}
	if u, err := user.Current(); err == nil {
		o.User = u.Username
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return o, fmt.Errorf("read the boot id: %w", err)
	}
	o.BootID = strings.TrimSpace(string(boot))
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return o, fmt.Errorf("read our own start: %w", err)
	}
	// The name in field 2 may hold spaces and parentheses; it ends at the last. The start is field 22.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 {
		return o, fmt.Errorf("read our own start: stat has %d fields", len(fields)+2)
	}
	o.PIDStart, err = strconv.ParseInt(fields[19], 10, 64)
	return o, err
}

// HeldError says that another platter has a disk.
type HeldError struct {
	Serial string
	Owner  Owner
	Since  time.Time
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("disk %s is held by %s since %s; wait for it with --wait-for-disks, or stop that run", e.Serial, e.Owner, e.Since.Local().Format(time.DateTime))
}

// lease is the right of one platter of this host to a disk. It is a file named by the disk's serial. Its lock is the
// right, and ends with the process however that ends; its text only says whose it is.
type lease struct {
	file *os.File
	Lease
}

// Lease is the text of a lease file.
type Lease struct {
	Schema string    `json:"schema"`
	Serial string    `json:"serial"`
	Owner  Owner     `json:"owner"`
	Since  time.Time `json:"since"`
}

const leaseSchema = "platter.lease/1"

// LeaseDir is where all users' leases of this host lie.
func LeaseDir() string {
	for _, dir := range []string{"/run/lock", "/var/lock"} {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir + "/platter"
		}
	}
	return "/tmp/platter-leases"
}

// fileOf names a disk's file; serials hold characters that file names cannot.
func fileOf(serial string) string {
	sum := sha256.Sum256([]byte(serial))
	return hex.EncodeToString(sum[:8]) + ".json"
}

// takeLease takes the lease of a disk or returns a *HeldError. dead is the owner that died with it, if any.
func takeLease(dir, serial string, owner Owner) (l *lease, dead *Owner, err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, nil, fmt.Errorf("take the lease of disk %s: %w", serial, err)
	}
	os.Chmod(dir, 0o1777) // all users lease here; whoever is not its owner finds it so already
	f, err := openLease(filepath.Join(dir, fileOf(serial)))
	if err != nil {
		return nil, nil, fmt.Errorf("take the lease of disk %s: %w", serial, err)
	}
	was := readLease(f)
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, nil, fmt.Errorf("lock the lease of disk %s: %w", serial, err)
		}
		return nil, nil, &HeldError{Serial: serial, Owner: was.Owner, Since: was.Since}
	}
	was = readLease(f) // it may have changed before we had the lock
	if was.Owner.PID != 0 {
		dead = &was.Owner
	}
	l = &lease{file: f, Lease: Lease{Schema: leaseSchema, Serial: serial, Owner: owner, Since: time.Now().UTC().Truncate(time.Second)}}
	text, err := json.Marshal(l.Lease)
	if err == nil {
		err = rewrite(f, append(text, '\n'))
	}
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("write the lease of disk %s: %w", serial, err)
	}
	return l, dead, nil
}

// heldBy tells who has the lease of a disk now, nil for nobody.
func heldBy(dir, serial string) *HeldError {
	f, err := os.Open(filepath.Join(dir, fileOf(serial)))
	if err != nil {
		return nil // nobody ever took it
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB); !errors.Is(err, unix.EWOULDBLOCK) {
		return nil // and the lock, if we got it, ends with the file
	}
	was := readLease(f)
	return &HeldError{Serial: serial, Owner: was.Owner, Since: was.Since}
}

// openLease opens a lease file for reading and writing by all. It is not made where it exists: the kernel keeps root
// from opening others' files in such a directory with O_CREAT.
func openLease(path string) (*os.File, error) {
	const flags = os.O_RDWR | unix.O_NOFOLLOW
	f, err := os.OpenFile(path, flags, 0)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	f, err = os.OpenFile(path, flags|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return os.OpenFile(path, flags, 0)
	}
	if err == nil {
		err = f.Chmod(0o666) // whatever the umask
	}
	return f, err
}

func readLease(f *os.File) (l Lease) {
	data, err := io.ReadAll(io.NewSectionReader(f, 0, 64<<10))
	if err == nil && len(data) > 0 {
		err = json.Unmarshal(data, &l)
	}
	if err != nil {
		l.Owner.User = "somebody" // being written right now
	}
	return l
}

func rewrite(f *os.File, text []byte) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt(text, 0)
	return err
}

// end gives the lease back.
func (l *lease) end() error {
	return errors.Join(rewrite(l.file, nil), l.file.Close())
}
