package remote

import "testing"

func TestFinder(t *testing.T) {
	const marker = "platter: ready"
	text := "kernel text platter: rea platter: ready\nmore"
	for cut := range len(text) {
		for _, size := range []int{1, 3, len(text)} {
			f := NewFinder(marker)
			f.Write([]byte(text[:cut]))
			for rest := text[cut:]; rest != ""; {
				n := min(size, len(rest))
				f.Write([]byte(rest[:n]))
				rest = rest[n:]
			}
			if ok, _ := f.Seen(); !ok {
				t.Errorf("cut at %d, then writes of %d: not seen", cut, size)
			}
		}
	}
	f := NewFinder(marker)
	for range 1000 {
		f.Write([]byte("platter: read"))
	}
	if ok, _ := f.Seen(); ok || len(f.tail) >= len(marker) {
		t.Errorf("seen %v, keeps %d bytes", ok, len(f.tail))
	}
}
