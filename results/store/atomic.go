package store

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

const (
	dirMode  = 0o755
	fileMode = 0o644
)

// writeAtomic puts a file in place whole or not at all: temporary name beside it, fsync, rename, fsync of the directory.
func writeAtomic(path string, write func(io.Writer) error) error {
	pending, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)), renameio.WithPermissions(fileMode))
	if err != nil {
		return explain(path, err)
	}
	if err := write(pending); err != nil {
		return errors.Join(explain(path, err), ignoreNotExist(pending.Cleanup()))
	}
	if err := pending.CloseAtomicallyReplace(); err != nil {
		return errors.Join(explain(path, err), ignoreNotExist(pending.Cleanup()))
	}
	return syncDir(filepath.Dir(path))
}

// writeBytes is writeAtomic for data at hand.
func writeBytes(path string, data []byte) error {
	return writeAtomic(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// writeJSON is writeAtomic for a document, indented so that people can read it.
func writeJSON(path string, document any) error {
	data, err := encode(document)
	if err != nil {
		return explain(path, err)
	}
	return writeBytes(path, data)
}

func encode(document any) ([]byte, error) {
	data, err := json.MarshalIndent(document, "", "  ")
	return append(data, '\n'), err
}

// syncDir makes a rename or a new name survive a power cut.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// ignoreNotExist is for clean-ups that may find their work done.
func ignoreNotExist(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
