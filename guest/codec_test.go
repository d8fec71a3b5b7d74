package guest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"testing"

	"platter/guest"
	"platter/results"

	"github.com/google/go-cmp/cmp"
)

// writes counts write calls, to prove that a line is one write and is synced.
type writes struct {
	bytes.Buffer
	n, syncs int
}

func (w *writes) Write(p []byte) (int, error) { w.n++; return w.Buffer.Write(p) }
func (w *writes) Sync() error                 { w.syncs++; return nil }

func hello() guest.Event {
	return guest.Event{Hello: &guest.Hello{Protocol: guest.Protocol, Build: "b1"}}
}

func done() guest.Event { return guest.Event{Done: &guest.Done{Status: results.StatusOK}} }

func TestEncodeThenDecodeGivesTheSameEvents(t *testing.T) {
	var w writes
	enc := guest.NewEncoder(&w)
	big := strings.Repeat("x", 300<<10) // over bufio.Scanner's 64 KiB
	value := 1.5
	sent := []guest.Event{
		hello(),
		{Step: &guest.StepEvent{Index: -1, Name: "mkfs", State: "started"}},
		{Progress: &guest.Progress{Step: "run", Done: 1, Unit: "events"}},
		{Log: &guest.Log{Level: "info", Message: "line\nbreak"}},
		{Measurement: &guest.Measurement{
			Server:  &results.ServerFacts{Variables: map[string]string{"big": big}},
			Metrics: []results.Metric{{Name: "a_seconds", Value: &value}},
		}},
		{File: &guest.File{Name: "dmesg.log", SHA256: strings.Repeat("0", 64)}},
		done(),
	}
	for _, ev := range sent {
		if err := enc.Encode(ev); err != nil {
			t.Fatal(err)
		}
	}
	if w.n != len(sent) || w.syncs != len(sent) {
		t.Errorf("%d events took %d writes and %d syncs", len(sent), w.n, w.syncs)
	}
	dec := guest.NewDecoder(&w, "b1")
	for i, want := range sent {
		got, err := dec.Next()
		if err != nil {
			t.Fatalf("event %d: %v", i+1, err)
		}
		if got.Seq != int64(i+1) || got.Time.IsZero() || got.Seconds < 0 || got.Type == "" {
			t.Errorf("event %d: seq %d, time %v, seconds %g, type %q", i+1, got.Seq, got.Time, got.Seconds, got.Type)
		}
		want.Type, want.Seq, want.Seconds, want.Time = got.Type, got.Seq, got.Seconds, got.Time
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("event %d (-want +got):\n%s", i+1, diff)
		}
	}
	if _, err := dec.Next(); err != io.EOF {
		t.Errorf("after done: %v, want io.EOF", err)
	}
	if err := enc.Encode(done()); err == nil {
		t.Error("an event after Done was written")
	}
}

