package hypervisor

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/digitalocean/go-libvirt"
)

// Event is something that happened to a machine by itself.
type Event struct {
	Time   time.Time
	Kind   EventKind
	Reason string // for example "ioerror", "shutdown", "enospc"
	Disk   string // serial of the disk of an IOError
}

// EventKind is what happened.
type EventKind string

// The kinds of events. After Stopped nothing follows.
const (
	Started   EventKind = "started"
	Suspended EventKind = "suspended"
	Resumed   EventKind = "resumed"
	Shutdown  EventKind = "shutdown" // QEMU is about to end
	Stopped   EventKind = "stopped"  // QEMU has ended
	Crashed   EventKind = "crashed"  // the guest panicked
	IOError   EventKind = "io_error" // a request to a disk of the host failed
)

// maxQueuedEvents bounds what a machine keeps for a reader that does not come;
// the oldest go first, since the last ones tell how it ended.
const maxQueuedEvents = 64

// eventHub hands libvirt's events, which it sends for all domains of the host,
// to the machines they concern. It has a connection of its own, so that a call
// that hangs does not hold up events.
type eventHub struct {
	host *Host
	mu   sync.Mutex
	conn *conn
	open bool
	sink map[libvirt.UUID]*eventQueue
}

func newEventHub(h *Host) *eventHub {
	return &eventHub{host: h, open: true, sink: map[libvirt.UUID]*eventQueue{}}
}

// subscribe makes sure that events arrive and returns the queue of a domain. It
// is called before the domain exists, so that nothing is missed.
func (e *eventHub) subscribe(ctx context.Context, id libvirt.UUID, serialOf map[string]string) (*eventQueue, error) {
	if err := e.ensure(ctx, e.host.dialOrStart); err != nil {
		return nil, err
	}
	q := &eventQueue{ch: make(chan Event, maxQueuedEvents), serialOf: serialOf}
	e.mu.Lock()
	e.sink[id] = q
	e.mu.Unlock()
	return q, nil
}

func (e *eventHub) unsubscribe(id libvirt.UUID) {
	e.mu.Lock()
	q := e.sink[id]
	delete(e.sink, id)
	e.mu.Unlock()
	if q != nil {
		q.close()
	}
}

// ensure connects and registers when that is not done or was lost.
func (e *eventHub) ensure(ctx context.Context, dial func(context.Context) (*conn, error)) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.open {
		return errClosed
	}
	if e.conn != nil && e.conn.alive() {
		return nil
	}
	c, err := dial(ctx)
	if err != nil {
		return err
	}
	// The library ends a subscription when its context ends; ours lives as
	// long as the connection, so it gets none that ends.
	background := context.Background()
	for _, id := range []libvirt.DomainEventID{libvirt.DomainEventIDLifecycle, libvirt.DomainEventIDIoErrorReason} {
		ch, err := call(ctx, c, "ConnectDomainEventCallbackRegisterAny", queryLimit, func(lv *libvirt.Libvirt) (<-chan any, error) {
			return lv.SubscribeEvents(background, id, nil)
		})
		if err != nil {
			c.close()
			return err
		}
		go e.follow(ch)
	}
	e.conn = c
	go e.mourn(c)
	return nil
}

// mourn waits for the end of a connection and, while there are machines to hear
// of, makes another. Events in between are lost; Machine.Alive always knows.
func (e *eventHub) mourn(c *conn) {
	<-c.raw.lost
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	for attempt := 0; e.wanted() && backOff(ctx, attempt); attempt++ {
		// Not started from here: whoever makes a call needs the daemon more.
		if err := e.ensure(ctx, e.host.dial); err == nil {
			e.host.log.Warn("lost the connection for events, connected again")
			return
		}
	}
}

// wanted tells whether somebody still wants events.
func (e *eventHub) wanted() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.open && len(e.sink) > 0
}

// follow drains one subscription until its connection ends; an undrained one
// would keep the library's goroutine.
func (e *eventHub) follow(ch <-chan any) {
	for message := range ch {
		switch m := message.(type) {
		case *libvirt.DomainEventCallbackLifecycleMsg:
			if event, ok := lifecycle(m.Msg); ok {
				e.deliver(m.Msg.Dom.UUID, event)
			}
		case *libvirt.DomainEventCallbackIOErrorReasonMsg:
			e.deliver(m.Msg.Dom.UUID, Event{Kind: IOError, Reason: m.Msg.Reason, Disk: m.Msg.DevAlias})
		}
	}
}

func (e *eventHub) deliver(id libvirt.UUID, event Event) {
	event.Time = time.Now()
	e.mu.Lock()
	q := e.sink[id]
	e.mu.Unlock()
	if q != nil {
		q.put(event)
	}
}

func (e *eventHub) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.open = false
	if e.conn != nil {
		e.conn.close()
	}
}

// eventQueue is the queue of one machine. Nobody needs to read it.
type eventQueue struct {
	mu       sync.Mutex
	ch       chan Event
	closed   bool
	last     Event             // of the lifecycle
	lastIO   Event             // the last IOError
	failed   int               // how many there were
	serialOf map[string]string // by alias
}

func (q *eventQueue) put(e Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	if e.Kind == IOError {
		e.Disk = q.serialOf[e.Disk]
		q.lastIO = e
		q.failed++
	} else {
		q.last = e
	}
	for sent := false; !sent; {
		select {
		case q.ch <- e:
			sent = true
		default:
			select {
			case <-q.ch: // make room
			default:
			}
		}
	}
	if e.Kind == Stopped {
		q.shut()
	}
}

// lastLifecycle is the newest lifecycle event, zero when there was none.
func (q *eventQueue) lastLifecycle() Event {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.last
}

// ioErrors are the newest IOError, zero when there was none, and their number.
func (q *eventQueue) ioErrors() (Event, int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.lastIO, q.failed
}

func (q *eventQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.shut()
}

// shut needs the lock held.
func (q *eventQueue) shut() {
	if !q.closed {
		q.closed = true
		close(q.ch)
	}
}

// lifecycleNames are the kinds and reasons by libvirt's numbers.
var lifecycleNames = map[libvirt.DomainEventType]struct {
	kind    EventKind
	reasons string // by detail number
}{
	libvirt.DomainEventStarted:   {Started, "booted migrated restored from_snapshot wakeup recreated"},
	libvirt.DomainEventSuspended: {Suspended, "paused migrated ioerror watchdog restored from_snapshot api_error postcopy postcopy_failed"},
	libvirt.DomainEventResumed:   {Resumed, "unpaused migrated from_snapshot postcopy postcopy_failed"},
	libvirt.DomainEventStopped:   {Stopped, "shutdown destroyed crashed migrated saved failed from_snapshot recreated"},
	libvirt.DomainEventShutdown:  {Shutdown, "finished guest host"},
	libvirt.DomainEventCrashed:   {Crashed, "panicked crashloaded"},
}

// lifecycle translates libvirt's event; it reports false for kinds that do not
// concern a running machine.
func lifecycle(m libvirt.DomainEventLifecycleMsg) (Event, bool) {
	names, known := lifecycleNames[libvirt.DomainEventType(m.Event)]
	if !known {
		return Event{}, false
	}
	return Event{Kind: names.kind, Reason: word(names.reasons, m.Detail)}, true
}

// word is the n-th word of a list, or "unknown".
func word(list string, n int32) string {
	words := strings.Fields(list)
	if n < 0 || int(n) >= len(words) {
		return "unknown"
	}
	return words[n]
}
