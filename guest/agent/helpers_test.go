package agent

import (
	"bytes"
	"strconv"
	"sync"
	"testing"
	"time"
)

func itoa(n int) string { return strconv.Itoa(n) }

// lockedBuffer is a buffer for two goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// until waits for a condition, and fails the test when it does not come.
func until(t *testing.T, met func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !met(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the condition did not come")
		}
	}
}
