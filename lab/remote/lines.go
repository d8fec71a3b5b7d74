package remote

import (
	"bytes"
	"fmt"
	"io"
)

// maxLine bounds one line of a stream, in bytes. It is far above any honest
// event and keeps a hostile guest from filling the host's memory.
const maxLine = 64 << 20

// lineWriter cuts a byte stream, which may stop and go on anywhere, into whole
// lines.
type lineWriter struct {
	w        io.Writer
	max      int
	received int64  // bytes seen: where to attach again
	pending  []byte // the unfinished line
	err      error  // first refusal of w, or a line beyond max
}

func (l *lineWriter) Write(p []byte) (int, error) {
	if l.err != nil {
		return 0, l.err
	}
	l.received += int64(len(p))
	for rest := p; len(rest) > 0; {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			return len(p), l.keep(rest)
		}
		line := rest[:i+1]
		rest = rest[i+1:]
		if len(l.pending) > 0 {
			if err := l.keep(line); err != nil {
				return 0, err
			}
			line, l.pending = l.pending, l.pending[:0]
		}
		if _, l.err = l.w.Write(line); l.err != nil {
			return 0, l.err
		}
	}
	return len(p), nil
}

func (l *lineWriter) keep(part []byte) error {
	if len(l.pending)+len(part) > l.max {
		l.err = fmt.Errorf("read events: a line is longer than %d bytes; the guest is broken or hostile", l.max)
		return l.err
	}
	l.pending = append(l.pending, part...)
	return nil
}

// end reports whether the stream stopped between two lines.
func (l *lineWriter) end() error {
	if len(l.pending) > 0 {
		return fmt.Errorf("read events: the last line of %d bytes is unfinished: %w", len(l.pending), io.ErrUnexpectedEOF)
	}
	return nil
}
