package hypervisor

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/digitalocean/go-libvirt"
)

// BlockStats counts what QEMU did for one disk since the machine started.
// Latencies are sums over all requests. QEMU 7.2 does not count the flushes of
// NVMe disks: there, zero says nothing.
type BlockStats struct {
	ReadRequests  uint64
	ReadBytes     uint64
	ReadTimeNs    uint64
	WriteRequests uint64
	WriteBytes    uint64
	WriteTimeNs   uint64
	FlushRequests uint64
	FlushTimeNs   uint64
}

// statsBlock selects the block group of ConnectGetAllDomainStats
// (VIR_DOMAIN_STATS_BLOCK).
const statsBlock = 1 << 5

// BlockStats reads the counters of all disks, by serial.
func (m *Machine) BlockStats(ctx context.Context) (map[string]BlockStats, error) {
	byDev, err := m.libvirtBlockStats(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the block statistics of machine %s: %w", m.spec.Name, err)
	}
	stats := map[string]BlockStats{}
	var hidden []string
	for _, t := range m.targets {
		if t.CommandLine {
			hidden = append(hidden, t.Serial)
			continue
		}
		s, known := byDev[t.Dev]
		if !known {
			return nil, fmt.Errorf("read the block statistics of machine %s: libvirt has none of disk %s (%s)", m.spec.Name, t.Serial, t.Dev)
		}
		stats[t.Serial] = s
	}
	if len(hidden) == 0 {
		return stats, nil
	}
	if err := m.qemuBlockStats(ctx, hidden, stats); err != nil {
		return nil, fmt.Errorf("read the block statistics of machine %s: %w", m.spec.Name, err)
	}
	return stats, nil
}

// libvirtBlockStats reads what libvirt knows, by target.
func (m *Machine) libvirtBlockStats(ctx context.Context) (map[string]BlockStats, error) {
	records, err := ask(ctx, m.host, "ConnectGetAllDomainStats", queryLimit, func(lv *libvirt.Libvirt) ([]libvirt.DomainStatsRecord, error) {
		return lv.ConnectGetAllDomainStats([]libvirt.Domain{m.dom}, statsBlock, 0)
	})
	if err != nil {
		return nil, err
	}
	if len(records) != 1 {
		return nil, fmt.Errorf("libvirt answered for %d machines; this one may be gone", len(records))
	}
	names := map[string]string{}
	counts := map[string]map[string]uint64{}
	for _, p := range records[0].Params {
		index, field, ok := strings.Cut(strings.TrimPrefix(p.Field, "block."), ".")
		if !ok {
			continue
		}
		switch v := p.Value.I.(type) {
		case string:
			if field == "name" {
				names[index] = v
			}
		case uint64:
			if counts[index] == nil {
				counts[index] = map[string]uint64{}
			}
			counts[index][field] = v
		}
	}
	stats := map[string]BlockStats{}
	for index, name := range names {
		c := counts[index]
		stats[name] = BlockStats{
			ReadRequests: c["rd.reqs"], ReadBytes: c["rd.bytes"], ReadTimeNs: c["rd.times"],
			WriteRequests: c["wr.reqs"], WriteBytes: c["wr.bytes"], WriteTimeNs: c["wr.times"],
			FlushRequests: c["fl.reqs"], FlushTimeNs: c["fl.times"],
		}
	}
	return stats, nil
}

// qemuBlockStats asks QEMU itself for the disks that libvirt does not know.
func (m *Machine) qemuBlockStats(ctx context.Context, serials []string, stats map[string]BlockStats) error {
	text, err := ask(ctx, m.host, "QEMUDomainMonitorCommand", queryLimit, func(lv *libvirt.Libvirt) (string, error) {
		return lv.QEMUDomainMonitorCommand(m.dom, `{"execute":"query-blockstats"}`, 0)
	})
	if err != nil {
		return err
	}
	var answer struct {
		Return []struct {
			Device string `json:"device"`
			Stats  struct {
				ReadOperations  uint64 `json:"rd_operations"`
				ReadBytes       uint64 `json:"rd_bytes"`
				ReadTimeNs      uint64 `json:"rd_total_time_ns"`
				WriteOperations uint64 `json:"wr_operations"`
				WriteBytes      uint64 `json:"wr_bytes"`
				WriteTimeNs     uint64 `json:"wr_total_time_ns"`
				FlushOperations uint64 `json:"flush_operations"`
				FlushTimeNs     uint64 `json:"flush_total_time_ns"`
			} `json:"stats"`
		} `json:"return"`
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		return fmt.Errorf("read QEMU's block statistics: %w", err)
	}
	byDevice := map[string]BlockStats{}
	for _, d := range answer.Return {
		s := d.Stats
		byDevice[d.Device] = BlockStats{
			s.ReadOperations, s.ReadBytes, s.ReadTimeNs,
			s.WriteOperations, s.WriteBytes, s.WriteTimeNs,
			s.FlushOperations, s.FlushTimeNs,
		}
	}
	for _, serial := range serials {
		s, known := byDevice["nvme-"+serial]
		if !known {
			return fmt.Errorf("QEMU has no statistics of disk %s", serial)
		}
		stats[serial] = s
	}
	return nil
}

// Usage is what a machine costs its host.
type Usage struct {
	RSSBytes       int64 // of the QEMU process
	CPUNanoseconds int64 // of the QEMU process since its start
}

// Usage asks libvirt for the cost of the machine; it does not disturb QEMU.
func (m *Machine) Usage(ctx context.Context) (Usage, error) {
	usage, err := ask(ctx, m.host, "DomainMemoryStats", queryLimit, func(lv *libvirt.Libvirt) (Usage, error) {
		var u Usage
		_, _, _, _, cpu, err := lv.DomainGetInfo(m.dom)
		if err != nil {
			return u, err
		}
		u.CPUNanoseconds = int64(cpu)
		memory, err := lv.DomainMemoryStats(m.dom, uint32(libvirt.DomainMemoryStatNr), 0)
		for _, s := range memory {
			if s.Tag == int32(libvirt.DomainMemoryStatRss) {
				u.RSSBytes = int64(s.Val) << 10
			}
		}
		return u, err
	})
	if err != nil {
		return usage, fmt.Errorf("read the usage of machine %s: %w", m.spec.Name, err)
	}
	return usage, nil
}
