package guest

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"max-connections", "innodb-buffer-pool-size", "innodb-buffer-pool-chunk-size", "abc", "abd"}
	for word, want := range map[string]string{
		"innodb-bufer-pool-size": "innodb-buffer-pool-size", "max-conections": "max-connections", "abx": "abc",
		"nothing-like-that": "", "": "",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}
