package hypervisor

import (
	"fmt"

	"platter/lab/domain"
)

// Auto lets ResolveCache choose.
const Auto = "auto"

// CacheMode is how QEMU opens an image, as asked or as it will be.
type CacheMode struct {
	Cache domain.Cache // asked: also "auto" or empty
	IO    domain.IO    // asked: also "auto" or empty
}

// CacheError says that a directory cannot do what was asked.
type CacheError struct {
	Asked  CacheMode
	Reason string
}

func (e *CacheError) Error() string {
	return fmt.Sprintf("cache %s with io %s: %s", orAuto(string(e.Asked.Cache)), orAuto(string(e.Asked.IO)), e.Reason)
}

func orAuto(text string) string {
	if text == "" {
		return Auto
	}
	return text
}

// ResolveCache turns what was asked into what the probed directory can do. Only
// "auto" may become the page cache: an explicit mode is kept or refused, since
// numbers of different modes must not be mixed. Results store both.
func ResolveCache(asked CacheMode, p Probe) (CacheMode, error) {
	refuse := func(format string, args ...any) (CacheMode, error) {
		return CacheMode{}, &CacheError{Asked: asked, Reason: fmt.Sprintf(format, args...)}
	}
	out := asked
	if orAuto(string(asked.Cache)) == Auto {
		out.Cache = domain.CacheWriteback
		if p.DirectIO || asked.IO == domain.IONative {
			out.Cache = domain.CacheNone
		}
	}
	direct := out.Cache.Direct()
	if direct && !p.DirectIO {
		return refuse("the %s file system of the images does no direct I/O (%s); use cache auto or writeback, or another --storage-dir", p.Filesystem, p.DirectIOReason)
	}
	switch out.IO {
	case "", Auto:
		out.IO = domain.IOThreads
		if direct {
			out.IO = domain.IONative
		}
	case domain.IONative:
		if !direct {
			return refuse("io native needs cache none or directsync; use io threads")
		}
	case domain.IOUring:
		if !p.IOURing {
			return refuse("the host does not allow io_uring (%s); use io native or threads", p.IOURingReason)
		}
	case domain.IOThreads:
	default:
		return refuse("want io native, threads, io_uring or auto")
	}
	switch out.Cache {
	case domain.CacheNone, domain.CacheDirectsync, domain.CacheWriteback, domain.CacheWritethrough, domain.CacheUnsafe:
		return out, nil
	}
	return refuse("want cache none, directsync, writeback, writethrough, unsafe or auto")
}
