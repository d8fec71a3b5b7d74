package main

import (
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/urfave/cli/v2"

	"platter/images"
	"platter/lab"
	"platter/lab/hypervisor"
	"platter/lab/planner"
	"platter/lab/runner"
)

func doctorCommand() *cli.Command {
	return &cli.Command{
		Name:        "doctor",
		Usage:       "look at what this host has for running studies, and say what to do about the rest",
		Description: "Changes nothing. Ends with status 2 when a study could not run.",
		Flags:       append(hostFlags(), imageFlags()...),
		Action:      doctor,
	}
}

// verdict is what doctor says of one thing.
type verdict string

const (
	fine    verdict = "ok"
	caution verdict = "note" // works, with a consequence
	missing verdict = "FAIL" // a study cannot run
)

// finding is one line of doctor's.
type finding struct {
	verdict verdict
	what    string
	detail  string
}

func doctor(c *cli.Context) error {
	if err := arguments(c, 0, 0, "no arguments"); err != nil {
		return err
	}
	findings := append(examineHost(c), examineImages(c)...)
	failed := printFindings(c.App.Writer, findings)
	if failed > 0 {
		return &lab.InputError{Err: fmt.Errorf("%s must be put right before a study can run here", count(failed, "thing"))}
	}
	_, err := fmt.Fprintln(c.App.Writer, "\nstudies can run here: try platter plan ext4-vs-xfs@smoke")
	return err
}

func printFindings(w io.Writer, findings []finding) (failed int) {
	for _, f := range findings {
		if f.verdict == missing {
			failed++
		}
		fmt.Fprintf(w, "%-4s  %-14s  %s\n", f.verdict, f.what, strings.ReplaceAll(f.detail, "\n", "\n                      "))
	}
	return failed
}

// examineHost looks at the hypervisor and what depends on it.
func examineHost(c *cli.Context) []finding {
	host, err := openHost(c.Context, c)
	if err != nil {
		return []finding{{missing, "hypervisor", err.Error()}}
	}
	defer host.Close()
	info, err := host.Info(c.Context)
	if err != nil {
		return []finding{{missing, "hypervisor", err.Error()}}
	}
	out := []finding{{fine, "hypervisor", fmt.Sprintf("%s, libvirt %s, QEMU %s, %s", info.URI, info.LibvirtVersion, info.QEMUVersion, info.MachineType)}}
	out = append(out, examineAccel(info), examineMemory(info))
	facts, err := hostFacts(c.Context, host)
	if err != nil {
		out = append(out, finding{missing, "storage", err.Error()})
	} else {
		out = append(out, examineStorage(facts))
	}
	if path, err := runner.FindGuestBinary(info.Arch); err != nil {
		out = append(out, finding{missing, "guest binary", err.Error()})
	} else {
		out = append(out, finding{fine, "guest binary", path})
	}
	return out
}

func examineAccel(info hypervisor.Info) finding {
	switch {
	case info.KVM:
		return finding{fine, "acceleration", "KVM"}
	case info.TCG:
		return finding{caution, "acceleration", "software emulation (tcg), since " + info.KVMReason + "; results say so and compare with each other only"}
	default:
		return finding{missing, "acceleration", "neither KVM (" + info.KVMReason + ") nor software emulation; install qemu-system-x86"}
	}
}

func examineMemory(info hypervisor.Info) finding {
	detail := fmt.Sprintf("%d CPUs, %d MiB of memory, %d MiB available", info.CPUs, info.MemoryBytes>>20, info.AvailableMemoryBytes>>20)
	if info.AvailableMemoryBytes < 1280<<20 {
		return finding{caution, "machine", detail + ": too little for a machine of 1GiB"}
	}
	return finding{fine, "machine", detail}
}

func examineStorage(h planner.Host) finding {
	detail := h.StorageDir
	if h.FreeBytes > 0 {
		detail += fmt.Sprintf(", %d MiB free", h.FreeBytes>>20)
	}
	if h.DirectIO != nil && !*h.DirectIO {
		return finding{caution, "storage", fmt.Sprintf("%s, no O_DIRECT (%s): disks use the host's page cache, and results say so; choose another --storage-dir", detail, h.DirectIOReason)}
	}
	return finding{fine, "storage", detail + ", O_DIRECT works"}
}

// imageTools are the programs that build images, with the Debian packages that hold them.
var imageTools = []struct{ program, pkg string }{{"mmdebstrap", "mmdebstrap"}, {"mksquashfs", "squashfs-tools"}}

// examineImages looks at what is built, and whether the rest could be.
func examineImages(c *cli.Context) []finding {
	s, err := openImages(c)
	if err != nil {
		return []finding{{missing, "images", err.Error()}}
	}
	cached, damaged := s.cache.List()
	have := map[string]bool{}
	for _, i := range cached {
		have[i.Digest] = true
	}
	var built, unbuilt []string
	for _, r := range images.Catalogue() {
		if have[r.Digest(s.options)] {
			built = append(built, r.Name)
		} else {
			unbuilt = append(unbuilt, r.Name)
		}
	}
	out := []finding{{fine, "images", fmt.Sprintf("%s: built %s; built when needed: %s", s.cache.Dir(), listOrNone(built), listOrNone(unbuilt))}}
	if damaged != nil {
		out = append(out, finding{caution, "images", damaged.Error() + "; platter images prune removes it"})
	}
	if len(unbuilt) == 0 {
		return out
	}
	for _, t := range imageTools {
		if path, err := exec.LookPath(t.program); err != nil {
			out = append(out, finding{missing, t.program, "not found, and images must be built: apt install " + t.pkg})
		} else {
			out = append(out, finding{fine, t.program, path})
		}
	}
	return out
}

func listOrNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
