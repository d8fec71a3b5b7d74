package guest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// Encoder writes events as JSON lines and numbers them. It is safe for concurrent use: each event is
// one write, followed by Sync when the writer has it, so a reader never sees half an event that was
// reported as written.
type Encoder struct {
	mu    sync.Mutex
	w     io.Writer
	sync  func() error
	start time.Time
	seq   int64
	done  bool
	err   error
}

// NewEncoder returns an encoder on w whose clock starts now.
func NewEncoder(w io.Writer) *Encoder {
	e := &Encoder{w: w, start: time.Now()}
	if f, ok := w.(interface{ Sync() error }); ok {
		e.sync = f.Sync
	}
	return e
}

// Encode fills Type, Seq, Seconds and Time of ev and writes it. The first error stays: after it, and
// after a Done, nothing more is written, so that the reader sees a stream without gaps or none at all.
func (e *Encoder) Encode(ev Event) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err != nil {
		return e.err
	}
	if e.done {
		return errors.New("write event: the conversation was closed by Done")
	}
	ev.Type = ev.kind()
	if ev.Type == "" {
		return errors.New("write event: exactly one of its parts must be set")
	}
	if (e.seq == 0) != (ev.Hello != nil) {
		return fmt.Errorf("write event %s: Hello comes first, and once", ev.Type)
	}
	now := time.Now()
	ev.Seq, ev.Seconds, ev.Time = e.seq+1, now.Sub(e.start).Seconds(), now.UTC().Round(0)
	line, err := json.Marshal(ev)
	if err != nil {
		return fmt.Errorf("write event %s: %w", ev.Type, err)
	}
	if err := checkSize(line, ev); err != nil {
		return fmt.Errorf("write event %s: %w", ev.Type, err)
	}
	if err := e.write(append(line, '\n')); err != nil {
		e.err = fmt.Errorf("write event %d: %w", ev.Seq, err)
		return e.err
	}
	e.seq, e.done = ev.Seq, ev.Done != nil
	return nil
}

func (e *Encoder) write(line []byte) error {
	if _, err := e.w.Write(line); err != nil {
		return err
	}
	if e.sync != nil {
		return e.sync()
	}
	return nil
}

// Seconds is the encoder's clock: monotonic seconds since it was made.
func (e *Encoder) Seconds() float64 { return time.Since(e.start).Seconds() }

// kind names the one part that is set; "" when none or several are.
func (ev *Event) kind() string {
	name, n := "", 0
	for _, part := range []struct {
		name string
		set  bool
	}{
		{"hello", ev.Hello != nil}, {"step", ev.Step != nil}, {"progress", ev.Progress != nil}, {"acknowledged", ev.Acknowledged != nil}, {"crash", ev.Crash != nil},
		{"log", ev.Log != nil}, {"measurement", ev.Measurement != nil}, {"file", ev.File != nil}, {"done", ev.Done != nil},
	} {
		if part.set {
			name, n = part.name, n+1
		}
	}
	if n != 1 {
		return ""
	}
	return name
}

// EncodeJob returns the job as the one JSON document the guest reads.
func EncodeJob(job Job) ([]byte, error) {
	job.Protocol = Protocol
	b, err := json.MarshalIndent(job, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write job: %w", err)
	}
	return append(b, '\n'), nil
}

// DecodeJob reads one job strictly: unknown keys, trailing text and another protocol are errors.
func DecodeJob(r io.Reader) (Job, error) {
	var job Job
	b, err := io.ReadAll(io.LimitReader(r, MaxLineBytes+1))
	if err != nil {
		return job, fmt.Errorf("read job: %w", err)
	}
	if len(b) > MaxLineBytes {
		return job, fmt.Errorf("read job: over %d bytes", MaxLineBytes)
	}
	var head struct {
		Protocol int `json:"protocol"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return job, fmt.Errorf("read job: %w", err)
	}
	if head.Protocol != Protocol {
		return job, &MismatchError{What: "protocol", Ours: fmt.Sprint(Protocol), Theirs: fmt.Sprint(head.Protocol)}
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&job); err != nil {
		return job, fmt.Errorf("read job: %w", err)
	}
	if dec.More() {
		return job, errors.New("read job: more than one document")
	}
	return job, nil
}
