package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// followEvery is how often the agent's process is looked at, between the lines it writes.
const followEvery = time.Second

// donePrefix begins the line of Done: type is an event's first key.
const donePrefix = `{"type":"done",`

// Follow copies dir/events.jsonl to w, whole lines only, from byte offset on, while the agent writes it.
// It returns nil after Done, and an error when the agent is gone without it.
func Follow(ctx context.Context, dir string, offset int64, w io.Writer) error {
	p, err := readPid(dir)
	if err != nil {
		return err
	}
	f, err := openEvents(ctx, dir, p)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && offset > info.Size() {
		return fmt.Errorf("follow: offset %d is past the %d bytes there are", offset, info.Size())
	}
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return fmt.Errorf("follow: %w", err)
	}
	wake, err := newWaiter(f.Name(), w)
	if err != nil {
		return fmt.Errorf("follow: %w", err)
	}
	defer wake.close()
	var rest []byte
	for {
		// Alive is asked before reading: what a process wrote before it died is then read for certain.
		alive := p.alive()
		done, left, err := copyLines(f, rest, w)
		if err != nil {
			return fmt.Errorf("follow: %w", err)
		}
		if rest = left; done {
			return nil
		}
		if !alive {
			return errors.New("the agent's process is gone without done; agent.log and the kernel's log tell more")
		}
		if err := wake.wait(followEvery); err != nil {
			return fmt.Errorf("follow: %w", err)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// openEvents waits for the file of an agent that has just started.
func openEvents(ctx context.Context, dir string, p process) (*os.File, error) {
	for {
		alive := p.alive()
		f, err := os.Open(filepath.Join(dir, EventsFile))
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, os.ErrNotExist) || !alive {
			return nil, fmt.Errorf("follow: %w; see agent.log", err)
		}
		if err := pause(ctx, pollEvery); err != nil {
			return nil, err
		}
	}
}

// copyLines copies complete lines and returns what is left of an incomplete one.
func copyLines(f io.Reader, rest []byte, w io.Writer) (done bool, left []byte, err error) {
	chunk := make([]byte, 64<<10)
	for {
		n, err := f.Read(chunk)
		rest = append(rest, chunk[:n]...)
		if end := bytes.LastIndexByte(rest, '\n') + 1; end > 0 {
			if _, err := w.Write(rest[:end]); err != nil {
				return false, nil, err
			}
			last := bytes.LastIndexByte(rest[:end-1], '\n') + 1
			done = bytes.HasPrefix(rest[last:end], []byte(donePrefix))
			rest = append([]byte(nil), rest[end:]...)
		}
		if done || err == io.EOF {
			return done, rest, nil
		}
		if err != nil {
			return false, nil, err
		}
	}
}
