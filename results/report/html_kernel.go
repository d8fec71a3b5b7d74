package report

import (
	"fmt"
	"strings"
)

// htmlKernel is some seconds of a trial, as two well-known tools print them.
type htmlKernel struct {
	Heading                 string
	Vmstat, Processor, Disk grid
}

// kernelTables prints the seconds of each cell in the columns of vmstat, sar -u and, for what neither has, the disks.
func kernelTables(m *Model) []htmlKernel {
	var out []htmlKernel
	for _, k := range m.Kernel[:min(len(m.Kernel), maxFigures)] {
		table := htmlKernel{
			Heading:   fmt.Sprintf("%s: trial %s, %d seconds from the middle of step %s", strings.Trim(k.Row+" "+k.Column, " "), k.Trial, len(k.Lines), k.Step),
			Vmstat:    grid{Header: []string{"second", "r", "b", "swpd", "free", "buff", "cache", "si", "so", "bi", "bo", "in", "cs", "us", "sy", "id", "wa", "st"}},
			Processor: grid{Header: []string{"second", "%user", "%nice", "%system", "%iowait", "%steal", "%idle"}},
			Disk:      grid{Header: []string{"second", "KiB read/s", "KiB written/s", "flushes/s", "KiB dirty"}},
		}
		for _, l := range k.Lines {
			second := fmt.Sprintf("%.1f", l.Seconds)
			whole := []string{second}
			for _, v := range []float64{l.Running, l.Blocked, kib(l.SwappedBytes), kib(l.FreeBytes), kib(l.BuffersBytes), kib(l.CachedBytes),
				kib(l.SwappedIn), kib(l.SwappedOut), kib(l.ReadBytes), kib(l.WrittenBytes), l.Interrupts, l.ContextSwitches,
				100 * (l.User + l.Nice), 100 * l.System, 100 * l.Idle, 100 * l.IOWait, 100 * l.Steal} {
				whole = append(whole, fmt.Sprintf("%.0f", v))
			}
			table.Vmstat.Rows = append(table.Vmstat.Rows, whole)
			shares := []string{second}
			for _, v := range []float64{l.User, l.Nice, l.System, l.IOWait, l.Steal, l.Idle} {
				shares = append(shares, fmt.Sprintf("%.2f", 100*v))
			}
			table.Processor.Rows = append(table.Processor.Rows, shares)
			table.Disk.Rows = append(table.Disk.Rows, []string{second, fmt.Sprintf("%.0f", kib(l.ReadBytes)), fmt.Sprintf("%.0f", kib(l.WrittenBytes)),
				fmt.Sprintf("%.0f", l.Flushes), fmt.Sprintf("%.0f", kib(l.DirtyBytes))})
		}
		out = append(out, table)
	}
	return out
}

func kib(bytes float64) float64 { return bytes / 1024 }
