package server

import (
	"errors"
	"fmt"
	"strconv"
)

// Needs is what the workloads of a job take from the server. Zero fields need nothing.
type Needs struct {
	Connections        int   // open at once, platter's own not counted
	PreparedStatements int   // open at once over all connections
	PacketBytes        int64 // longest statement
}

// spareConnections are platter's own: facts, readiness, counters, the sampler, a person who looks in.
const spareConnections = 20

// limit is a server option with an upper bound the workload must stay under.
type limit struct {
	option string
	need   func(Needs) int64
	most   int64 // what the server accepts at most
	what   string
}

var limits = []limit{
	{"max-connections", func(n Needs) int64 { return plus(int64(n.Connections), spareConnections) }, 100000, "connections"},
	{"max-prepared-stmt-count", func(n Needs) int64 { return int64(n.PreparedStatements) }, 1048576, "prepared statements"},
	{"max-allowed-packet", func(n Needs) int64 { return plus(n.PacketBytes, 1024) }, 1 << 30, "bytes in one statement"},
}

func plus(n, spare int64) int64 {
	if n == 0 {
		return 0
	}
	return n + spare
}

// neededSettings raises the server's limits to what the workload needs. A limit the study asked for is left alone, and
// refused when it is too low: a benchmark that loses half its clients must fail before it starts.
func neededSettings(c Catalogue, n Needs, asked []option) ([]setting, error) {
	var out []setting
	var errs []error
	for _, l := range limits {
		need := l.need(n)
		if need == 0 || !c.Knows(l.option) {
			continue
		}
		if need > l.most {
			errs = append(errs, fmt.Errorf("the workload needs %d %s; %s goes to %d only: use fewer clients or tables", need, l.what, l.option, l.most))
			continue
		}
		if o, ok := find(asked, l.option); ok {
			if v, isNumber := parseSize(o.value); isNumber && v < need {
				errs = append(errs, fmt.Errorf("option %s=%s is too low: the workload needs %d %s; raise it or leave it out", o.asked, o.value, need, l.what))
			}
			continue
		}
		if def, _ := c.Default(l.option); !atLeast(def, need) {
			out = append(out, setting{name: l.option, value: strconv.FormatInt(need, 10)})
		}
	}
	return out, errors.Join(errs...)
}

func atLeast(value string, need int64) bool {
	n, ok := parseSize(value)
	return ok && n >= need
}

func find(options []option, name string) (option, bool) {
	for _, o := range options {
		if o.name == name && o.drop == "" {
			return o, true
		}
	}
	return option{}, false
}
