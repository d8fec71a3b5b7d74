package planner_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"platter/guest"
	"platter/lab"
	"platter/lab/planner"
)

// TestExhaustionIsForeseen is the part of case B78 that a plan can know: tables that the disk cannot hold are refused
// before anything is made. What grows beyond its estimate, and memory, which a server takes only when it needs it, are
// noticed while a trial runs.
func TestExhaustionIsForeseen(t *testing.T) {
	tables := func(options string, diskBytes int64) []error {
		return planner.Registry{}.Step(
			guest.Step{Do: "prepare", Workload: "oltp_read_write", Options: json.RawMessage(options)},
			lab.Site{Server: guest.Server{Image: "mariadb-11.8"},
				Storage: guest.Storage{Filesystem: "ext4", Layout: guest.Layout{Kind: "disk", Disk: "data"}},
				Disks:   []guest.Disk{{Name: "data", Serial: "data", SizeBytes: diskBytes}}})
	}
	if text := fmt.Sprint(tables(`{"tables": 10, "table_size": 100000}`, 256<<20)); !strings.Contains(text, "bytes are needed on disk, there are 268435456") {
		t.Errorf("10 tables of 100,000 rows on 256 MiB: %s", text)
	}
	if errs := tables(`{"tables": 10, "table_size": 100000}`, 10<<30); len(errs) > 0 {
		t.Errorf("the same on 10 GiB: %v", errs)
	}
}
