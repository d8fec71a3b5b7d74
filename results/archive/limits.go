package archive

import "fmt"

// Limits bound what a packed file may make its reader do. Pack keeps to them too, so that what it writes can be read.
type Limits struct {
	Bytes         int64 // of all files, unpacked
	Files         int
	Ratio         int64 // unpacked bytes for one packed byte, once RatioFrom bytes came out
	RatioFrom     int64
	ManifestBytes int64
	NameBytes     int // of a member's whole name
	Depth         int // components of a member's name
}

// DefaultLimits hold any night of trials and stop a bomb: logs that repeat one line for ever shrink by some thousands,
// which is why the ratio counts only from a size on.
func DefaultLimits() Limits {
	return Limits{
		Bytes: 64 << 30, Files: 2_000_000, Ratio: 400, RatioFrom: 256 << 20,
		ManifestBytes: 512 << 20, NameBytes: 1024, Depth: 16,
	}
}

// checkTotals refuses what is too many, too large, or swells too much. packed is 0 where it is not known yet.
func (l Limits) checkTotals(files int, bytes, packed int64) error {
	switch {
	case files > l.Files:
		return fmt.Errorf("more than %d files", l.Files)
	case bytes > l.Bytes:
		return fmt.Errorf("more than %d bytes unpacked", l.Bytes)
	case packed > 0 && bytes > l.RatioFrom && bytes/packed >= l.Ratio:
		return fmt.Errorf("swells %d-fold, more than %d: a bomb", bytes/packed, l.Ratio)
	}
	return nil
}
