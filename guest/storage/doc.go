// Package storage owns layouts (whole disk, partition, md …) and filesystems (ext4, xfs …): which there
// are, what a study may ask of them, the exact commands that make them, and how to read back what was made.
//
// The pure half (Check, Commands, Assemble, every Mkfs) is imported by the host, which refuses bad
// requests and prints the command lines before a machine exists; nothing here acts on import. The other
// half (ReadBack, Busy, DropCaches) runs in the guest through an Exec the agent supplies. Finding disks,
// guarding them and the order of work belong to guest/agent.
//
// # Adding a filesystem
//
// Write one file, named as users type the filesystem, that registers a Filesystem in init. Every
// member has the same shape; TestFilesystems is the checklist: it loops over the registry and tries
// the declared limits, options and commands, on real tools under -vm.
//
//   - Options carry the names of mkfs's own documentation; values are checked before anything is made.
//   - Mkfs is pure, never answers questions for the user, and its golden file shows the command line.
//   - MinBytes and LabelMax are measured limits: one unit less makes mkfs fail or cut.
//   - ReadBack reports in the filesystem's words; Effective says which fact answers which option.
//   - CannotDo tells a reader what a database must not expect of it.
//
// Adding a layout is the same with Layout and TestLayouts.
package storage
