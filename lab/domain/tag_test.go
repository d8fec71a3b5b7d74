package domain

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func pciKey(slot, function uint) string { return fmt.Sprintf("pci %#x.%d", slot, function) }

func TestTagRoundTrip(t *testing.T) {
	s := machine()
	s.Tag.Trial = `a<b & "c" 'd' é`
	text, err := Build(s)
	if err != nil {
		t.Fatal(err)
	}
	got, ours, err := ParseTag(text)
	if err != nil || !ours {
		t.Fatalf("ours=%v err=%v", ours, err)
	}
	if diff := cmp.Diff(s.Tag, got); diff != "" {
		t.Errorf("tag changed on the way (-want +got):\n%s", diff)
	}
}

// TestParseTagElement reads what libvirt 9.0 returned for our namespace.
func TestParseTagElement(t *testing.T) {
	const text = `<tag owner_uid="1000" owner_name="ann" run="r1" trial="storage=xfs/round=1" boot_id="4f8a7a1e-0000-4000-8000-000000000001" pid="4711" pid_start="99" created="2026-11-30T18:00:00Z" expires="2026-12-01T18:00:00Z"/>`
	got, err := ParseTagElement(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(machine().Tag, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, bad := range []string{"", "text", "<tag created='x'/>"} {
		if _, err := ParseTagElement(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func TestParseTagOfOthers(t *testing.T) {
	const other = `<domain type='kvm'><name>web</name><metadata><libosinfo:libosinfo xmlns:libosinfo="http://libosinfo.org/xmlns/libvirt/domain/1.0"/></metadata></domain>`
	if _, ours, err := ParseTag(other); ours || err != nil {
		t.Errorf("a foreign domain: ours=%v err=%v", ours, err)
	}
	broken := fmt.Sprintf(`<domain><metadata><p:tag xmlns:p=%q pid="x"/></metadata></domain>`, Namespace)
	if _, ours, err := ParseTag(broken); !ours || err == nil {
		t.Errorf("a tag that cannot be read: ours=%v err=%v, want an error", ours, err)
	}
	noDate := fmt.Sprintf(`<p:tag xmlns:p=%q pid="1" created="yesterday"/>`, Namespace)
	if _, ours, err := ParseTag(noDate); !ours || err == nil || !strings.Contains(err.Error(), "created") {
		t.Errorf("a tag without a date: ours=%v err=%v", ours, err)
	}
}
