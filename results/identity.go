package results

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"github.com/gowebpki/jcs"
)

// maxExactInteger is the largest integer every JSON reader keeps exactly (2^53).
var maxExactInteger = big.NewInt(1 << 53)

// CanonicalJSON returns the one byte sequence RFC 8785 allows for a value: sorted keys, no blanks, shortest numbers.
// It refuses NaN, infinities, and integers beyond 2^53, which RFC 8785 would round silently.
func CanonicalJSON(v any) ([]byte, error) {
	plain, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("canonical json: %w", err)
	}
	if err := checkIntegers(plain); err != nil {
		return nil, fmt.Errorf("canonical json: %w", err)
	}
	canonical, err := jcs.Transform(plain)
	if err != nil {
		return nil, fmt.Errorf("canonical json: %w", err)
	}
	return canonical, nil
}

// Digest returns "sha256:" and 64 hex digits: the SHA-256 of a value's canonical JSON.
func Digest(v any) (string, error) {
	canonical, err := CanonicalJSON(v)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(canonical)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// CellID identifies a cell of the matrix. The definition holds what makes the cell (factors, machine, disks, storage,
// server, steps) and nothing that varies between its rounds, and no free text.
func CellID(definition any) (string, error) { return Digest(definition) }

// EnvID identifies where a trial ran: two results with one EnvID ran on hosts that differ in nothing platter looks at.
// The study's own choices (disks, memory of the machine) belong to the cell, platter's version to the software.
func EnvID(h HostFacts, accel string) string {
	h.PlatterVersion = ""
	return mustDigest(struct {
		Host  HostFacts `json:"host"`
		Accel string    `json:"accel"`
	}{h, accel})
}

// SoftwareID identifies what ran in the guest: kernel, images byte for byte, server. Facts a failed trial never
// learnt are left out, so a trial that died early has another SoftwareID than its completed neighbours.
func SoftwareID(g *GuestFacts, images []ImageRef, s *ServerFacts, platterVersion string) string {
	id := struct {
		Platter string     `json:"platter"`
		Kernel  string     `json:"kernel"`
		Arch    string     `json:"arch"`
		Images  []ImageRef `json:"images"`
		Flavour string     `json:"flavour"`
		Version string     `json:"version"`
	}{Platter: platterVersion, Images: images}
	if g != nil {
		id.Kernel, id.Arch = g.Kernel, g.Arch
	}
	if s != nil {
		id.Flavour, id.Version = s.Flavour, s.Version
	}
	return mustDigest(id)
}

// mustDigest is for structures of plain strings and small integers, which always have a digest.
func mustDigest(v any) string {
	digest, err := Digest(v)
	if err != nil {
		panic(err)
	}
	return digest
}

// checkIntegers walks the tokens of a document and refuses integers that a float64 cannot hold.
func checkIntegers(document []byte) error {
	decoder := json.NewDecoder(strings.NewReader(string(document)))
	decoder.UseNumber()
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return err
		}
		number, ok := token.(json.Number)
		if !ok || strings.ContainsAny(number.String(), ".eE") {
			continue
		}
		n, ok := new(big.Int).SetString(number.String(), 10)
		if ok && n.CmpAbs(maxExactInteger) > 0 {
			return fmt.Errorf("integer %s is beyond 2^53 and would be rounded; store it as a string or keep it smaller", number)
		}
	}
	return nil
}
