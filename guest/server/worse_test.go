package server

import "testing"

func TestWorse(t *testing.T) {
	for _, c := range [][3]string{
		{"", DurableFull, DurableFull}, {DurableFull, DurableNone, DurableNone}, {DurableNone, DurableFull, DurableNone},
		{DurableOSCrash, DurableProcessCrash, DurableProcessCrash},
	} {
		if got := Worse(c[0], c[1]); got != c[2] {
			t.Errorf("Worse(%q, %q) = %q, want %q", c[0], c[1], got, c[2])
		}
	}
}
