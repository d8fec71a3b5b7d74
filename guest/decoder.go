package guest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MismatchError says that the two ends are not of one build or one revision of the protocol.
type MismatchError struct {
	What         string // protocol or build
	Ours, Theirs string
}

// Error gives both sides and the way out.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("%s mismatch: this side has %q, the other %q; build platter and platter-guest together", e.What, e.Ours, e.Theirs)
}

// ErrNoDone says that the stream ended before Done: the trial is lost, never short.
var ErrNoDone = errors.New("event stream ended without done")

// Decoder reads a conversation and holds it to its rules: Hello first, of our protocol and build; Seq
// from 1 without gaps; time never backwards; exactly one part an event; Done last. What the guest
// writes is not trusted: lines, strings and collections are bounded. It is not safe for concurrent use.
//
// Use either Next over a reader, or Line for lines that arrive one by one, then End.
type Decoder struct {
	r       *bufio.Reader
	build   string
	seq     int64
	seconds float64
	done    bool
	err     error
}

// NewDecoder returns a decoder that reads r; r may be nil when only Line is used. The guest must be of
// the named build; "" accepts any, for reading recorded conversations.
func NewDecoder(r io.Reader, build string) *Decoder {
	d := &Decoder{build: build}
	if r != nil {
		d.r = bufio.NewReaderSize(r, 64<<10)
	}
	return d
}

// Next returns the next event, io.EOF after Done and the end of input, ErrNoDone (wrapped) when the
// input ends earlier. After any other error the stream cannot be trusted and the same error returns again.
func (d *Decoder) Next() (Event, error) {
	if d.err != nil {
		return Event{}, d.err
	}
	line, err := readLine(d.r)
	if err == io.EOF && len(line) == 0 {
		if err := d.End(); err != nil {
			return Event{}, err
		}
		return Event{}, io.EOF
	}
	if err == io.EOF {
		d.err = fmt.Errorf("%w: last line has no end", ErrNoDone)
		return Event{}, d.err
	}
	if err != nil {
		d.err = fmt.Errorf("read event %d: %w", d.seq+1, err)
		return Event{}, d.err
	}
	return d.Line(line)
}

// Line takes one line, with or without its line end, and returns its event.
func (d *Decoder) Line(line []byte) (Event, error) {
	if d.err != nil {
		return Event{}, d.err
	}
	ev, err := d.line(bytes.TrimSuffix(line, []byte("\n")))
	if err != nil {
		d.err = fmt.Errorf("read event %d: %w", d.seq+1, err)
		return Event{}, d.err
	}
	d.seq, d.seconds, d.done = ev.Seq, ev.Seconds, ev.Done != nil
	return ev, nil
}

// End says whether the conversation was complete: nil after Done, else ErrNoDone or the first error.
func (d *Decoder) End() error {
	if d.err == nil && !d.done {
		d.err = fmt.Errorf("%w after event %d", ErrNoDone, d.seq)
	}
	return d.err
}

func (d *Decoder) line(line []byte) (Event, error) {
	var ev Event
	if len(line) > MaxLineBytes {
		return ev, fmt.Errorf("line of %d bytes, at most %d", len(line), MaxLineBytes)
	}
	if err := json.Unmarshal(line, &ev); err != nil {
		return ev, fmt.Errorf("%w in %q", err, clip(line, 80))
	}
	if kind := ev.kind(); kind == "" || kind != ev.Type {
		return ev, fmt.Errorf("type %q does not name the one part that is set", clip([]byte(ev.Type), 40))
	}
	switch {
	case d.done:
		return ev, errors.New("event after done")
	case ev.Seq != d.seq+1:
		return ev, fmt.Errorf("seq is %d, not %d", ev.Seq, d.seq+1)
	case (ev.Seq == 1) != (ev.Hello != nil):
		return ev, fmt.Errorf("event is %s: hello comes first, and once", ev.Type)
	case ev.Seconds < d.seconds:
		return ev, fmt.Errorf("monotonic seconds went back from %g to %g", d.seconds, ev.Seconds)
	}
	if h := ev.Hello; h != nil {
		if h.Protocol != Protocol {
			return ev, &MismatchError{What: "protocol", Ours: fmt.Sprint(Protocol), Theirs: fmt.Sprint(h.Protocol)}
		}
		if d.build != "" && h.Build != d.build {
			return ev, &MismatchError{What: "build", Ours: d.build, Theirs: string(clip([]byte(h.Build), 80))}
		}
	}
	return ev, checkSize(line, ev)
}

// readLine reads up to and with the next line end, refusing to hold more than MaxLineBytes.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > MaxLineBytes+1 {
			return nil, fmt.Errorf("line over %d bytes", MaxLineBytes)
		}
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

func clip(b []byte, n int) []byte {
	if len(b) > n {
		return b[:n]
	}
	return b
}
