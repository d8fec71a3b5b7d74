package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/docker/go-units"

	"platter/results"
)

// fact is one thing about a trial that a comparison must hold equal, or must declare.
type fact struct {
	name  string
	value string
	// owners are the factors that may change it: when one of them varies, a difference here is a declared one.
	owners []string
	// asked is what the study wanted, for facts that may come out otherwise: a factor declares what it asks for, never
	// what became of it.
	asked string
	// critical facts change numbers so much that cells which differ in them are not compared, unless it was declared.
	critical bool
}

var (
	ownStorage  = []string{"storage"}
	ownServer   = []string{"server"}
	ownConfig   = []string{"config", "server"}
	ownMachine  = []string{"machine"}
	ownWorkload = []string{"workload"}
	ownAny      = []string{"storage", "server", "config"}
	ownCell     = []string{"storage", "server", "engine", "config", "workload"}
)

// subjectOwners says which factors a setting's subject belongs to.
var subjectOwners = map[string][]string{
	"server": ownConfig, "filesystem": ownStorage, "mount": ownStorage, "layout": ownStorage, "disk": ownStorage,
	"machine": ownMachine, "workload": ownWorkload,
}

// The names of the three fingerprints: of what was measured, of where, and with which software.
const (
	cellFingerprint        = "fingerprint of the cell"
	EnvironmentFingerprint = "fingerprint of the environment"
	SoftwareFingerprint    = "fingerprint of the software"
)

// factsOf lists the facts of a result. A failed trial has fewer: what it never learnt is left out, not different.
func factsOf(r results.Result) []fact {
	var facts []fact
	add := func(owners []string, name, value string) {
		if value != "" {
			facts = append(facts, fact{name: name, value: oneLine(value), owners: owners, critical: isCritical(name)})
		}
	}
	add(nil, "accelerator", r.Accel)
	add(ownCell, cellFingerprint, shortDigest(r.CellID))
	add(nil, EnvironmentFingerprint, shortDigest(r.EnvID))
	add(ownServer, SoftwareFingerprint, shortDigest(r.SoftwareID))
	add(nil, "host kernel", r.Host.Kernel)
	add(nil, "host processor", r.Host.CPUModel)
	add(nil, "host processors", count(r.Host.CPUs))
	add(nil, "host memory", size(r.Host.MemoryBytes))
	add(nil, "libvirt", r.Host.LibvirtVersion)
	add(nil, "qemu", r.Host.QEMUVersion)
	add(nil, "machine type", r.Host.MachineType)
	add(nil, "platter", r.Host.PlatterVersion)
	if g := r.Guest; g != nil {
		add(nil, "guest kernel", g.Kernel)
		add(nil, "guest architecture", g.Arch)
		add(ownMachine, "guest processors", count(g.CPUs))
		// What the kernel leaves of the memory varies a little from boot to boot.
		add(ownMachine, "guest memory", size(g.MemoryBytes/memoryStep*memoryStep))
	}
	for _, image := range r.Images {
		add(ownServer, "image "+image.Name, shortDigest(image.Digest))
	}
	for _, d := range r.Disks {
		add(ownStorage, "disk "+d.Name+" size", size(d.SizeBytes))
		add(ownStorage, "disk "+d.Name+" cache", d.CacheEffective)
		if n := len(facts) - 1; d.CacheEffective != "" {
			facts[n].asked = oneLine(d.CacheAsked)
		}
		add(ownStorage, "disk "+d.Name, describeDisk(d))
	}
	if s := r.Storage; s != nil {
		add(ownStorage, "filesystem", s.Filesystem)
		add(ownStorage, "layout", s.Layout)
		add(ownStorage, "mount options", s.MountOptions)
	}
	if s := r.Server; s != nil {
		add(ownServer, "server", s.Flavour+" "+s.Version)
	}
	add(ownAny, "durability", r.Durability)
	for _, setting := range r.Settings {
		if setting.Subject == "machine" && setting.Name == "memory_bytes" && setting.Asked != nil {
			add(ownMachine, "machine memory_bytes", *setting.Asked) // the kernel leaves a little less, and not always as much
			continue
		}
		if setting.Effective != nil && setting.Subject != "disk" { // disks are described above
			add(subjectOwners[setting.Subject], setting.Subject+" "+setting.Name, *setting.Effective)
		}
	}
	return facts
}

const memoryStep = 64 << 20

func count(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func size(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	return units.BytesSize(float64(bytes))
}

// shortDigest keeps enough of a digest to tell images apart by eye.
func shortDigest(digest string) string {
	const enough = len("sha256:") + 12
	return digest[:min(len(digest), enough)]
}

func describeDisk(d results.DiskFacts) string {
	parts := []string{d.Kind, d.Bus, "io " + d.IOEffective, "preallocation " + d.Preallocation}
	if d.LogicalBlockBytes != nil && d.PhysicalBlockBytes != nil {
		parts = append(parts, fmt.Sprintf("blocks %d/%d", *d.LogicalBlockBytes, *d.PhysicalBlockBytes))
	}
	if d.Emulated != "" {
		parts = append(parts, "emulates "+d.Emulated)
	}
	if d.Passport != nil {
		parts[0] = "passthrough " + d.Kind
		parts = append(parts, d.Passport.String())
	}
	if d.Model != "" {
		parts = append(parts, d.Model)
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" || strings.HasSuffix(p, " ") }), ", ")
}

// isCritical names the facts of which a comparison must not be blind: accelerator, durability class, size and cache mode
// of disks, processors and memory of the machine, version of the server.
func isCritical(name string) bool {
	switch name {
	case "accelerator", "durability", "server", "guest processors", "machine memory_bytes":
		return true
	}
	return strings.HasPrefix(name, "disk ") && (strings.HasSuffix(name, " size") || strings.HasSuffix(name, " cache"))
}

// titles gathers what the title must say.
type titles struct{ accelerators, caches, durability, emulated, passthrough map[string]bool }

func (t *titles) add(r results.Result) {
	put(&t.accelerators, r.Accel)
	put(&t.durability, r.Durability)
	for _, d := range r.Disks {
		put(&t.caches, d.CacheEffective)
		put(&t.emulated, d.Emulated)
		if d.Passport != nil {
			put(&t.passthrough, d.Name+" ("+d.Passport.String()+")")
		}
	}
}

func put(set *map[string]bool, value string) {
	if value == "" {
		return
	}
	if *set == nil {
		*set = map[string]bool{}
	}
	(*set)[value] = true
}