func TestEncoderIsSafeForConcurrentUse(t *testing.T) {
	var w writes
	enc := guest.NewEncoder(&w)
	if err := enc.Encode(hello()); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if err := enc.Encode(guest.Event{Progress: &guest.Progress{Step: "run"}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := enc.Encode(done()); err != nil {
		t.Fatal(err)
	}
	dec := guest.NewDecoder(&w, "")
	n := 0
	for {
		_, err := dec.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 402 {
		t.Errorf("%d events came back of 402", n)
	}
}

func TestEncoderRefuses(t *testing.T) {
	nan := math.NaN()
	for name, ev := range map[string]guest.Event{
		"nothing set":   {},
		"two parts":     {Log: &guest.Log{}, Done: &guest.Done{}},
		"second hello":  hello(),
		"a number NaN":  {Measurement: &guest.Measurement{Metrics: []results.Metric{{Name: "x", Value: &nan}}}},
		"foreign file":  {File: &guest.File{Name: "../../etc/passwd", SHA256: strings.Repeat("0", 64)}},
		"endless error": {Step: &guest.StepEvent{Error: strings.Repeat("e", guest.MaxMessageBytes+1)}},
	} {
		t.Run(name, func(t *testing.T) {
			var w writes
			enc := guest.NewEncoder(&w)
			if err := enc.Encode(hello()); err != nil {
				t.Fatal(err)
			}
			size := w.Len()
			if err := enc.Encode(ev); err == nil {
				t.Error("was written")
			}
			if w.Len() != size {
				t.Errorf("left %d bytes in the stream", w.Len()-size)
			}
			if err := enc.Encode(done()); err != nil {
				t.Errorf("a refused event broke the stream: %v", err)
			}
		})
	}
	if err := guest.NewEncoder(&writes{}).Encode(done()); err == nil {
		t.Error("a stream began without Hello")
	}
}

// full fails like a full disk after some bytes.
type full struct{ left int }

func (f *full) Write(p []byte) (int, error) {
	if f.left < len(p) {
		return f.left, errors.New("no space left on device")
	}
	f.left -= len(p)
	return len(p), nil
}

func TestEncoderKeepsItsFirstError(t *testing.T) {
	f := &full{left: 400}
	enc := guest.NewEncoder(f)
	if err := enc.Encode(hello()); err != nil {
		t.Fatal(err)
	}
	first := enc.Encode(guest.Event{Log: &guest.Log{Message: strings.Repeat("m", 1000)}})
	if first == nil {
		t.Fatal("a write that failed was not reported")
	}
	if err := enc.Encode(guest.Event{Log: &guest.Log{Message: "short"}}); !errors.Is(err, first) {
		t.Errorf("a half-written line was followed by another: %v", err)
	}
}

func TestDecoderRefuses(t *testing.T) {
	const h = `{"type":"hello","seq":1,"seconds":0,"hello":{"protocol":1,"build":"b1"}}` + "\n"
	log := func(seq int, seconds float64) string {
		return fmt.Sprintf(`{"type":"log","seq":%d,"seconds":%g,"log":{"level":"info","message":"m"}}`+"\n", seq, seconds)
	}
	d := func(seq int) string {
		return fmt.Sprintf(`{"type":"done","seq":%d,"seconds":9,"done":{"status":"ok"}}`+"\n", seq)
	}
	tests := map[string]struct{ stream, want string }{
		"nothing at all":      {"", "without done"},
		"no done":             {h + log(2, 1), "without done"},
		"a cut last line":     {h + strings.TrimSuffix(d(2), "\n"), "without done"},
		"not JSON":            {h + "Segmentation fault\n", "read event 2"},
		"an empty line":       {h + "\n", "read event 2"},
		"no hello":            {log(1, 0), "hello comes first"},
		"two hellos":          {h + strings.Replace(h, `"seq":1`, `"seq":2`, 1), "hello comes first"},
		"a gap":               {h + log(3, 1), "seq is 3, not 2"},
		"a repeat":            {h + log(2, 1) + log(2, 1), "seq is 2, not 3"},
		"time going back":     {h + log(2, 5) + log(3, 4), "went back"},
		"an event after done": {h + d(2) + log(3, 9), "after done"},
		"wrong type":          {h + strings.Replace(log(2, 1), `"type":"log"`, `"type":"done"`, 1), "does not name"},
		"two parts":           {h + strings.Replace(log(2, 1), `"log":`, `"done":{},"log":`, 1), "does not name"},
		"other protocol":      {strings.Replace(h, `"protocol":1`, `"protocol":2`, 1), "protocol mismatch"},
		"other build":         {strings.Replace(h, `"b1"`, `"b2"`, 1), "build mismatch"},
		"a file of its own":   {h + `{"type":"file","seq":2,"seconds":1,"file":{"name":"/etc/shadow","sha256":"` + strings.Repeat("a", 64) + `"}}` + "\n", "not one the host fetches"},
		"a long message":      {h + strings.Replace(log(2, 1), `"message":"m"`, `"message":"`+strings.Repeat("m", guest.MaxMessageBytes+1)+`"`, 1), "at most"},
		"a long string": {h + `{"type":"measurement","seq":2,"seconds":1,"measurement":{"durability":"` +
			strings.Repeat("s", guest.MaxStringBytes+1) + `"}}` + "\n", "at most"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dec := guest.NewDecoder(strings.NewReader(test.stream), "b1")
			var err error
			for err == nil {
				_, err = dec.Next()
			}
			if err == io.EOF || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("error %v, want one with %q", err, test.want)
			}
			if _, again := dec.Next(); !errors.Is(again, err) {
				t.Errorf("the error did not stay: %v", again)
			}
		})
	}
}

func TestDecoderBoundsTheLine(t *testing.T) {
	endless := io.MultiReader(strings.NewReader(`{"type":"`), &zeros{})
	_, err := guest.NewDecoder(endless, "").Next()
	if err == nil || !strings.Contains(err.Error(), "line over") {
		t.Fatalf("an endless line: %v", err)
	}
}

type zeros struct{}

func (*zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

func TestDecodeJobIsStrict(t *testing.T) {
	good, err := guest.EncodeJob(guest.Job{Trial: "t", Build: "b", Disks: []guest.Disk{{Name: "a", Serial: "s"}}})
	if err != nil {
		t.Fatal(err)
	}
	job, err := guest.DecodeJob(bytes.NewReader(good))
	if err != nil || job.Trial != "t" || job.Protocol != guest.Protocol {
		t.Fatalf("job %+v, error %v", job, err)
	}
	for name, test := range map[string]struct{ text, want string }{
		"unknown key":    {strings.Replace(string(good), `"trial"`, `"trail"`, 1), `unknown field "trail"`},
		"other protocol": {strings.Replace(string(good), `"protocol": 1`, `"protocol": 7`, 1), "protocol mismatch"},
		"two documents":  {string(good) + string(good), "after top-level value"},
		"empty":          {"", "read job"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := guest.DecodeJob(strings.NewReader(test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func FuzzDecoder(f *testing.F) {
	f.Add([]byte(`{"type":"hello","seq":1,"seconds":0,"hello":{"protocol":1,"build":"b1"}}` + "\n" +
		`{"type":"done","seq":2,"seconds":9,"done":{"status":"ok"}}` + "\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		dec := guest.NewDecoder(bytes.NewReader(stream), "")
		var last guest.Event
		n := int64(0)
		for {
			ev, err := dec.Next()
			if err == io.EOF {
				if last.Done == nil {
					t.Fatal("a stream without done was called complete")
				}
				return
			}
			if err != nil {
				return
			}
			n++
			if ev.Seq != n || (n == 1) != (ev.Hello != nil) {
				t.Fatalf("event %d accepted with seq %d, hello %v", n, ev.Seq, ev.Hello != nil)
			}
			if _, err := json.Marshal(ev); err != nil {
				t.Fatalf("an accepted event cannot be written again: %v", err)
			}
			last = ev
		}
	})
}

// FuzzDecodeJob reads hostile jobs: what is accepted can be written and read again, the same.
func FuzzDecodeJob(f *testing.F) {
	good, err := guest.EncodeJob(guest.Job{Trial: "t", Build: "b", Disks: []guest.Disk{{Name: "a", Serial: "s"}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"protocol":1}{"protocol":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		job, err := guest.DecodeJob(bytes.NewReader(text))
		if err != nil {
			return
		}
		again, err := guest.EncodeJob(job)
		if err != nil {
			t.Fatalf("an accepted job cannot be written again: %v", err)
		}
		if _, err := guest.DecodeJob(bytes.NewReader(again)); err != nil {
			t.Fatalf("a job of ours is refused: %v", err)
		}
	})
}
