package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"
)

// peer is a unix socket whose other end f serves.
func peer(t *testing.T, ctx context.Context, f func(net.Conn)) net.Conn {
	t.Helper()
	address := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		c, err := l.Accept()
		if err == nil {
			defer c.Close()
			f(c)
		}
	}()
	c, err := dialSocket(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func echo(c net.Conn) { io.Copy(c, c) }

// Megabytes go through whole, in reads smaller and larger than the buffer.
func TestSocketCarriesAll(t *testing.T) {
	for _, size := range []int{100, 4096, socketBuffer - 1, socketBuffer, socketBuffer + 1} {
		c := peer(t, t.Context(), echo)
		sent := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
		go func() {
			if _, err := c.Write(sent); err != nil {
				t.Error(err)
			}
		}()
		var got []byte
		p := make([]byte, size)
		for len(got) < len(sent) {
			n, err := c.Read(p)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, p[:n]...)
		}
		if !bytes.Equal(got, sent[:len(got)]) {
			t.Errorf("size %d: other bytes came back", size)
		}
		c.Close()
	}
}

// The end of the context, and Close from elsewhere, end a read that waits; afterwards every call says so.
func TestSocketEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	for name, end := range map[string]func(net.Conn){"context": func(net.Conn) { cancel() }, "close": func(c net.Conn) { c.Close() }} {
		c := peer(t, ctx, func(c net.Conn) { io.Copy(io.Discard, c) })
		time.AfterFunc(50*time.Millisecond, func() { end(c) })
		begin := time.Now()
		if n, err := c.Read(make([]byte, 10)); err == nil || time.Since(begin) > 5*time.Second {
			t.Errorf("%s: read %d, %v after %v", name, n, err, time.Since(begin))
		}
		if name == "context" {
			ctx, cancel = context.WithCancel(t.Context())
		}
		if _, err := c.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s: write afterwards: %v", name, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	cancel()
}

// A peer that goes away is an end of file, then an error; no signal kills the process.
func TestSocketPeerGone(t *testing.T) {
	c := peer(t, t.Context(), func(c net.Conn) {})
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("read: %v", err)
	}
	var err error
	for range 100 {
		if _, err = c.Write(make([]byte, 1<<16)); err != nil {
			break
		}
	}
	if err == nil {
		t.Error("writing to nobody succeeds")
	}
	c.Close()
}

// Many sockets closed while they read and write do not touch each other's descriptors (run with -race).
func TestSocketConcurrentClose(t *testing.T) {
	var wg sync.WaitGroup
	for range 50 {
		c := peer(t, t.Context(), echo)
		wg.Add(2)
		go func() {
			defer wg.Done()
			p := make([]byte, 64)
			for {
				if _, err := c.Write([]byte("hello")); err != nil {
					return
				}
				if n, err := c.Read(p); err != nil || !bytes.HasPrefix([]byte("hellohellohello"), p[:min(n, 5)]) {
					return
				}
			}
		}()
		go func() {
			defer wg.Done()
			time.Sleep(5 * time.Millisecond)
			c.Close()
		}()
	}
	wg.Wait()
}

// A read that waits does not hold up the collector: the peer answers only after the world was stopped and went on.
func TestSocketWaitsWithoutHoldingTheWorld(t *testing.T) {
	collected := make(chan struct{})
	c := peer(t, t.Context(), func(c net.Conn) {
		<-collected
		time.Sleep(20 * time.Millisecond)
		c.Write([]byte("late"))
	})
	defer c.Close()
	answer := make(chan string, 1)
	go func() {
		p := make([]byte, 10)
		n, err := c.Read(p)
		if err != nil {
			t.Error(err)
		}
		answer <- string(p[:n])
	}()
	time.Sleep(2 * time.Millisecond) // it waits by now
	for range 3 {
		runtime.GC()
	}
	close(collected)
	if got := <-answer; got != "late" {
		t.Errorf("read %q", got)
	}
}

// More reads wait than the runtime has processors, and the goroutine that lets their peers answer runs none the less.
func TestSocketLeavesProcessors(t *testing.T) {
	release := make(chan struct{})
	readers := 2*runtime.GOMAXPROCS(0) + 1
	var waiting, done sync.WaitGroup
	for range readers {
		c := peer(t, t.Context(), func(c net.Conn) {
			<-release
			c.Write([]byte("x"))
		})
		defer c.Close()
		waiting.Add(1)
		done.Add(1)
		go func() {
			defer done.Done()
			waiting.Done()
			if _, err := c.Read(make([]byte, 1)); err != nil {
				t.Error(err)
			}
		}()
	}
	waiting.Wait()
	time.AfterFunc(20*time.Millisecond, func() { close(release) })
	done.Wait()
}
