package workload

import (
	"context"
	"fmt"
	"slices"
)

// tableSums are the checksums of a run's tables before it, where they are asked for. Reading them reads the tables whole,
// which warms caches a study may want cold, so it is never done unasked.
type tableSums struct {
	session *Session
	schema  string
	tables  []string
	before  []string // nil: not asked
}

// sumTables takes the checksums before a run, outside its clock.
func (s *Session) sumTables(ctx context.Context, asked bool, schema string, tables ...string) (tableSums, error) {
	t := tableSums{session: s, schema: schema, tables: tables}
	if !asked {
		return t, nil
	}
	var err error
	t.before, err = t.read(ctx)
	return t, err
}

// compare takes them again after the run and records both. A run whose statements only read must not have changed them.
func (t tableSums) compare(ctx context.Context, readOnly bool) error {
	if t.before == nil {
		return nil
	}
	after, err := t.read(ctx)
	if err != nil {
		return err
	}
	for i, table := range t.tables {
		t.session.flag("checksum", "%s.%s %s before the run, %s after it", t.schema, table, t.before[i], after[i])
	}
	if readOnly && !slices.Equal(t.before, after) {
		return invalidf("the run only reads, and CHECKSUM TABLE of %s changed from %v to %v", t.schema, t.before, after)
	}
	return nil
}

func (t tableSums) read(ctx context.Context) ([]string, error) {
	c, err := t.session.connect(ctx, t.schema)
	if err != nil {
		return nil, t.session.explain(ctx, err)
	}
	defer c.close()
	sums := []string{}
	for _, table := range t.tables {
		rows, err := c.rows("CHECKSUM TABLE " + quoteName(table))
		if err != nil {
			return nil, t.session.explain(ctx, err)
		}
		if len(rows) != 1 || len(rows[0]) != 2 || rows[0][1] == "" {
			return nil, fmt.Errorf("CHECKSUM TABLE %s answered %v: does the table exist?", table, rows)
		}
		sums = append(sums, rows[0][1])
	}
	return sums, nil
}
