package workload

import (
	"fmt"
	"slices"
	"strings"
)

// Place is what is known of where a workload will run. Zero fields are unknown and check nothing: the host knows less
// than the guest.
type Place struct {
	Flavour        string   // mysql, mariadb or percona
	Version        string   // three numbers, where known
	Engines        []string // offered by the running server; nil before it runs, then the flavour's table is used
	DiskBytes      int64    // free on the filesystem
	MaxFileBytes   int64    // largest file the filesystem takes (4 GiB - 1 on vfat)
	MaxConnections int      // in force, or asked
	MaxPrepared    int      // prepared statements open at once, in force or asked
	Filesystem     string
}

// Needs is what a workload takes.
type Needs struct {
	Connections        int   // open at once
	PreparedStatements int   // open at once over all connections
	PacketBytes        int64 // longest statement
	DiskBytes          int64 // estimate of tables and indexes at their largest
	LargestFileBytes   int64 // estimate of the largest single file
}

// Total is what the steps of a job take together: they run one after the other, so the largest of each.
func Total(all ...Needs) Needs {
	var t Needs
	for _, n := range all {
		t.Connections = max(t.Connections, n.Connections)
		t.PreparedStatements = max(t.PreparedStatements, n.PreparedStatements)
		t.PacketBytes = max(t.PacketBytes, n.PacketBytes)
		t.DiskBytes = max(t.DiskBytes, n.DiskBytes)
		t.LargestFileBytes = max(t.LargestFileBytes, n.LargestFileBytes)
	}
	return t
}

// checkNeeds compares what a workload takes with what the place has.
func checkNeeds(n Needs, p Place) []error {
	var errs []error
	if p.MaxConnections > 0 && n.Connections > p.MaxConnections {
		errs = append(errs, fmt.Errorf("%d connections are needed, the server takes %d: raise max_connections or use fewer clients", n.Connections, p.MaxConnections))
	}
	if p.MaxPrepared > 0 && n.PreparedStatements > p.MaxPrepared {
		errs = append(errs, fmt.Errorf("%d prepared statements are needed, the server takes %d: raise max_prepared_stmt_count, use fewer clients or tables, or db_ps_mode disable", n.PreparedStatements, p.MaxPrepared))
	}
	if p.DiskBytes > 0 && n.DiskBytes > p.DiskBytes {
		errs = append(errs, fmt.Errorf("about %d bytes are needed on disk, there are %d: use fewer rows or a larger disk", n.DiskBytes, p.DiskBytes))
	}
	if p.MaxFileBytes > 0 && n.LargestFileBytes > p.MaxFileBytes {
		errs = append(errs, fmt.Errorf("a table file grows to about %d bytes, %s takes files of at most %d: use fewer rows", n.LargestFileBytes, orUnknown(p.Filesystem, "the filesystem"), p.MaxFileBytes))
	}
	return errs
}

func orUnknown(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// enginesOf lists the engines each flavour has ever had in its packages, lower case, aliases included. It refuses what
// cannot be before a machine is made; what a build really offers is asked of the running server.
var enginesOf = map[string][]string{
	"mysql":   {"innodb", "myisam", "memory", "heap", "csv", "archive", "blackhole", "merge", "mrg_myisam", "federated", "ndb", "ndbcluster", "example", "bdb", "berkeleydb", "falcon", "isam"},
	"percona": {"innodb", "myisam", "memory", "heap", "csv", "archive", "blackhole", "merge", "mrg_myisam", "federated", "rocksdb", "tokudb"},
	"mariadb": {"innodb", "myisam", "aria", "maria", "memory", "heap", "csv", "archive", "blackhole", "merge", "mrg_myisam", "federated", "federatedx", "rocksdb", "tokudb", "xtradb", "pbxt", "sequence", "spider", "connect", "mroonga", "oqgraph", "s3", "columnstore", "example"},
}

// checkEngine says whether an engine can exist at a place; "" is the server's default engine.
func checkEngine(engine string, p Place) []error {
	if engine == "" {
		return nil
	}
	known := p.Engines
	if known == nil {
		known = enginesOf[p.Flavour]
	}
	if known == nil || slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, engine) || sameEngine(k, engine) }) {
		return nil
	}
	return []error{fmt.Errorf("engine %q is not one of %s: %s", engine, orUnknown(p.Flavour, "this server"), strings.Join(known, ", "))}
}

// engineAliases are names SHOW ENGINES does not list and CREATE TABLE takes.
var engineAliases = map[string]string{"heap": "memory", "berkeleydb": "bdb", "ndb": "ndbcluster", "maria": "aria", "merge": "mrg_myisam", "xtradb": "innodb"}

func sameEngine(a, b string) bool { return canonicalEngine(a) == canonicalEngine(b) }

func canonicalEngine(engine string) string {
	engine = strings.ToLower(engine)
	if alias, ok := engineAliases[engine]; ok {
		return alias
	}
	return engine
}

// transactional are the engines known to have transactions.
var transactional = map[string]bool{"innodb": true, "rocksdb": true, "tokudb": true, "bdb": true, "ndbcluster": true, "falcon": true, "pbxt": true}
