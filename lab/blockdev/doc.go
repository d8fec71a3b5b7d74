// Package blockdev knows the disks of a host: what each is (Passport), what is stacked on it, who uses it, what lies on
// it, and from all that whether it may be handed to a machine. It owns the claims by which a person consents, and the
// protocol that holds a disk while a machine has it (Hold). The rule is to refuse: a disk that cannot be proven free is
// not free.
//
// Read looks at an fs.FS that holds sys, proc and dev and changes nothing; what needs more than reading files (signatures,
// the file behind a loop device, exclusive opens) is asked of the functions in Host, so that whole hosts can be made up
// in tests.
//
// It does not know libvirt, studies or machines: lab/runner acquires disks here and hands them over, cmd/platter prints
// the inventory and keeps the claims.
package blockdev
