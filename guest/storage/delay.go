package storage

import (
	"fmt"
	"math"
	"strings"

	"platter/guest"
)

const (
	mapperDir   = "/dev/mapper/"
	delayPrefix = "platter-delay-"
)

// delay puts dm-delay over a disk whose requests shall take longer, in whole milliseconds as the
// target takes them. libvirt's limits bound rates; only this adds latency.
func delay(d guest.Disk, t Target) (Target, []Step) {
	if d.ReadDelaySeconds == 0 && d.WriteDelaySeconds == 0 {
		return t, nil
	}
	dev := t.Device()
	read, write := millis(d.ReadDelaySeconds), millis(d.WriteDelaySeconds)
	table := fmt.Sprintf("0 %d delay %s 0 %d %s 0 %d", d.SizeBytes/512, dev, read, dev, write)
	name := delayPrefix + d.Name
	path := mapperDir + name
	t.Devices = []string{path}
	return t, []Step{{
		Argv:  []string{"dmsetup", "create", name, "--table", table},
		Await: []Node{{Path: path, SizeBytes: d.SizeBytes}},
	}}
}

// undelay returns the command that removes what delay made of a disk.
func undelay(t Target) [][]string {
	name, mapped := strings.CutPrefix(t.Device(), mapperDir)
	if !mapped || !strings.HasPrefix(name, delayPrefix) {
		return nil
	}
	return [][]string{{"dmsetup", "remove", name}}
}

func millis(seconds float64) int64 { return int64(math.Round(seconds * 1000)) }
