package hypervisor

import (
	"fmt"
	"testing"

	"github.com/digitalocean/go-libvirt"
)

func TestLifecycleNames(t *testing.T) {
	cases := []struct {
		event  libvirt.DomainEventType
		detail int32
		want   Event
		known  bool
	}{
		{libvirt.DomainEventStarted, int32(libvirt.DomainEventStartedBooted), Event{Kind: Started, Reason: "booted"}, true},
		{libvirt.DomainEventSuspended, int32(libvirt.DomainEventSuspendedIoerror), Event{Kind: Suspended, Reason: "ioerror"}, true},
		{libvirt.DomainEventResumed, int32(libvirt.DomainEventResumedUnpaused), Event{Kind: Resumed, Reason: "unpaused"}, true},
		{libvirt.DomainEventStopped, int32(libvirt.DomainEventStoppedCrashed), Event{Kind: Stopped, Reason: "crashed"}, true},
		{libvirt.DomainEventStopped, int32(libvirt.DomainEventStoppedFailed), Event{Kind: Stopped, Reason: "failed"}, true},
		{libvirt.DomainEventCrashed, int32(libvirt.DomainEventCrashedPanicked), Event{Kind: Crashed, Reason: "panicked"}, true},
		{libvirt.DomainEventShutdown, 99, Event{Kind: Shutdown, Reason: "unknown"}, true},
		{libvirt.DomainEventDefined, 0, Event{}, false},
	}
	for _, c := range cases {
		got, known := lifecycle(libvirt.DomainEventLifecycleMsg{Event: int32(c.event), Detail: c.detail})
		if got != c.want || known != c.known {
			t.Errorf("event %d/%d is %+v, %v", c.event, c.detail, got, known)
		}
	}
}

// TestStateReasons pins the word lists to libvirt's numbers.
func TestStateReasons(t *testing.T) {
	cases := []struct {
		state  libvirt.DomainState
		reason int32
		want   string
	}{
		{libvirt.DomainPaused, int32(libvirt.DomainPausedIoerror), "paused ioerror"},
		{libvirt.DomainPaused, int32(libvirt.DomainPausedAPIError), "paused api_error"},
		{libvirt.DomainShutoff, int32(libvirt.DomainShutoffCrashed), "shutoff crashed"},
		{libvirt.DomainShutoff, int32(libvirt.DomainShutoffDaemon), "shutoff daemon"},
		{libvirt.DomainCrashed, int32(libvirt.DomainCrashedPanicked), "crashed panicked"},
	}
	for _, c := range cases {
		names := stateNames[c.state]
		if got := names.name + " " + word(names.reasons, c.reason); got != c.want {
			t.Errorf("state %d/%d is %q, want %q", c.state, c.reason, got, c.want)
		}
	}
}

// TestEventQueue: nobody needs to read, the last events stay, and the end of
// the machine ends the queue.
func TestEventQueue(t *testing.T) {
	q := &eventQueue{ch: make(chan Event, maxQueuedEvents), serialOf: map[string]string{"ua-data0": "data0"}}
	for i := range maxQueuedEvents + 10 {
		q.put(Event{Kind: IOError, Reason: fmt.Sprint(i), Disk: "ua-data0"})
	}
	q.put(Event{Kind: Stopped, Reason: "crashed"})
	q.put(Event{Kind: Shutdown, Reason: "late"})
	var got []Event
	for e := range q.ch { // ends, since the queue was closed
		got = append(got, e)
	}
	last := got[len(got)-1]
	if len(got) != maxQueuedEvents || got[0].Reason != "11" || got[0].Disk != "data0" || last.Kind != Stopped {
		t.Errorf("%d events from %+v to %+v", len(got), got[0], last)
	}
	if e, n := q.ioErrors(); e.Reason != fmt.Sprint(maxQueuedEvents+9) || n != maxQueuedEvents+10 {
		t.Errorf("last of %d I/O errors is %+v", n, e)
	}
	if e := q.lastLifecycle(); e.Reason != "crashed" {
		t.Errorf("last lifecycle event is %+v", e)
	}
	q.close() // twice is fine
}
