// Package storage owns layouts (whole disk, partition, md …) and filesystems (ext4, xfs …): which there
// are, what a study may ask of them, the exact commands that make them, and how to read back what was made.
//
// The pure half (Check, Commands, Assemble, every Mkfs) is imported by the host, which refuses bad
// requests and prints the command lines before a machine exists; nothing here acts on import. The other
// half (ReadBack, Busy, DropCaches) runs in the guest through an Exec the agent supplies. Finding disks,
// guarding them and the order of work belong to guest/agent.
//
// # How to add a filesystem
//
// It is one file, named as users type the filesystem (ext4.go, zfs.go). jfs.go is the shortest one to copy.
//
//  1. Register a Filesystem in init. Every field but the marked ones is set.
//  2. Options carry the names of mkfs's own documentation; each value is checked before anything is made, so that no
//     value can become a second argument.
//  3. Mkfs and Mount are pure: the same storage and target give the same command lines, whose last word is the device's
//     node. They never ask (standard input is closed) and never answer questions for the user; the agent has proven the
//     disk before.
//  4. MinBytes and LabelMax are measured limits: one unit less makes mkfs fail or cut. Check refuses what only shows on
//     a certain disk, such as a block smaller than the disk's own.
//  5. ReadBack reports what was made in the filesystem's words, from the mounted filesystem; Effective says which fact
//     answers which option. An option that nothing can tell is left out, never echoed.
//  6. Busy names background work that must end before measuring; DropCaches empties caches beyond the page cache, and
//     fails when it cannot, since a read would then not come from the disk.
//  7. CannotDo tells a reader what a database must not expect of it.
//  8. Give every option a sample in samples_test.go, and record what the tools print into testdata/readback.
//  9. The root image gets the packages (images/root.go), or, where the kernel lacks the module, an add-on image holds
//     both (images/zfs.go).
//
// The checklist is made of tests that loop over the registry, so that the new member is in them by itself:
//
//	go test ./guest/storage -update             shapes, limits and options; writes the golden command lines to look at
//	go test ./guest/storage -vm                 this machine's real mkfs at the declared limits and with every option
//	go test ./lab/runner -run EveryStorage -vm  made, mounted, filled, read back and unmounted in a machine
//
// A layout is added the same way with Layout, TestLayouts and a row in the last test's table, which asks for one.
package storage
