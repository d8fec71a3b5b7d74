package remote

import (
	"bytes"
	"sync/atomic"
)

// Finder is a writer that looks for a marker in what passes, also across the
// borders of writes. Put it where the console is copied to and give its Seen to
// Marker. One goroutine may write while others ask.
type Finder struct {
	marker []byte
	tail   []byte // the last len(marker)-1 bytes
	seen   atomic.Bool
}

// NewFinder looks for marker, which must not be empty.
func NewFinder(marker string) *Finder { return &Finder{marker: []byte(marker)} }

func (f *Finder) Write(p []byte) (int, error) {
	if !f.seen.Load() {
		f.tail = append(f.tail, p...)
		if bytes.Contains(f.tail, f.marker) {
			f.seen.Store(true)
		}
		if over := len(f.tail) - len(f.marker) + 1; over > 0 {
			f.tail = append(f.tail[:0], f.tail[over:]...)
		}
	}
	return len(p), nil
}

// Seen reports whether the marker has passed. The error is always nil.
func (f *Finder) Seen() (bool, error) { return f.seen.Load(), nil }
