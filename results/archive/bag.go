package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// The tag files of a bag, in their order in the archive; the payload follows.
const (
	bagitFile       = "bagit.txt"
	infoFile        = "bag-info.txt"
	readmeFile      = "README.txt"
	manifestFile    = "manifest-sha256.txt"
	tagManifestFile = "tagmanifest-sha256.txt"
	payload         = "data/"
)

const bagitText = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"

// item is one file of the payload.
type item struct {
	name   string // as in the bag: data/<run>/…
	path   string // on the host
	bytes  int64
	sha256 string
}

// bag is what a packed file is made of.
type bag struct {
	name  string // of the base directory
	runs  []string
	date  time.Time
	items []item // sorted by name
}

// tagFile is a small file of the bag, whole.
type tagFile struct {
	name string
	text []byte
}

// tagFiles makes the files that describe the payload. They depend on nothing but the payload.
func (b bag) tagFiles() []tagFile {
	var manifest bytes.Buffer
	total := int64(0)
	for _, it := range b.items {
		fmt.Fprintf(&manifest, "%s  %s\n", it.sha256, it.name)
		total += it.bytes
	}
	var info strings.Builder
	fmt.Fprintf(&info, "Bagging-Date: %s\n", b.date.UTC().Format(time.DateOnly))
	fmt.Fprintf(&info, "Bag-Software-Agent: platter pack 1\n")
	for _, id := range b.runs {
		fmt.Fprintf(&info, "External-Identifier: %s\n", id)
	}
	fmt.Fprintf(&info, "Payload-Oxum: %d.%d\n", total, len(b.items))
	files := []tagFile{
		{bagitFile, []byte(bagitText)}, {infoFile, []byte(info.String())},
		{readmeFile, []byte(b.readme())}, {manifestFile, manifest.Bytes()},
	}
	var tags strings.Builder
	for _, f := range files {
		digest := sha256.Sum256(f.text)
		fmt.Fprintf(&tags, "%s  %s\n", hex.EncodeToString(digest[:]), f.name)
	}
	return append(files, tagFile{tagManifestFile, []byte(tags.String())})
}

func (b bag) readme() string {
	return fmt.Sprintf(`This is a BagIt bag (RFC 8493): run folders of platter, which measures what disks, filesystems and configurations do
to MySQL. Everything can be read and checked with tar, zstd and coreutils:

    tar --zstd -xf FILE.tar.zst
    cd %s
    sha256sum --check --quiet tagmanifest-sha256.txt
    sha256sum --check --quiet manifest-sha256.txt

Each folder below data/ is one run; its README.txt says what lies where and how to read the numbers:

    %s

With platter: "platter verify FILE.tar.zst" checks everything, "platter import FILE.tar.zst" puts the runs beside others.
The last zstd frame, which zstd and tar pass over, is an index of the frames before it: "tail -c 4096 FILE.tar.zst".
`, b.name, strings.Join(b.runs, "\n    "))
}
