// Package domain turns the description of one machine into libvirt domain XML.
//
// It is pure: the same Spec gives the same bytes, nothing is opened, asked or
// created, and every decision about devices (which bus, which PCI slot, which
// cache mode reaches QEMU) can be read in a golden file under testdata.
//
// It owns the words of a machine (Spec, Disk, Limits, Tag), their validation,
// the placement of devices on the PCI root complex and the tag by which our
// domains are recognised. It does not choose defaults that depend on a host:
// emulator, machine type, accelerator, paths and ports are given by the caller.
// lab/runner fills in a Spec, lab/hypervisor completes it from the host's
// capabilities, calls Build and keeps the XML.
package domain
