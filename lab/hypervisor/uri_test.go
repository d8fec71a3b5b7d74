package hypervisor

import (
	"errors"
	"strings"
	"testing"
)

func TestChooseURI(t *testing.T) {
	env := func(value string) func(string) string {
		return func(name string) string {
			if name == "LIBVIRT_DEFAULT_URI" {
				return value
			}
			return ""
		}
	}
	cases := []struct {
		asked, env string
		uid        int
		want       string
	}{
		{"qemu:///session", "qemu:///system", 0, "qemu:///session"},
		{"", "qemu:///session", 0, "qemu:///session"},
		{"", "", 0, "qemu:///system"},
		{"", "", 1000, "qemu:///session"},
	}
	for _, c := range cases {
		if got := chooseURI(c.asked, env(c.env), c.uid); got != c.want {
			t.Errorf("chooseURI(%q, env %q, uid %d) = %q, want %q", c.asked, c.env, c.uid, got, c.want)
		}
	}
}

func TestParseURI(t *testing.T) {
	cases := []struct {
		uri    string
		uid    int
		want   address
		remote bool
		refuse string // part of the message, empty when accepted
	}{
		{uri: "qemu:///system", uid: 1000, want: address{mode: SystemMode}},
		{uri: "qemu:///session", uid: 1000, want: address{mode: SessionMode}},
		{uri: "qemu+unix:///system?socket=/tmp/s", want: address{mode: SystemMode, socket: "/tmp/s"}},
		{uri: "qemu:///session", uid: 0, refuse: "root has no session daemon"},
		{uri: "qemu:///embed?root=/tmp/x", refuse: "no such driver"},
		{uri: "qemu:///", refuse: "no such driver"},
		{uri: "qemu+ssh://ann@db7/system", remote: true, refuse: "names host db7"},
		{uri: "qemu+ssh://[::1]:2222/system", remote: true, refuse: "names host [::1]:2222"},
		{uri: "qemu+tcp://db7/system", remote: true, refuse: "db7"},
		{uri: "qemu+tls:///system", remote: true, refuse: "its transport is remote"},
		{uri: "qemu+libssh2://h/system", remote: true, refuse: "host h"},
		{uri: "qemu+ext:///system?command=x", remote: true, refuse: "its transport is remote"},
		{uri: "qemu://db7/system", remote: true, refuse: "host db7"},
		{uri: "lxc:///system", refuse: "only QEMU"},
		{uri: "test:///default", refuse: "only QEMU"},
		{uri: "mylab", refuse: "only QEMU"}, // an alias of libvirt.conf
		{uri: "qemu+unix:///system?mode=direct", refuse: "mode=direct"},
		{uri: "qemu:///sys%zz", refuse: "not a URI"},
	}
	for _, c := range cases {
		got, err := parseURI(c.uri, c.uid)
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.uri, got, c.want)
		}
		if (err != nil) != (c.refuse != "") || err != nil && !strings.Contains(err.Error(), c.refuse) {
			t.Errorf("%s: error %v, want %q", c.uri, err, c.refuse)
		}
		var remote *RemoteURIError
		if errors.As(err, &remote) != c.remote {
			t.Errorf("%s: error is %T, remote should be %v", c.uri, err, c.remote)
		}
	}
}
