package agent

import (
	"slices"

	"platter/guest/server"
	"platter/guest/workload"
)

// durability is the worst class of the engines the steps use, with the reasons it is not better.
func (t *trial) durability(variables map[string]string) (class string, reasons []string) {
	facts := server.DurabilityFacts{
		Flavour: t.server.Product().Flavour, Variables: variables, BinlogOn: variables["log_bin"] == "ON",
		Filesystem: t.fs.Name, MountOptions: t.facts.MountOptions, SyncOption: t.facts.Facts["data.sync"],
		DeviceCache: t.writeCaches(),
	}
	for _, d := range t.job.Disks {
		if facts.DiskCache == "" || d.HostCache == "unsafe" {
			facts.DiskCache = d.HostCache
		}
	}
	for _, engine := range t.engines() {
		facts.Engine = engine
		c, why := server.Durability(facts)
		class = server.Worse(class, c)
		for _, reason := range why {
			if !slices.Contains(reasons, reason) {
				reasons = append(reasons, reason)
			}
		}
	}
	return class, reasons
}

// engines are the storage engines the steps make tables of; "" stands for the server's default.
func (t *trial) engines() []string {
	var all []string
	for _, step := range t.job.Steps {
		w, err := t.workloadOf(step)
		if err != nil || w == nil {
			continue
		}
		engines := workload.Engines(w)
		if len(engines) == 0 {
			engines = []string{""}
		}
		for _, e := range engines {
			if !slices.Contains(all, e) {
				all = append(all, e)
			}
		}
	}
	if len(all) == 0 {
		return []string{""}
	}
	return all
}

// writeCaches is what the kernel believes of the disks' caches: write back when one of them has one.
func (t *trial) writeCaches() string {
	mode := ""
	for _, d := range t.disks {
		if d.WriteCache == "write back" || mode == "" {
			mode = d.WriteCache
		}
	}
	return mode
}
