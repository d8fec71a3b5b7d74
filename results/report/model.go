package report

import (
	"platter/results"
	"platter/results/stats"
)

// Schema is the identity of report.json's format.
const Schema = "platter.report/1"

// Model is a report: everything any format prints, and nothing else is printed. The same folders and options give the
// same Model, byte for byte.
type Model struct {
	Schema   string `json:"schema"`
	Study    string `json:"study"`
	Scale    string `json:"scale,omitempty"`
	Question string `json:"question"`
	Answer   string `json:"answer"`

	// What belongs in every title, because numbers mean nothing without it.
	Accelerators []string `json:"accelerators"`          // kvm, tcg
	Caches       []string `json:"caches"`                // effective cache modes of the data disks
	Durability   []string `json:"durability"`            // classes
	Emulated     []string `json:"emulated,omitempty"`    // presets that stand for a class of device
	Passthrough  []string `json:"passthrough,omitempty"` // real disks that machines were given, with their passports

	Runs     []Run    `json:"runs"`
	Factors  []Factor `json:"factors"` // those that vary, in the plan's order
	Rows     []string `json:"rows"`    // factors that make rows
	Columns  []string `json:"columns"` // factors that make columns
	Baseline string   `json:"baseline,omitempty"`

	Counts    Counts        `json:"counts"`
	Cells     []Cell        `json:"cells"`
	Tables    []Table       `json:"tables"`
	Controls  []Control     `json:"controls,omitempty"` // A/A
	Claims    []ClaimResult `json:"claims"`
	Published *Published    `json:"published"` // nil when the study replays no write-up
	Series    []Series      `json:"series"`    // over time, of a few trials
	Latency   []Latency     `json:"latency"`   // distributions, by cell
	Kernel    []Kernel      `json:"kernel"`    // a few seconds as vmstat and sar print them
	Lab       Lab           `json:"lab"`
	Held      []Fact        `json:"held_equal"`
	Differs   []Difference  `json:"differs"`
	Trials    []Trial       `json:"trials"`
	Notes     []Note        `json:"notes"`

	Problems []string `json:"problems"`          // files that could not be used; not empty means a partial report
	Unended  int      `json:"unended,omitempty"` // how many of the problems are attempts without a result: a run goes on, or was killed
	Again    []string `json:"again"`             // command lines that would run the same again
}

// Partial reports whether files were left out because they could not be used.
func (m *Model) Partial() bool { return len(m.Problems) > 0 }

// Run is one run folder that went into the report.
type Run struct {
	ID     string `json:"id"`
	Path   string `json:"path"`
	Status string `json:"status"`
	Rounds int    `json:"rounds"`
	Seed   uint64 `json:"seed"`
}

// Factor is what varies, with the levels that have results or were planned.
type Factor struct {
	Name   string   `json:"name"`
	Levels []string `json:"levels"`
}

// Counts says what became of the trials. Missing are planned trials without any result. Retried are earlier attempts of
// trials that were tried again; they are in no other count.
type Counts struct {
	OK          int `json:"ok"`
	Invalid     int `json:"invalid"`
	Failed      int `json:"failed"`
	Skipped     int `json:"skipped"`
	Lost        int `json:"lost"`
	Interrupted int `json:"interrupted"`
	Missing     int `json:"missing"`
	Retried     int `json:"retried"`
}

// Cell is one combination of levels.
type Cell struct {
	Row    string            `json:"row"`    // levels of the row factors
	Column string            `json:"column"` // levels of the column factors
	Levels map[string]string `json:"levels"`
	Counts Counts            `json:"counts"`
	Notes  []int             `json:"notes,omitempty"`
}

// Table is one metric over all cells.
type Table struct {
	Key      string             `json:"key"`
	Metric   results.MetricInfo `json:"metric"`
	Step     string             `json:"step,omitempty"`
	Labels   map[string]string  `json:"labels,omitempty"`
	Headline bool               `json:"headline"` // shown without asking
	Rows     []TableRow         `json:"rows"`
	Means    []ColumnMean       `json:"means,omitempty"` // where there are several rows to join
}

