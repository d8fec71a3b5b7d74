package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"

	"platter/guest"
)

// announceFiles writes the kernel's log and tells every file that is there, with its digest. A file that
// cannot be read is logged and left out: the trial's numbers do not depend on it.
func (t *trial) announceFiles() {
	if err := t.writeKernelLog(); err != nil {
		t.log.Error("write dmesg.log", "error", err)
	}
	for _, name := range guest.Files {
		f, err := describeFile(filepath.Join(t.dir, name))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.log.Error("announce", "file", name, "error", err)
			continue
		}
		f.Name = name
		t.enc.Encode(guest.Event{File: &f})
	}
}

// describeFile digests what a file holds at this moment.
func describeFile(path string) (guest.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return guest.File{}, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return guest.File{}, err
	}
	return guest.File{SizeBytes: n, SHA256: hex.EncodeToString(h.Sum(nil))}, nil
}

// copyFile copies a log out of the server's run directory, the last maxLog bytes of it.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if info, err := in.Stat(); err == nil && info.Size() > maxLog {
		if _, err := in.Seek(-maxLog, io.SeekEnd); err != nil {
			return err
		}
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, io.LimitReader(in, maxLog)); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}

// maxLog bounds a log that is brought home.
const maxLog = 16 << 20
