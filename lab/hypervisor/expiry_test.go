package hypervisor

import (
	"strings"
	"testing"
	"time"

	"platter/lab/domain"
)

// TestLeftReason: an expiry decides where the owner cannot be seen, and over a living owner only when that is asked for.
func TestLeftReason(t *testing.T) {
	alive, err := NewTag("r")
	if err != nil {
		t.Fatal(err)
	}
	with := func(tag domain.Tag, change func(*domain.Tag)) domain.Tag {
		change(&tag)
		return tag
	}
	past := func(tag *domain.Tag) { tag.Expires = time.Now().Add(-time.Hour) }
	never := func(tag *domain.Tag) { tag.Expires = time.Time{} }
	elsewhere := with(alive, func(tag *domain.Tag) { tag.PIDNamespace++ })
	unknown := with(alive, func(tag *domain.Tag) { tag.PIDNamespace = 0 }) // of an earlier platter
	for _, c := range []struct {
		name string
		tag  domain.Tag
		want [3]string // by scope: what the reason says, "" for not left
	}{
		{"alive", alive, [3]string{"", "", "asked for"}},
		{"alive, of an earlier platter", unknown, [3]string{"", "", "asked for"}},
		{"alive and expired", with(alive, past), [3]string{"", "expired on", "expired on"}},
		{"alive, never to expire", with(alive, never), [3]string{"", "", "asked for"}},
		{"dead", deadTag(t, "r"), [3]string{"has ended", "has ended", "has ended"}},
		{"dead and expired", with(deadTag(t, "r"), past), [3]string{"has ended", "has ended", "has ended"}},
		{"in another container", elsewhere, [3]string{"", "", "may still run"}},
		{"in another container and expired", with(elsewhere, past), [3]string{"cannot be seen", "cannot be seen", "cannot be seen"}},
		{"in another container before a reboot", with(elsewhere, func(tag *domain.Tag) { tag.BootID = "b" }), [3]string{"has ended", "has ended", "has ended"}},
	} {
		for scope, want := range c.want {
			reason, left := leftReason(c.tag, Scope(scope))
			if left != (want != "") || !strings.Contains(reason, want) {
				t.Errorf("%s, scope %d: %v, %q, want %q", c.name, scope, left, reason, want)
			}
		}
	}
}

// TestRunRenewed: a run that goes on does not expire, and a resumed one belongs to its new process; the owner file of
// another living process is left alone.
func TestRunRenewed(t *testing.T) {
	h := unitHost(t, "")
	tag := deadTag(t, "r")
	tag.Expires = time.Now().UTC().Add(-time.Minute).Truncate(time.Second)
	dir := ownRun(t, h, tag)
	for _, c := range []struct {
		name string
		tag  domain.Tag
	}{
		{"renewed", RenewTag(tag)},
		{"resumed", RenewTag(func() domain.Tag { own, _ := NewTag("r"); return own }())},
	} {
		ownRun(t, h, c.tag)
		if got, err := readOwner(dir); err != nil || got != c.tag {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
	if _, err := h.ensureRun(tag); err == nil || !strings.Contains(err.Error(), "still runs") {
		t.Errorf("a dead process takes the run of a living one: %v", err)
	}
	if names := strings.Join(filesIn(t, dir), " "); names != "data0 owner.json" {
		t.Errorf("the run holds %q", names)
	}
}
