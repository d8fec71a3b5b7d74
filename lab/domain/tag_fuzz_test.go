package domain

import (
	"testing"
	"time"
)

// FuzzParseTag reads the XML of domains that others made: it is never ours by accident, and a tag that was read is the
// same after it was written again.
func FuzzParseTag(f *testing.F) {
	tag := machine().Tag
	tag.PIDNamespace = 4026531836
	text, err := tag.metadata()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add("<domain><metadata>" + text + "</metadata></domain>")
	for _, hostile := range []string{"", "<a>", "<tag/>", `<x:tag xmlns:x="urn:x-platter:domain:2" run="r"/>`, `<x:tag xmlns:x="urn:x-platter:domain:1" created="2026"/>`} {
		f.Add(hostile)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tag, ours, err := ParseTag(text)
		_, _ = ParseTagElement(text) // takes the first element for ours; it must not panic
		if !ours || err != nil || len(tag.faults()) > 0 {
			return
		}
		again, err := tag.metadata()
		if err != nil {
			t.Fatalf("%+v cannot be written: %v", tag, err)
		}
		back, ours, err := ParseTag(again)
		tag.Created, tag.Expires = tag.Created.UTC().Truncate(time.Second), tag.Expires.UTC().Truncate(time.Second)
		if !ours || err != nil || back != tag {
			t.Fatalf("%+v came back as %+v, %v", tag, back, err)
		}
	})
}
