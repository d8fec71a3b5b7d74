package domain

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Namespace marks our element in a domain's <metadata>. A domain without it is
// not ours and is never touched.
const Namespace = "urn:x-platter:domain:1"

// Tag says whose a domain or a run directory is, so that what a dead process
// left behind can be told from what a living one still needs. The process is
// named by boot id, pid and start time, since pids are reused. It is written
// into the domain's metadata and, as JSON, beside the volumes of a run.
type Tag struct {
	OwnerUID  int    `json:"owner_uid"`
	OwnerName string `json:"owner_name"`
	Run       string `json:"run"`
	Trial     string `json:"trial,omitempty"`
	BootID    string `json:"boot_id"`   // /proc/sys/kernel/random/boot_id of the owner's machine
	PID       int    `json:"pid"`       // of the process that owns the run
	PIDStart  int64  `json:"pid_start"` // field 22 of /proc/PID/stat, clock ticks since boot
	// PIDNamespace is the inode of the owner's PID namespace. From another one, that of another container, it cannot be
	// seen whether the owner lives; 0 is unknown and taken for the reader's own.
	PIDNamespace uint64    `json:"pid_namespace,omitempty"`
	Created      time.Time `json:"created"`
	Expires      time.Time `json:"expires"` // zero: never
}

func (t Tag) faults() Faults {
	var f Faults
	f.addIf(t.Run == "", "run", "is empty; leftovers are found by run")
	f.addIf(t.BootID == "", "boot_id", "is empty")
	f.addIf(t.PID < 1, "pid", "%d is not a process", t.PID)
	f.addIf(t.Created.IsZero(), "created", "is missing")
	for field, text := range map[string]string{"owner_name": t.OwnerName, "run": t.Run, "trial": t.Trial, "boot_id": t.BootID} {
		f.addIf(!xmlSafe(text), field, "%q holds a control character or is not UTF-8", text)
	}
	return f
}

// tagXML is the tag as the one element of our namespace that libvirt allows.
type tagXML struct {
	XMLName   xml.Name `xml:"platter:tag"`
	Namespace string   `xml:"xmlns:platter,attr"`
	tagAttrs
}

type tagAttrs struct {
	OwnerUID  int    `xml:"owner_uid,attr"`
	OwnerName string `xml:"owner_name,attr"`
	Run       string `xml:"run,attr"`
	Trial     string `xml:"trial,attr,omitempty"`
	BootID    string `xml:"boot_id,attr"`
	PID       int    `xml:"pid,attr"`
	PIDStart  int64  `xml:"pid_start,attr"`
	Namespace uint64 `xml:"pid_namespace,attr,omitempty"`
	Created   string `xml:"created,attr"`
	Expires   string `xml:"expires,attr,omitempty"`
}

// metadata renders the tag for libvirt's <metadata>.
func (t Tag) metadata() (string, error) {
	attrs := tagAttrs{
		OwnerUID: t.OwnerUID, OwnerName: t.OwnerName, Run: t.Run, Trial: t.Trial,
		BootID: t.BootID, PID: t.PID, PIDStart: t.PIDStart, Namespace: t.PIDNamespace,
		Created: t.Created.UTC().Format(time.RFC3339),
	}
	if !t.Expires.IsZero() {
		attrs.Expires = t.Expires.UTC().Format(time.RFC3339)
	}
	text, err := xml.Marshal(tagXML{Namespace: Namespace, tagAttrs: attrs})
	return string(text), err
}

// ParseTag reads the tag from a domain's XML.
// It reports false for a domain that does not carry our namespace, and an error
// for one that does but cannot be understood; such a domain is to be left alone.
func ParseTag(text string) (Tag, bool, error) {
	dec := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return Tag{}, false, nil
		}
		if err != nil {
			return Tag{}, false, fmt.Errorf("read domain XML: %w", err)
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Space != Namespace {
			continue
		}
		tag, err := decodeTag(dec, start)
		return tag, true, err
	}
}

// ParseTagElement reads the tag from the element that libvirt returns when asked
// for our namespace; it leaves the namespace itself out.
func ParseTagElement(text string) (Tag, error) {
	dec := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := dec.Token()
		if err != nil {
			return Tag{}, fmt.Errorf("read our tag: %w", err)
		}
		if start, ok := token.(xml.StartElement); ok {
			return decodeTag(dec, start)
		}
	}
}

func decodeTag(dec *xml.Decoder, start xml.StartElement) (Tag, error) {
	var attrs tagAttrs
	if err := dec.DecodeElement(&attrs, &start); err != nil {
		return Tag{}, fmt.Errorf("read our tag: %w", err)
	}
	return attrs.tag()
}

func (a tagAttrs) tag() (Tag, error) {
	t := Tag{
		OwnerUID: a.OwnerUID, OwnerName: a.OwnerName, Run: a.Run, Trial: a.Trial,
		BootID: a.BootID, PID: a.PID, PIDStart: a.PIDStart, PIDNamespace: a.Namespace,
	}
	var err error
	if t.Created, err = time.Parse(time.RFC3339, a.Created); err != nil {
		return t, fmt.Errorf("read our tag: created: %w", err)
	}
	if a.Expires == "" {
		return t, nil
	}
	if t.Expires, err = time.Parse(time.RFC3339, a.Expires); err != nil {
		return t, fmt.Errorf("read our tag: expires: %w", err)
	}
	return t, nil
}
