package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// writeSums writes SHA256SUMS as sha256sum does, so that coreutils can check the folder.
func (r *Run) writeSums() error {
	var sums bytes.Buffer
	err := r.walk(func(name string) error {
		digest, err := digestFile(r.file(name))
		if err == nil {
			fmt.Fprintf(&sums, "%s  %s\n", digest, name)
		}
		return err
	})
	if err != nil {
		return err
	}
	return writeBytes(r.file(SumsFile), sums.Bytes())
}

// walk visits every file that SHA256SUMS covers, in order, by its name with slashes.
func (r *Run) walk(visit func(name string) error) error {
	return r.Files(func(name string, _ fs.DirEntry) error {
		if name == SumsFile {
			return nil
		}
		return visit(name)
	})
}

// Files visits every file that belongs to the run, in order, by its name with slashes: what SHA256SUMS covers and that
// file itself, not what can be made again. Entries that are not plain files are visited too, for the caller to refuse.
func (r *Run) Files(visit func(name string, entry fs.DirEntry) error) error {
	return filepath.WalkDir(r.path, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		relative, err := filepath.Rel(r.path, path)
		if err != nil {
			return err
		}
		if name := filepath.ToSlash(relative); !isRegenerable(name) {
			return visit(name, entry)
		}
		return nil
	})
}

func digestFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// readSums returns the digests of SHA256SUMS by name.
func (r *Run) readSums() (map[string]string, *Problem) {
	data, problem := readFile(r.path, SumsFile, journalLimitBytes)
	if problem != nil {
		return nil, problem
	}
	sums := map[string]string{}
	for number, line := range wholeLines(data) {
		digest, name, ok := strings.Cut(string(line), "  ")
		if !ok || len(digest) != sha256.Size*2 || name == "" {
			return nil, &Problem{SumsFile, Broken, fmt.Errorf("line %d is not a digest and a name", number+1)}
		}
		sums[name] = digest
	}
	return sums, nil
}
