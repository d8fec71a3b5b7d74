package storage

import (
	"fmt"

	"platter/guest"
)

// log_writes is the kernel's dm-log-writes: everything goes to the first disk, and the second keeps each write, in the
// order in which the disk was told to make it durable. What a power cut at any moment would have left on the first disk
// can be made from the second (guest/agent does). It costs speed: it is for crash checks, not for numbers of speed.
func init() {
	registerLayout(Layout{
		Name:     "log_writes",
		Tools:    []string{"dmsetup"},
		Modules:  []string{"dm-log-writes"},
		Packages: []string{"dmsetup"},
		Options:  []Option{{"keep", "which writes go to the log: all", oneOf("all")}},
		MinOf:    2, MaxOf: 2,
		Check: noLayoutFaults,
		Build: func(node guest.Layout, of []Target, id int) (Target, []Step) {
			path := mapperDir + logWritesName(id)
			table := fmt.Sprintf("0 %d log-writes %s %s", of[0].SizeBytes/512, of[0].Device(), of[1].Device())
			return Target{Devices: []string{path}, SizeBytes: of[0].SizeBytes, LogicalBlockBytes: of[0].LogicalBlockBytes},
				[]Step{{Argv: []string{"dmsetup", "create", logWritesName(id), "--table", table},
					Await: []Node{{Path: path, SizeBytes: of[0].SizeBytes}}}}
		},
		Teardown: func(_ guest.Layout, _ []Target, id int) [][]string {
			return [][]string{{"dmsetup", "remove", logWritesName(id)}}
		},
		Describe: describe("log_writes"),
		ReadBack: noLayoutFacts,
		Busy:     layoutNeverBusy,
	})
}

func logWritesName(id int) string { return fmt.Sprintf("platter-log-writes%d", id) }

// Reassembles tells whether building a layout again on the disks of an earlier machine finds what that one left, instead
// of making it anew.
func Reassembles(l guest.Layout) bool {
	switch l.Kind {
	case "", "disk":
		return true
	case "log_writes":
		return len(l.Of) == 2 && Reassembles(l.Of[0])
	}
	return false
}
