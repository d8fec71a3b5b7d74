package results

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestHide: serial and WWN leave a text, and nothing else of it changes.
func TestHide(t *testing.T) {
	for _, c := range []struct {
		serial, wwn, text, want string
	}{
		{"S5GXNX0", "", "--set disks.flash.claim=S5GXNX0", "--set disks.flash.claim=" + HashIdentity("S5GXNX0")},
		{"S5GXNX0", "", "S5GXNX01 xS5GXNX0 S5GXNX0_2", "S5GXNX01 xS5GXNX0 S5GXNX0_2"},
		{"S5", "naa.500a", "claim: NAA.500A # not 500a", "claim: " + HashIdentity("naa.500a") + " # not 500a"},
		{"4096", "", `{"serial": "4096", "size": 4096, "claim": 4096}`, `{"serial": "` + HashIdentity("4096") + `", "size": 4096, "claim": 4096}`},
		{"4096", "", "disks.a.claim=4096 size: 4096\n claim: 4096", "disks.a.claim=" + HashIdentity("4096") + " size: 4096\n claim: " + HashIdentity("4096")},
		{"(a b)", "", "x(a b)y", "x" + HashIdentity("(a b)") + "y"},
		{HashIdentity("S1"), "", "claim: " + HashIdentity("S1"), "claim: " + HashIdentity("S1")},
		{"", "", "nothing known", "nothing known"},
	} {
		if got := (Passport{Serial: c.serial, WWN: c.wwn}).Hide(c.text); got != c.want {
			t.Errorf("%q, %q in %q: got %q, want %q", c.serial, c.wwn, c.text, got, c.want)
		}
	}
}

// TestHashedPassport: a hash stands for one disk, and a passport that holds it is compared with the disk's own.
func TestHashedPassport(t *testing.T) {
	p := Passport{Serial: "S5GXNX0", WWN: "naa.500a", Model: "ACME", SizeBytes: 5, Backing: &Backing{Path: "/home/ann/x", Inode: 7}}
	text, err := json.Marshal(p.Hashed())
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{p.Serial, p.WWN, "ann"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("%s is in %s", secret, text)
		}
	}
	if twice := p.Hashed().Hashed(); twice != p.Hashed() {
		t.Errorf("hashed twice: %+v", twice)
	}
	if differs := p.Hashed().Differences(p); len(differs) > 0 {
		t.Errorf("a disk differs from its hashed passport: %q", differs)
	}
	other := p
	other.Serial = "S5GXNX1"
	if differs := p.Hashed().Differences(other); len(differs) != 1 || !strings.HasPrefix(differs[0], "serial was sha256:") {
		t.Errorf("another disk: %q", differs)
	}
}
