package agent

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
	"unsafe"

	"platter/guest"
)

const (
	fillBlock   = 1 << 20
	fillStamp   = 4096 // each of these gets its own number, so that no layer can merge equal blocks
	fillDefault = 64 << 20
	fillName    = "platter-fill"
)

// filler makes incompressible blocks that all differ, cheaply: one random block, stamped with its place.
type filler struct {
	block []byte
	seed  uint64
}

func newFiller(seed uint64) *filler {
	f := &filler{block: aligned(fillBlock), seed: seed}
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	rand.NewChaCha8(key).Read(f.block)
	return f
}

// at returns the block for an offset; it is valid until the next call.
func (f *filler) at(offset int64) []byte {
	for i := 0; i < fillBlock; i += fillStamp {
		binary.LittleEndian.PutUint64(f.block[i:], uint64(offset)+uint64(i)^f.seed)
	}
	return f.block
}

// aligned allocates memory that O_DIRECT takes.
func aligned(n int) []byte {
	b := make([]byte, n+fillStamp)
	skip := int(uintptr(unsafe.Pointer(&b[0])) % fillStamp)
	if skip > 0 {
		skip = fillStamp - skip
	}
	return b[skip : skip+n]
}

// fillTo writes size bytes, telling how far it is.
func (t *trial) fillTo(ctx context.Context, w io.Writer, size int64, what string) error {
	filler, told := newFiller(t.job.Seed), time.Now()
	for at := int64(0); at < size; at += fillBlock {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if _, err := w.Write(filler.at(at)[:min(fillBlock, size-at)]); err != nil {
			return err
		}
		if time.Since(told) > time.Second {
			told = time.Now()
			t.enc.Encode(guest.Event{Progress: &guest.Progress{Step: what, Done: float64(at), Total: float64(size), Unit: "bytes"}})
		}
	}
	return nil
}

// fillOptions are those of the step fill.
type fillOptions struct {
	SizeBytes int64 `json:"size_bytes"`
}

func decodeFill(raw json.RawMessage) (fillOptions, error) {
	o := fillOptions{SizeBytes: fillDefault}
	if len(raw) == 0 {
		return o, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&o); err != nil {
		return o, fmt.Errorf("options of fill: %w", err)
	}
	if o.SizeBytes <= 0 {
		return o, fmt.Errorf("options of fill: size_bytes is %d", o.SizeBytes)
	}
	return o, nil
}

// fill writes a file on the filesystem under test, reads it back from the device, compares it and
// removes it: the shortest proof that the storage holds what it is given.
func (t *trial) fill(ctx context.Context, o fillOptions) error {
	name := filepath.Join(t.place.Dir, fillName)
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("fill: %w", err)
	}
	defer os.Remove(name)
	err = t.fillTo(ctx, f, o.SizeBytes, "fill")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("fill: %w", err)
	}
	// The file is closed first: a filesystem in use keeps a part of its cache.
	if err := t.dropCaches(ctx); err != nil {
		return err
	}
	if f, err = os.Open(name); err != nil {
		return fmt.Errorf("fill: %w", err)
	}
	defer f.Close()
	filler, block := newFiller(t.job.Seed), make([]byte, fillBlock)
	for at := int64(0); at < o.SizeBytes; at += fillBlock {
		n := min(fillBlock, o.SizeBytes-at)
		if _, err := io.ReadFull(f, block[:n]); err != nil {
			return fmt.Errorf("fill: read back at %d: %w", at, err)
		}
		if !bytes.Equal(block[:n], filler.at(at)[:n]) {
			return fmt.Errorf("fill: what was read back at %d is not what was written", at)
		}
	}
	return nil
}
