package runner

import (
	"errors"
	"strings"
	"testing"

	"platter/images"
	"platter/lab"
)

// TestCheckStacks: an add-on image made for another kernel ends the run before any machine is made, as its modules would
// not load.
func TestCheckStacks(t *testing.T) {
	staged := func(name string, kind images.Kind, kernel string) stagedImage {
		return stagedImage{image: images.Image{Name: name, Manifest: images.Manifest{Recipe: images.Recipe{Kind: kind}, KernelVersion: kernel}}}
	}
	r := &run{staged: map[string]stagedImage{
		"root": staged("root", images.KindRoot, "6.12.1"), "mariadb": staged("mariadb", images.KindServer, ""), "zfs": staged("zfs", images.KindAddon, "6.12.1"),
	}}
	if err := r.checkStacks(); err != nil {
		t.Error(err)
	}
	r.staged["zfs"] = staged("zfs", images.KindAddon, "6.12.2")
	var infra *lab.InfraError
	if err := r.checkStacks(); !errors.As(err, &infra) || !strings.Contains(err.Error(), "built for kernel 6.12.2") {
		t.Errorf("modules of another kernel: %v", err)
	}
}
