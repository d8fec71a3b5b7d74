package remote

import (
	"errors"
	"fmt"
	"path"

	"github.com/pkg/sftp"
)

// UploadError is a failed upload with its likely cause. Nothing of it is left
// in the guest, except Leftover.
type UploadError struct {
	Name     string
	Needed   int64  // bytes
	Free     int64  // bytes free for us after the clean-up; -1 if unknown
	Cause    error  // ErrNoSpace, ErrReadOnly or nil
	Leftover string // temporary file that could not be removed, or empty
	Err      error  // what the transfer said
}

func (e *UploadError) Error() string {
	message := "upload " + e.Name + ": "
	switch {
	case errors.Is(e.Cause, ErrNoSpace):
		message += fmt.Sprintf("no space: %d bytes free in %s, %d needed; choose another directory or a larger disk", e.Free, path.Dir(e.Name), e.Needed)
	case errors.Is(e.Cause, ErrReadOnly):
		message += fmt.Sprintf("%s is on a read-only filesystem; choose another directory", path.Dir(e.Name))
	default:
		message += e.Err.Error()
	}
	if e.Leftover != "" {
		message += "; left behind: " + e.Leftover
	}
	return message
}

// Unwrap gives both the cause and what the transfer said.
func (e *UploadError) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Err}
	}
	return []error{e.Cause, e.Err}
}

// statvfsReadOnly is SSH_FXE_STATVFS_ST_RDONLY.
const statvfsReadOnly = 1

// explain removes the temporary file and asks the guest's filesystem why the
// transfer failed: SFTP has one code, "failure", for a full disk, a read-only
// one and the rest.
func (u *upload) explain(files *sftpChannel, err error) error {
	e := &UploadError{Name: u.name, Needed: u.size, Free: -1, Err: err}
	var fault *sourceError
	ours := errors.As(err, &fault)
	if u.client.Err() != nil || !ours && isLost(err) {
		return &LostError{Op: "upload " + u.name, Err: err}
	}
	dir := path.Dir(u.temp)
	full := false
	if vfs, err := files.StatVFS(dir); err == nil {
		full = vfs.Bavail*vfs.Frsize < sftpPacket || vfs.Files > 0 && vfs.Favail == 0
	}
	if err := files.Remove(u.temp); err != nil && exists(files, u.temp) {
		e.Leftover = u.temp
	}
	vfs, vfsErr := files.StatVFS(dir)
	if vfsErr != nil || ours {
		return e
	}
	e.Free = int64(vfs.Bavail * vfs.Frsize)
	switch {
	case vfs.Flag&statvfsReadOnly != 0:
		e.Cause = ErrReadOnly
	case isStatusFailure(err) && (full || e.Free < u.size):
		e.Cause = ErrNoSpace
	}
	return e
}

func exists(files *sftpChannel, name string) bool {
	_, err := files.Lstat(name)
	return err == nil
}

// isStatusFailure reports whether err is SFTP's "failure", which says nothing.
func isStatusFailure(err error) bool {
	var status *sftp.StatusError
	return errors.As(err, &status) && status.FxCode() == sftp.ErrSSHFxFailure
}
