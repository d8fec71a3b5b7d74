package server

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"unsafe"

	"platter/results"
)

// probeDirect tells whether a file in the directory can be written with O_DIRECT, as InnoDB does by default on most
// systems. The error names the likely cause beside the number.
func probeDirect(dir string) error {
	name := filepath.Join(dir, ".platter-direct")
	defer os.Remove(name)
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|syscall.O_DIRECT, 0o600)
	if err != nil {
		return fmt.Errorf("open with O_DIRECT: %w", explainIO(err))
	}
	defer f.Close()
	if _, err := f.WriteAt(alignedBlock(), 0); err != nil {
		return fmt.Errorf("write 4096 bytes with O_DIRECT: %w", explainIO(err))
	}
	return nil
}

// alignedBlock is 4096 bytes at an address that is a multiple of 4096, which direct writes need.
func alignedBlock() []byte {
	const size = 4096
	b := make([]byte, 2*size)
	skip := (size - int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))%size)) % size
	return b[skip : skip+size]
}

// explainIO adds what an error number means where a database meets it.
func explainIO(err error) error {
	for number, cause := range map[syscall.Errno]string{
		syscall.EINVAL: "the filesystem has no direct I/O, or its device has larger sectors", syscall.EOPNOTSUPP: "the filesystem does not support it",
		syscall.ENOSPC: "the disk is full", syscall.EROFS: "the filesystem is mounted read-only", syscall.EACCES: "the owner or the mode is wrong", syscall.EAGAIN: "the kernel's limit of asynchronous requests (fs.aio-max-nr) is reached",
	} {
		if errors.Is(err, number) {
			return fmt.Errorf("%w: %s", err, cause)
		}
	}
	return err
}

// checkDirect refuses a configuration that asks for direct I/O where there is none, and flags a server that will fall back
// on its own.
func (s *Server) checkDirect() error {
	err := probeDirect(s.DataDir())
	if err == nil {
		return nil
	}
	if o, ok := find(s.options, "innodb-flush-method"); ok && strings.HasPrefix(strings.ToUpper(o.value), "O_DIRECT") {
		return fmt.Errorf("option %s=%s: %s: %w", o.asked, o.value, s.DataDir(), err)
	}
	s.flags = append(s.flags, results.Flag{Name: "no_direct_io", Detail: err.Error()})
	return nil
}

// fallbacks are the lines with which a server says at its start that it does I/O in another way than configured.
var fallbacks = regexp.MustCompile(`(?i)(native AIO|io_setup|io_uring|liburing|O_DIRECT|punch hole|fallocate|DIRECT_IO).*(fail|disabl|fall|not support|unsupport|error|cannot|unable|refus)`)

// ioFlags finds such lines in a log.
func ioFlags(log string) []results.Flag {
	var flags []results.Flag
	for line := range strings.Lines(log) {
		if fallbacks.MatchString(line) {
			flags = append(flags, results.Flag{Name: "io_fallback", Detail: strings.TrimSpace(line)})
		}
	}
	return flags
}
