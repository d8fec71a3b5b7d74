package report

import (
	"strings"
	"testing"

	"platter/results"
)

// TestPassthroughTitle: a report on real disks says so in its title, with passports.
func TestPassthroughTitle(t *testing.T) {
	var seen titles
	seen.add(results.Result{Disks: []results.DiskFacts{{Name: "flash", Kind: "block", Passport: &results.Passport{Serial: "sha256:01", SizeBytes: 5, Transport: "nvme"}}, {Name: "made", Kind: "file"}}})
	got := sorted(seen.passthrough)
	if len(got) != 1 || got[0] != "flash (serial sha256:01, 5 bytes, nvme)" {
		t.Errorf("%q", got)
	}
	title := (&Model{Study: "s", Passthrough: got}).Title()
	if !strings.Contains(title, "passthrough: flash (serial sha256:01") {
		t.Error(title)
	}
}
