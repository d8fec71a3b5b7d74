// Package provenance writes what others' tools read about a run: an RO-Crate (what lies in the folder), an in-toto
// statement with SLSA's predicate (what the results were made from), and an SPDX list of the packages of an image.
//
// It is pure: facts in, documents out, the same for the same facts. results/store calls it when a run ends, before
// SHA256SUMS is written, so that these documents are covered by it.
package provenance

import "time"

// Run is what a run folder knows of itself when it ends.
type Run struct {
	ID, Study, Question, Status, Reason string
	PlanDigest                          string // sha256:…
	Version                             string // of platter
	Command                             []string
	Started, Ended                      time.Time
	Files                               []File // of the folder, in order, without the documents of this package
	Images                              []Image
}

// File is one file of a run folder.
type File struct {
	Name   string // with slashes, relative to the folder
	SHA256 string // hexadecimal
	Bytes  int64
}

// Image is what the manifest of an image says.
type Image struct {
	Name         string
	RecipeDigest string // sha256:…
	Mirror       string
	BuiltAt      time.Time
	Packages     []Package
	Outputs      []Output
	Distribution *Output // the tarball a server image was made of: its source and digest
}

// Package is an installed Debian package.
type Package struct {
	Name, Version, Architecture string
	SHA256                      string // of its .deb, empty where unknown
}

// Output is a file of an image.
type Output struct{ Name, SHA256 string }
