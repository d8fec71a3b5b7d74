package blockdev

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"platter/results"
)

// ClaimsSchema is the identity of the claims file's format.
const ClaimsSchema = "platter.claims/1"

// Uses that a claim may allow beside what every claim allows: that all that lies on the disk is overwritten.
const (
	Overwrite = "overwrite" // hand it over as a block device or as a whole SCSI LUN
	Discard   = "discard"   // discard the whole disk before each trial
	Detach    = "detach"    // take it from the host's driver, for PCI, NVMe and USB passthrough
)

// Uses are all that a claim may allow.
var Uses = []string{Overwrite, Discard, Detach}

// Claim is a person's consent that platter destroys what lies on one disk.
type Claim struct {
	Passport  Passport    `json:"passport"`
	Uses      []string    `json:"uses"`
	GivesUp   []Signature `json:"gives_up"` // what lay on it then
	Content   Record      `json:"content"`  // how it began and ended then
	ClaimedAt time.Time   `json:"claimed_at"`
	ExpiresAt time.Time   `json:"expires_at"`
	By        string      `json:"by"` // user
}

// Allows tells whether a claim covers a use.
func (c Claim) Allows(use string) bool { return slices.Contains(c.Uses, use) }

// Claims is the claims file: plain JSON that a person can read and edit.
type Claims struct {
	Schema string  `json:"schema"`
	Claims []Claim `json:"claims"`
	path   string
}

// ClaimsPath is where claims are kept unless a flag says otherwise: platter/claims.json in the user's configuration.
func ClaimsPath() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find the claims file: %w", err)
	}
	return filepath.Join(dir, "platter", "claims.json"), nil
}

// LoadClaims reads a claims file; one that is not there holds no claims. A file of another version, with unknown keys or
// writable by others is refused: it decides what is destroyed.
func LoadClaims(path string) (Claims, error) {
	none := Claims{Schema: ClaimsSchema, path: path}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return none, nil
	}
	if err != nil {
		return none, fmt.Errorf("read the claims: %w", err)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return none, fmt.Errorf("read the claims: others may write %s (mode %o), so it proves nobody's consent; chmod go-w it", path, info.Mode().Perm())
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return none, fmt.Errorf("read the claims: %w", err)
	}
	c := Claims{path: path}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return none, fmt.Errorf("read the claims in %s: %w", path, err)
	}
	if c.Schema != ClaimsSchema {
		return none, fmt.Errorf("read the claims in %s: schema %q, this platter knows %s", path, c.Schema, ClaimsSchema)
	}
	return c, c.check()
}

func (c Claims) check() error {
	for i, claim := range c.Claims {
		if claim.Passport.Serial == "" || claim.Passport.SizeBytes <= 0 || claim.ExpiresAt.IsZero() {
			return fmt.Errorf("read the claims in %s: claim %d lacks serial, size or expiry", c.path, i)
		}
		for _, use := range claim.Uses {
			if !slices.Contains(Uses, use) {
				return fmt.Errorf("read the claims in %s: claim of %s allows %q; there are %s", c.path, claim.Passport.Serial, use, strings.Join(Uses, ", "))
			}
		}
		for _, other := range c.Claims[:i] {
			if other.Passport.Serial == claim.Passport.Serial {
				return fmt.Errorf("read the claims in %s: %s is claimed twice", c.path, claim.Passport.Serial)
			}
		}
	}
	return nil
}

// Save writes the claims file, whole or not at all.
func (c Claims) Save() error {
	if err := os.MkdirAll(filepath.Dir(c.path), 0o700); err != nil {
		return fmt.Errorf("keep the claims: %w", err)
	}
	return writeJSON(c.path, c)
}

// Add puts a claim in, in place of an earlier one of the same disk.
func (c *Claims) Add(claim Claim) {
	c.Remove(claim.Passport.Serial)
	c.Claims = append(c.Claims, claim)
}

// Remove ends a claim and tells whether there was one.
func (c *Claims) Remove(serial string) bool {
	n := len(c.Claims)
	c.Claims = slices.DeleteFunc(c.Claims, func(have Claim) bool { return have.Passport.Serial == serial })
	return len(c.Claims) < n
}

// Find returns the claim a word names: a serial, a WWN, or the hash of a serial that plans hold. Kernel names are
// refused, since they change hands.
func (c Claims) Find(word string, now time.Time) (Claim, error) {
	if strings.HasPrefix(word, "/dev/") && !strings.HasPrefix(word, "/dev/disk/by-id/") || kernelName(word) {
		return Claim{}, fmt.Errorf("disk %q: kernel names change hands between boots; name the disk by its serial (platter disks lists them)", word)
	}
	var found []Claim
	for _, claim := range c.Claims {
		p := claim.Passport
		if named(p, word) {
			found = append(found, claim)
		}
	}
	switch {
	case len(found) == 0:
		return Claim{}, fmt.Errorf("disk %q: nobody has claimed it; look at it with `platter disks` and consent with `platter disks claim %s`", word, word)
	case len(found) > 1:
		return Claim{}, fmt.Errorf("disk %q: %d claims have this name; use the serial", word, len(found))
	case now.After(found[0].ExpiresAt):
		return Claim{}, fmt.Errorf("disk %q: its claim ended on %s; claim it again", word, found[0].ExpiresAt.Format(time.DateOnly))
	}
	return found[0], nil
}

// named tells whether a word means a disk.
func named(p Passport, word string) bool {
	return p.Serial != "" && (p.Serial == word || results.HashIdentity(p.Serial) == word) || p.WWN != "" && strings.EqualFold(p.WWN, word)
}

// kernelName tells names like sdb, nvme0n1p2, vda and loop3.
func kernelName(word string) bool {
	for _, prefix := range []string{"sd", "vd", "hd", "xvd", "nvme", "loop", "dm-", "md", "mmcblk"} {
		rest, ok := strings.CutPrefix(word, prefix)
		if ok && len(rest) > 0 && len(rest) <= 6 && strings.Trim(rest, "abcdefghijklmnopqrstuvwxyz0123456789") == "" {
			return true
		}
	}
	return false
}

// writeJSON replaces a file by a document, whole or not at all.
func writeJSON(path string, document any) error {
	data, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Write(append(data, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
