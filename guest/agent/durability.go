package agent

import "platter/guest/server"

// durability is the class of what survives which crash, as far as the guest can see it; the host knows
// the cache mode below and may lower it.
func (t *trial) durability(variables map[string]string) string {
	class, _ := server.Durability(server.DurabilityFacts{
		Flavour: t.server.Product().Flavour, Variables: variables, BinlogOn: variables["log_bin"] == "ON",
		Filesystem: t.fs.Name, MountOptions: t.facts.MountOptions, SyncOption: t.facts.Facts["data.sync"],
		DeviceCache: t.writeCaches(),
	})
	return class
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
