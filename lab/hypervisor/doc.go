// Package hypervisor runs machines on a host through libvirt.
//
// It owns the connection to libvirt's daemons (which socket, whose process,
// started by whom, every call with a deadline), the storage below one directory
// that QEMU can reach, the life of a machine from its XML to its death, and the
// finding and removing of what a dead process left behind. It is the only
// importer of go-libvirt.
//
// It does not decide what a machine is made of (lab/domain), what runs inside
// (lab/remote and the guest), or in which order trials happen (lab/runner, its
// caller).
//
// A caller gets handles, readers and dialers and never opens a path itself: the
// paths in a domain.Spec are names on the machine's host, which need not be this
// one. Today only local daemons are accepted.
//
// # Connections
//
// A Host keeps one connection for calls and one for events. Each machine holds
// a third, which made it: its domain is transient and autodestroyed, so that
// libvirt ends it when that connection ends, whatever became of our process. A
// call that does not answer in time costs the connection it was made on, and no
// machine but its own.
//
//	host, err := hypervisor.Open(ctx, hypervisor.Options{Log: log})
//	defer host.Close()
//	kernel, err := host.Stage(ctx, "vmlinuz", digest, open)
//	volume, err := host.CreateVolume(ctx, hypervisor.VolumeSpec{Tag: tag, Name: "data0", SizeBytes: 1 << 30})
//	machine, err := host.Start(ctx, domain.Spec{ /* … */ })
//	defer machine.Destroy(context.WithoutCancel(ctx))
package hypervisor
