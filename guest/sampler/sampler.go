package sampler

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Options say how to sample.
type Options struct {
	Period time.Duration // 0 means 1 s
	// More is asked at every sample for values of another source, e.g. the server's status. Its error
	// leaves that sample without them. It may be nil.
	More func(context.Context) ([]Value, error)
}

// Sampler writes a reading each period until Stop. Its methods are safe for concurrent use.
type Sampler struct {
	source *Source
	opt    Options
	start  time.Time
	cancel context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	csv     *csv.Writer
	buf     *bufio.Writer
	step    string
	last    time.Time
	summary Summary
	err     error
}

// Summary tells how well the sampling went.
type Summary struct {
	Samples       int
	MaxGapSeconds float64 // longest time between two samples
}

// Start writes the header and the first sample to w, then one each period.
func Start(w io.Writer, source *Source, opt Options) (*Sampler, error) {
	if opt.Period <= 0 {
		opt.Period = time.Second
	}
	ctx, cancel := context.WithCancel(context.Background())
	buf := bufio.NewWriter(w)
	s := &Sampler{source: source, opt: opt, start: time.Now(), cancel: cancel, done: make(chan struct{}), buf: buf, csv: csv.NewWriter(buf)}
	s.last = s.start
	s.err = s.csv.Write([]string{"seconds", "step", "source", "name", "value"})
	s.sample(ctx)
	if s.err != nil {
		cancel()
		return nil, s.err
	}
	go s.loop(ctx)
	return s, nil
}

func (s *Sampler) loop(ctx context.Context) {
	defer close(s.done)
	ticker := time.NewTicker(s.opt.Period)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			s.sample(ctx)
		}
	}
}

func (s *Sampler) sample(ctx context.Context) {
	r, err := s.source.Read()
	var more []Value
	if s.opt.More != nil {
		bounded, cancel := context.WithTimeout(ctx, s.opt.Period)
		more, _ = s.opt.More(bounded)
		cancel()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = errors.Join(s.err, err)
	now := time.Now()
	s.summary.Samples++
	s.summary.MaxGapSeconds = max(s.summary.MaxGapSeconds, now.Sub(s.last).Seconds())
	s.last = now
	s.write(now, append(r, more...))
}

// write is called with the lock held.
func (s *Sampler) write(now time.Time, values []Value) {
	if s.err != nil {
		return
	}
	seconds := strconv.FormatFloat(now.Sub(s.start).Seconds(), 'f', 6, 64)
	for _, v := range values {
		s.csv.Write([]string{seconds, s.step, v.Source, v.Name, strconv.FormatFloat(v.Value, 'f', -1, 64)})
	}
	s.csv.Flush()
	s.err = errors.Join(s.csv.Error(), s.buf.Flush())
}

// Add writes values of another source at this moment.
func (s *Sampler) Add(source string, values map[string]float64) {
	var list []Value
	for name, v := range values {
		list = append(list, Value{source, name, v})
	}
	slices.SortFunc(list, func(a, b Value) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write(time.Now(), list)
}

// Step names the step that the samples from now on belong to.
func (s *Sampler) Step(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.step = name
}

// Stop ends the sampling and returns what it was like, and the first error.
func (s *Sampler) Stop() (Summary, error) {
	s.cancel()
	<-s.done
	s.mu.Lock()
	defer s.mu.Unlock()
	s.summary.MaxGapSeconds = max(s.summary.MaxGapSeconds, time.Since(s.last).Seconds())
	return s.summary, s.err
}
