package hypervisor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"
)

// consolePoll is how often a followed console is looked at.
const consolePoll = 100 * time.Millisecond

// consoleFiles are the console's parts, oldest first: virtlogd, which writes it
// for libvirt, moves it to .0, that to .1 and so on when it has grown to 2 MiB.
func (m *Machine) consoleFiles() []string {
	files := []string{m.spec.ConsolePath}
	for n := range 16 {
		part := fmt.Sprintf("%s.%d", m.spec.ConsolePath, n)
		if _, err := os.Lstat(part); err != nil {
			break
		}
		files = append(files, part)
	}
	slices.Reverse(files)
	return files
}

// Console is the end of what the guest wrote on its serial console, at most
// maxBytes. A guest that has not written yet has an empty console.
func (m *Machine) Console(ctx context.Context, maxBytes int64) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	text, err := tail(m.consoleFiles(), maxBytes)
	if err != nil {
		return nil, fmt.Errorf("read the console of machine %s: %w", m.spec.Name, err)
	}
	return text, nil
}

// tail is the end of several files read as one.
func tail(files []string, maxBytes int64) ([]byte, error) {
	var text []byte
	for i := len(files) - 1; i >= 0 && int64(len(text)) < maxBytes; i-- {
		part, err := fileTail(files[i], maxBytes-int64(len(text)))
		if err != nil {
			return nil, err
		}
		text = append(part, text...)
	}
	return text, nil
}

func fileTail(path string, maxBytes int64) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	start := max(info.Size()-maxBytes, 0)
	// Bounded: the guest may go on writing.
	return io.ReadAll(io.NewSectionReader(f, start, info.Size()-start))
}

// CopyConsole copies the console from its beginning and follows it until the
// machine is gone or ctx ends, neither of which is an error. It returns early
// only when w fails.
func (m *Machine) CopyConsole(ctx context.Context, w io.Writer) error {
	follow := follower{path: m.spec.ConsolePath}
	defer follow.close()
	for _, part := range m.consoleFiles() {
		if part == m.spec.ConsolePath {
			break
		}
		if err := copyFile(w, part); err != nil {
			return m.consoleError(err)
		}
	}
	tick := time.NewTicker(consolePoll)
	defer tick.Stop()
	for {
		ended := m.exited() // looked at before the read, so that nothing written last is missed
		if err := follow.copy(w); err != nil {
			return m.consoleError(err)
		}
		if ended || ctx.Err() != nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

func (m *Machine) consoleError(err error) error {
	return fmt.Errorf("copy the console of machine %s: %w", m.spec.Name, err)
}

func copyFile(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

// follower reads a growing file that may be moved away and begun anew.
type follower struct {
	path string
	f    *os.File
}

// copy writes what was added since the last call.
func (o *follower) copy(w io.Writer) error {
	for {
		if o.f == nil {
			f, err := os.Open(o.path)
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			o.f = f
		}
		moved := o.moved() // before the read: what comes later is in the new file
		if _, err := io.Copy(w, o.f); err != nil {
			return err
		}
		if !moved {
			return nil
		}
		o.close()
	}
}

// moved tells whether the path names another file by now.
func (o *follower) moved() bool {
	now, err := os.Stat(o.path)
	if err != nil {
		return false
	}
	ours, err := o.f.Stat()
	return err == nil && !os.SameFile(now, ours)
}

func (o *follower) close() {
	if o.f != nil {
		o.f.Close()
		o.f = nil
	}
}