// ColumnMean is the geometric mean, over the rows, of a column's ratios to the baseline. Rows without a ratio are
// counted and never filled.
type ColumnMean struct {
	Column string `json:"column"`
	stats.Mean
}

// TableRow holds one entry a column, in the order of the columns.
type TableRow struct {
	Row     string  `json:"row"`
	Entries []Entry `json:"entries"`
}

// Entry is one metric of one cell.
type Entry struct {
	Column     string            `json:"column"`
	Trials     []string          `json:"trials"` // ids, beside Summary.Values
	Summary    stats.Summary     `json:"summary"`
	Comparison *stats.Comparison `json:"comparison,omitempty"` // against the baseline's column of this row
	Notes      []int             `json:"notes,omitempty"`
	Reasons    []string          `json:"reasons,omitempty"` // why trials have no value
}

// Control is a cell that ran twice under two names (A/A), in one metric: what differs is the laboratory's noise.
type Control struct {
	Row        string           `json:"row"`
	Column     string           `json:"column"`
	Key        string           `json:"key"` // of the table
	Summary    stats.Summary    `json:"summary"`
	Comparison stats.Comparison `json:"comparison"` // of the second name against the first
}

// Lab says what the laboratory itself cost.
type Lab struct {
	Boot     stats.Summary `json:"boot_seconds"`
	Overhead stats.Summary `json:"overhead_seconds"`
	Guest    stats.Summary `json:"guest_seconds"`
}

// Fact is one thing that was the same in all trials.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Difference is one thing that was not the same in all trials. Declared differences come with a factor that varies; all
// others are what a careful reader looks for first.
type Difference struct {
	Name     string       `json:"name"`
	Declared bool         `json:"declared"`
	Values   []ValueCount `json:"values"`
}

// ValueCount is one value of a difference and where it held.
type ValueCount struct {
	Value  string   `json:"value"`
	Trials int      `json:"trials"`
	Cells  []string `json:"cells"`
}

// Trial is one line of the list of trials, in the order they ran.
type Trial struct {
	Run      string          `json:"run"`
	ID       string          `json:"id"`
	Round    int             `json:"round"`
	Attempt  int             `json:"attempt"`
	Row      string          `json:"row"`
	Column   string          `json:"column"`
	Control  bool            `json:"control,omitempty"` // the second name of a cell (A/A)
	Steady   map[string]bool `json:"steady,omitempty"`  // by measured step; absent where nobody knows
	Status   results.Status  `json:"status"`
	Reason   string          `json:"reason,omitempty"`
	Evidence string          `json:"evidence,omitempty"`
	Boot     *float64        `json:"boot_seconds"`
	Overhead *float64        `json:"overhead_seconds"`
	Wall     *float64        `json:"wall_seconds"`
}

// Note is a numbered footnote.
type Note struct {
	Number int    `json:"number"`
	Code   string `json:"code"`
	Text   string `json:"text"`
}

// Title is the report's first line: the study and everything without which its numbers mean nothing.
func (m *Model) Title() string {
	title := m.Study
	if m.Scale != "" {
		title += "@" + m.Scale
	}
	for _, a := range m.Accelerators {
		switch a {
		case "tcg":
			title += " · software emulation (tcg)"
		case "kvm":
			title += " · kvm"
		default:
			title += " · accelerator " + a
		}
	}
	if len(m.Emulated) > 0 {
		title += " · emulated device: " + join(m.Emulated)
	}
	if len(m.Passthrough) > 0 {
		title += " · passthrough: " + join(m.Passthrough)
	}
	if len(m.Caches) > 0 {
		title += " · disk cache " + join(m.Caches)
	}
	if len(m.Durability) > 0 {
		title += " · durability " + join(m.Durability)
	}
	return title
}

// Columns of tables in order, as the first row has them; every row has the same.
func (m *Model) columnLabels() []string {
	for _, table := range m.Tables {
		for _, row := range table.Rows {
			labels := make([]string, len(row.Entries))
			for i, entry := range row.Entries {
				labels[i] = entry.Column
			}
			return labels
		}
	}
	return nil
}
