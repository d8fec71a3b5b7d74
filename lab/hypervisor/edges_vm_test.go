package hypervisor

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/digitalocean/go-libvirt"

	"platter/lab/domain"
)

// TestPersistentLeftovers is case B15: a machine of ours that somebody defined,
// saved, snapshot or stopped by hand, or that has UEFI variables, is removed at
// the first try, and a second removal does nothing. The case's stale pool does
// not apply: volumes are files below a directory with our owner file, and no
// libvirt pool is ever made.
func TestPersistentLeftovers(t *testing.T) {
	storage := storageRoot(t)
	h := openHost(t, storage)
	cases := []struct {
		name string
		edge func(t *testing.T, h *Host, dom libvirt.Domain)
		xml  func(t *testing.T, text string) string
	}{
		{name: "stopped"},
		{name: "running", edge: startIt},
		{name: "saved", edge: func(t *testing.T, h *Host, dom libvirt.Domain) {
			startIt(t, h, dom)
			must(t, h, "DomainManagedSave", func(lv *libvirt.Libvirt) error { return lv.DomainManagedSave(dom, 0) })
		}},
		{name: "snapshot", edge: func(t *testing.T, h *Host, dom libvirt.Domain) {
			must(t, h, "DomainSnapshotCreateXML", func(lv *libvirt.Libvirt) error {
				text, err := lv.DomainGetXMLDesc(dom, 0)
				if err != nil {
					return err
				}
				// Of a machine without disks only the record of a snapshot can be made.
				record := "<domainsnapshot><name>by-hand</name><state>shutoff</state><creationTime>1</creationTime>" + text + "</domainsnapshot>"
				_, err = lv.DomainSnapshotCreateXML(dom, record, uint32(libvirt.DomainSnapshotCreateRedefine))
				return err
			})
		}},
		{name: "nvram", xml: withVariables},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dom, name := definePersistent(t, h, "platter-test-edge-"+c.name, c.xml)
			if c.edge != nil {
				c.edge(t, h, dom)
			}
			var left *Leftover
			for _, l := range ours(t, h, storage, DeadOwners) {
				if l.Kind == LeftoverDomain && l.Name == name {
					left = &l
				}
			}
			if left == nil {
				t.Fatal("it is not found")
			}
			for range 2 {
				if err := h.Remove(t.Context(), *left); err != nil {
					t.Error(err)
				}
			}
			noDomain(t, h, name)
			saves, err := filepath.Glob("/var/lib/libvirt/qemu/*/" + name + "*")
			if err != nil || len(saves) != 0 {
				t.Errorf("it left %v, %v", saves, err)
			}
		})
	}
}

func startIt(t *testing.T, h *Host, dom libvirt.Domain) {
	t.Helper()
	must(t, h, "DomainCreate", func(lv *libvirt.Libvirt) error { return lv.DomainCreate(dom) })
}

func must(t *testing.T, h *Host, what string, call func(*libvirt.Libvirt) error) {
	t.Helper()
	_, err := ask(t.Context(), h, what, createLimit, func(lv *libvirt.Libvirt) (struct{}, error) { return struct{}{}, call(lv) })
	if err != nil {
		t.Fatal(err)
	}
}

// definePersistent defines a machine of a dead owner without starting it, as
// `virsh define` does. It has no disks, so it can be saved and snapshot.
func definePersistent(t *testing.T, h *Host, name string, change func(*testing.T, string) string) (libvirt.Domain, string) {
	t.Helper()
	info, err := h.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := idleSpec(t, h, "victim", name)
	s.Tag = deadTag(t, "victim")
	if s, err = h.complete(info, s); err != nil {
		t.Fatal(err)
	}
	if s.SSHPort, err = freePort(); err != nil {
		t.Fatal(err)
	}
	if err := h.prepare(t.Context(), info, s); err != nil {
		t.Fatal(err)
	}
	text, err := domain.Build(s)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		text = change(t, text)
	}
	dom, err := ask(t.Context(), h, "DomainDefineXML", createLimit, func(lv *libvirt.Libvirt) (libvirt.Domain, error) {
		return lv.DomainDefineXML(text)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		h.destroyDomain(context.Background(), dom)
		h.undefineDomain(context.Background(), dom)
	})
	return dom, s.Name
}

// withVariables gives a machine UEFI variables, in a file that libvirt knows of.
func withVariables(t *testing.T, text string) string {
	t.Helper()
	dir := storageRoot(t)
	code, variables := filepath.Join(dir, "code.fd"), filepath.Join(dir, "variables.fd")
	for _, path := range []string{code, variables} {
		if err := os.WriteFile(path, make([]byte, 64<<10), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	firmware := "<loader readonly='yes' type='pflash'>" + code + "</loader><nvram>" + variables + "</nvram></os>"
	changed := strings.Replace(text, "</os>", firmware, 1)
	if changed == text {
		t.Fatal("the machine has no <os>")
	}
	t.Cleanup(func() {
		if _, err := os.Stat(variables); err == nil {
			t.Error("the variables stayed")
		}
	})
	return changed
}
