package results

import (
	"math"
	"strings"
	"testing"
)

// TestCanonicalJSON checks the bytes, because every digest in every archive depends on them. The expected text follows
// RFC 8785: keys by UTF-16 code units, ECMAScript's number format, no blanks.
func TestCanonicalJSON(t *testing.T) {
	got, err := CanonicalJSON(map[string]any{"b": 1e21, "a": []any{1.0, 0.5, "é\n", nil, true}, "": 1e-7})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"":1e-7,"a":[1,0.5,"é\n",null,true],"b":1e+21}`; string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestCanonicalJSONRefuses(t *testing.T) {
	for name, v := range map[string]any{"NaN": math.NaN(), "infinity": math.Inf(-1), "big integer": uint64(1<<53 + 1), "nested": []any{map[string]int64{"x": -1<<53 - 1}}} {
		if got, err := CanonicalJSON(v); err == nil {
			t.Errorf("%s: got %s, want an error", name, got)
		}
	}
	if _, err := CanonicalJSON(uint64(1 << 53)); err != nil {
		t.Errorf("2^53 is exact, but: %v", err)
	}
}

// TestDigest compares with `printf '{"a":1}' | sha256sum`.
func TestDigest(t *testing.T) {
	got, err := Digest(map[string]int{"a": 1})
	if err != nil {
		t.Fatal(err)
	}
	if want := "sha256:015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"; got != want {
		t.Errorf("Digest = %s, want %s", got, want)
	}
}

func TestFingerprintsSeparate(t *testing.T) {
	h := HostFacts{Kernel: "6.12", CPUs: 2, PlatterVersion: "1"}
	base := EnvID(h, "kvm")
	newer := h
	newer.PlatterVersion = "2"
	if EnvID(newer, "kvm") != base {
		t.Error("EnvID changed with platter's version, which belongs to the software")
	}
	if EnvID(h, "tcg") == base {
		t.Error("EnvID is blind to the accelerator")
	}
	other := h
	other.Kernel = "6.13"
	if EnvID(other, "kvm") == base {
		t.Error("EnvID is blind to the host's kernel")
	}

	images := []ImageRef{{Name: "root", Digest: "sha256:1"}}
	soft := SoftwareID(&GuestFacts{Kernel: "6.12"}, images, &ServerFacts{Flavour: "mariadb", Version: "11.8"}, "1")
	for name, id := range map[string]string{
		"kernel":  SoftwareID(&GuestFacts{Kernel: "6.1"}, images, &ServerFacts{Flavour: "mariadb", Version: "11.8"}, "1"),
		"images":  SoftwareID(&GuestFacts{Kernel: "6.12"}, nil, &ServerFacts{Flavour: "mariadb", Version: "11.8"}, "1"),
		"server":  SoftwareID(&GuestFacts{Kernel: "6.12"}, images, nil, "1"),
		"platter": SoftwareID(&GuestFacts{Kernel: "6.12"}, images, &ServerFacts{Flavour: "mariadb", Version: "11.8"}, "2"),
	} {
		if id == soft {
			t.Errorf("SoftwareID is blind to %s", name)
		}
		if !strings.HasPrefix(id, "sha256:") {
			t.Errorf("%s: %s", name, id)
		}
	}
}
