package images

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// ManifestSchema names the shape of manifest.json.
const ManifestSchema = "platter.image/1"

// Manifest says exactly what an image holds and how it was made.
type Manifest struct {
	Schema string `json:"schema"`
	// Format is the builder's revision, images.Format when it was built.
	Format       int    `json:"format"`
	Recipe       Recipe `json:"recipe"`
	RecipeDigest string `json:"recipe_digest"`
	// Packages are ordered by name and architecture.
	Packages []Package `json:"packages"`
	// Outputs has one entry a file of the image, without the manifest.
	Outputs         map[string]Output `json:"outputs"`
	KernelVersion   string            `json:"kernel_version,omitempty"`
	Mirror          string            `json:"mirror"`
	AptOptions      []string          `json:"apt_options"`
	Arch            string            `json:"arch"`
	SourceDateEpoch int64             `json:"source_date_epoch"`
	BuiltAt         time.Time         `json:"built_at"`
	BuildSeconds    float64           `json:"build_seconds"`
	// Tarball is set for images made of one.
	Tarball *TarballFacts `json:"tarball,omitempty"`
}

// TarballFacts say what was found in a tarball and what it was built upon.
type TarballFacts struct {
	Source string `json:"source"`
	Suite  string `json:"suite"`  // of the libraries
	Server string `json:"server"` // the server's program, below TarballDir
}

// Package is one installed Debian package. SHA256 is the digest of its .deb as
// the signed package index of the archive states it.
type Package struct {
	Name         string `json:"name"`
	Version      string `json:"version"`
	Architecture string `json:"architecture"`
	SHA256       string `json:"sha256,omitempty"`
}

// Output is one file of an image.
type Output struct {
	SHA256    string `json:"sha256"`
	SizeBytes int64  `json:"size_bytes"`
}

// Digest returns the identity of the image's content, "sha256:" and 64
// hexadecimal digits: packages and outputs, and not when or how fast it was
// built. Results carry it, so equal digests mean equal bytes.
func (m Manifest) Digest() string {
	canonical, err := json.Marshal(struct {
		RecipeDigest string            `json:"recipe_digest"`
		Packages     []Package         `json:"packages"`
		Outputs      map[string]Output `json:"outputs"`
	}{m.RecipeDigest, m.Packages, m.Outputs})
	if err != nil {
		panic(fmt.Sprintf("encode manifest of %s: %v", m.Recipe.Name, err)) // plain data always encodes
	}
	sum := sha256.Sum256(canonical)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Encode returns the manifest as indented JSON with a final newline.
func (m Manifest) Encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(m); err != nil {
		return nil, fmt.Errorf("encode manifest of %s: %w", m.Recipe.Name, err)
	}
	return b.Bytes(), nil
}

// DecodeManifest reads a manifest and refuses another schema.
func DecodeManifest(data []byte) (Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("decode image manifest: %w", err)
	}
	if m.Schema != ManifestSchema {
		return m, fmt.Errorf("decode image manifest: schema %q, want %q", m.Schema, ManifestSchema)
	}
	return m, nil
}
