package workload

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// legacyPad is what every row is loaded with, and legacyPadNew what the last step of a complex event writes.
var (
	legacyPad    = repeatLetters("qwert")
	legacyPadNew = repeatLetters("afrey")
)

func repeatLetters(letters string) string {
	var b strings.Builder
	for _, l := range letters {
		b.WriteString(strings.Repeat(string(l), 10))
	}
	return b.String()
}

// legacyRowsPerInsert is how many rows the original loads with one statement.
const legacyRowsPerInsert = 10000

// createTable is the table as 0.4 makes it: the engine in a version comment, MAX_ROWS for MyISAM only.
func (o *OLTPLegacy) createTable() string {
	auto := "auto_increment"
	if !o.AutoInc {
		auto = ""
	}
	engine := ""
	if o.Engine != "" {
		engine = " /*! ENGINE=" + o.Engine
		if canonicalEngine(o.Engine) == "myisam" {
			engine += fmt.Sprintf(" MAX_ROWS=%d", o.MyISAMMaxRows)
		}
		engine += " */"
	}
	return fmt.Sprintf("CREATE TABLE %s (id INTEGER UNSIGNED NOT NULL %s, k integer UNSIGNED DEFAULT '0' NOT NULL, c char(120) DEFAULT '' NOT NULL, "+
		"pad char(60) DEFAULT '' NOT NULL, PRIMARY KEY (id))%s %s", o.TableName, auto, engine, o.CreateOptions)
}

// Prepare implements Workload: one table, its index on k made before the rows, 10000 rows a statement.
func (o *OLTPLegacy) Prepare(ctx context.Context, s *Session) error {
	return s.timedLoad(ctx, o.TableSize, func(c *conn) error {
		if err := c.must("CREATE DATABASE IF NOT EXISTS " + quoteName(o.Schema)); err != nil {
			return err
		}
		if err := c.must("USE " + quoteName(o.Schema)); err != nil {
			return err
		}
		if o.Reuse {
			if found, err := s.reusable(c, o.Schema, o.TableName, o.TableSize); found || err != nil {
				return err
			}
		}
		if err := c.must(o.createTable()); err != nil {
			return err
		}
		if err := c.must(fmt.Sprintf("CREATE INDEX k on %s(k)", o.TableName)); err != nil {
			return err
		}
		return o.fill(c, s)
	})
}

func (o *OLTPLegacy) fill(c *conn, s *Session) error {
	head := fmt.Sprintf("INSERT INTO %s(k, c, pad) VALUES ", o.TableName)
	if !o.AutoInc {
		head = fmt.Sprintf("INSERT INTO %s(id, k, c, pad) VALUES ", o.TableName)
	}
	for first := int64(1); first <= o.TableSize; first += legacyRowsPerInsert {
		var b strings.Builder
		b.WriteString(head)
		for id := first; id <= min(o.TableSize, first+legacyRowsPerInsert-1); id++ {
			if id > first {
				b.WriteByte(',')
			}
			b.WriteByte('(')
			if !o.AutoInc {
				b.WriteString(strconv.FormatInt(id, 10))
				b.WriteByte(',')
			}
			b.WriteString("0,' ','" + legacyPad + "')")
		}
		if err := c.must(b.String()); err != nil {
			return err
		}
		s.progress(float64(min(o.TableSize, first+legacyRowsPerInsert-1)), float64(o.TableSize), "rows")
	}
	return nil
}

// Cleanup implements Workload.
func (o *OLTPLegacy) Cleanup(ctx context.Context, s *Session) error {
	return s.once(ctx, o.Schema, "DROP TABLE "+o.TableName)
}

// transactional tells whether events are bracketed by BEGIN and COMMIT or by LOCK TABLES. The engine is asked of the
// server over a connection of its own, as the original does: the option may say something else than the table has.
func (o *OLTPLegacy) transactional(ctx context.Context, s *Session) (bool, error) {
	switch o.EngineTrx {
	case "yes":
		return true, nil
	case "no":
		return false, nil
	}
	c, err := s.connect(ctx, o.Schema)
	if err != nil {
		return false, s.explain(ctx, err)
	}
	defer c.close()
	rows, err := c.rows("SHOW TABLE STATUS LIKE '" + o.TableName + "'")
	if err != nil {
		return false, s.explain(ctx, err)
	}
	if len(rows) == 0 {
		return false, fmt.Errorf("table %s.%s is not there: run the step prepare first", o.Schema, o.TableName)
	}
	trx, known := legacyEngineTrx[strings.ToLower(rows[0][1])]
	if !known {
		return false, fmt.Errorf("mysql_engine_trx auto does not know engine %q of table %s: say yes or no", rows[0][1], o.TableName)
	}
	return trx, nil
}

// countRows compares the table with what the events must have left: complex events put back what they delete.
func (o *OLTPLegacy) countRows(ctx context.Context, s *Session, out outcome) (*int64, error) {
	if !o.CountRows || o.TestMode == "sp" {
		return nil, nil
	}
	want := o.TableSize
	switch {
	case o.nontrxInsert():
		want = out.counts.events
	case o.TestMode == "nontrx" && o.NontrxMode == "delete":
		want = max(0, o.TableSize-out.counts.events) // ids never repeat before all rows are gone
	}
	return s.compareRows(ctx, o.Schema, o.TableName, want)
}
