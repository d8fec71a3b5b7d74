package workload

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"platter/guest"
)

// Restore times the restore of a dump: one client, one connection, statements as they stand, from before the client
// connects until it has disconnected. The dump is made from the seed, a statement ahead of the one being sent, in the form
// mysqldump writes; or it is a file of the guest. ENABLE KEYS, which builds the indexes of MyISAM and Aria, is inside.
type Restore struct {
	TableSize      int64  `json:"table_size"` // rows of each table of the made dump
	Tables         int    `json:"tables"`
	DumpBytes      int64  `json:"dump_bytes"`      // size of the made dump; when given, table_size follows from it
	StatementBytes int    `json:"statement_bytes"` // longest insert (mysqldump's net-buffer-length)
	Autocommit     bool   `json:"autocommit"`      // false restores each table in one transaction
	Engine         string `json:"engine"`
	Schema         string `json:"schema"`
	File           string `json:"file"`       // restore this dump instead; it should lie off the filesystem under test
	CountRows      bool   `json:"count_rows"` // compare the rows of a made dump afterwards, and report CHECKSUM TABLE
}

func init() {
	register("restore", "timed restore of a dump, made from the seed or a file", runOnly, func() Workload {
		return &Restore{TableSize: 30000, Tables: 1, StatementBytes: 1046528, Autocommit: true, Engine: "innodb", Schema: "platter_restore", CountRows: true}
	})
}

// Check implements Workload.
func (r *Restore) Check(p Place) []error {
	var errs []error
	if r.TableSize < 1 || r.Tables < 1 {
		errs = append(errs, errors.New("table_size and tables are 1 or more"))
	}
	if r.DumpBytes != 0 && r.DumpBytes < int64(r.Tables)*1000 {
		errs = append(errs, fmt.Errorf("dump_bytes %d is 1000 or more for each of %d tables", r.DumpBytes, r.Tables))
	}
	if r.StatementBytes < 1024 || r.StatementBytes > 1<<30 {
		errs = append(errs, fmt.Errorf("statement_bytes %d is 1024 to 1 GiB", r.StatementBytes))
	}
	if r.Schema == "" {
		errs = append(errs, errors.New("schema is not empty"))
	}
	if r.File != "" && !filepath.IsAbs(r.File) {
		errs = append(errs, fmt.Errorf("file %q is an absolute path in the guest", r.File))
	}
	errs = append(errs, checkEngine(r.Engine, p)...)
	return append(errs, checkNeeds(r.Needs(), p)...)
}

// Needs implements Workload. The size of a file is not known here.
func (r *Restore) Needs() Needs {
	n := Needs{Connections: 2, PacketBytes: int64(r.StatementBytes)}
	if r.File != "" {
		n.PacketBytes = 16 << 20 // the dump tool's ceiling
		return n
	}
	n.LargestFileBytes = r.rows() * oltpRowBytes
	n.DiskBytes = int64(r.Tables) * n.LargestFileBytes * 5 / 4
	return n
}

// rows is how many rows each table of the made dump has.
func (r *Restore) rows() int64 {
	if r.DumpBytes == 0 {
		return r.TableSize
	}
	bytes := r.DumpBytes / int64(max(r.Tables, 1))
	digits := int64(len(strconv.FormatInt(bytes/dumpRowBytes, 10)))
	return max(1, bytes/(dumpRowBytes+2*digits))
}

// Prepare implements Workload; there is nothing to prepare.
func (r *Restore) Prepare(context.Context, *Session) error { return nil }

// Warmup implements Workload; a restore is cold.
func (r *Restore) Warmup(context.Context, *Session) error { return nil }

// Cleanup implements Workload.
func (r *Restore) Cleanup(ctx context.Context, s *Session) error {
	return s.once(ctx, "", "DROP DATABASE IF EXISTS "+quoteName(r.Schema))
}

// Run implements Workload. The schema is made anew before the clock starts.
func (r *Restore) Run(ctx context.Context, s *Session) error {
	if err := s.once(ctx, "", "DROP DATABASE IF EXISTS "+quoteName(r.Schema), "CREATE DATABASE "+quoteName(r.Schema)); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	source, err := r.open(ctx, s)
	if err != nil {
		return err
	}
	t, err := r.send(ctx, s, source)
	if err != nil {
		m := metrics{step: s.Step}
		m.missing("restore_seconds", shorten(err.Error()))
		s.Emit(guest.Measurement{Metrics: m.list})
		return s.explain(ctx, fmt.Errorf("restore: %w", err))
	}
	return errors.Join(r.compare(ctx, s, t), r.emit(s, t))
}

// dumpStatement is one statement of a dump; rows is 0 where it inserts none or they are not counted.
type dumpStatement struct {
	text string
	rows int64
	err  error
}

// ahead is how many statements of a dump are made before they are needed.
const ahead = 3

func (r *Restore) open(ctx context.Context, s *Session) (<-chan dumpStatement, error) {
	out := make(chan dumpStatement, ahead)
	give := func(st dumpStatement) bool {
		select {
		case out <- st:
			return true
		case <-ctx.Done():
			return false
		}
	}
	if r.File == "" {
		go func() { defer close(out); r.write(s.Seed, give) }()
		return out, nil
	}
	f, err := os.Open(r.File)
	if err != nil {
		return nil, fmt.Errorf("open the dump: %w", err)
	}
	go func() { defer close(out); defer f.Close(); readDump(f, give) }()
	return out, nil
}

// restored is what a restore did.
type restored struct {
	seconds    float64
	bytes      int64
	rows       int64
	statements int64
	latency    *latency
}

func (r *Restore) send(ctx context.Context, s *Session, source <-chan dumpStatement) (restored, error) {
	t := restored{latency: newLatency()}
	defer processorFor(1)()
	first, ok := <-source // made before the clock starts
	if !ok {
		return t, errors.New("the dump is empty")
	}
	begin := time.Now()
	c, err := s.connect(ctx, r.Schema)
	if err != nil {
		return t, err
	}
	defer c.close()
	for st := first; ok; st, ok = <-source {
		if st.err != nil {
			return t, st.err
		}
		start := time.Now()
		if err := c.must(st.text); err != nil {
			return t, err
		}
		t.latency.record(time.Since(start))
		t.bytes += int64(len(st.text))
		t.rows += st.rows
		t.statements++
		if st.rows > 0 {
			s.progress(float64(t.rows), float64(r.rows()*int64(r.Tables)), "rows")
		}
	}
	if err := c.close(); err != nil {
		return t, err
	}
	t.seconds = time.Since(begin).Seconds()
	return t, ctx.Err()
}

func (r *Restore) emit(s *Session, t restored) error {
	m := metrics{step: s.Step}
	m.add("restore_seconds", t.seconds)
	m.add("run_seconds", t.seconds)
	m.add("queries_total", float64(t.statements))
	m.add("restore_bytes", float64(t.bytes))
	m.rate("restore_bytes_per_second", t.bytes, t.seconds)
	if r.File == "" {
		m.add("rows_total", float64(t.rows))
		m.rate("rows_per_second", t.rows, t.seconds)
	}
	m.errors(nil)
	s.Emit(guest.Measurement{Metrics: m.list})
	return s.emitLatency(t.latency, "statement", serviceTime, nil, 0)
}

// compare counts the restored rows and reports each table's checksum, which is the same for every engine.
func (r *Restore) compare(ctx context.Context, s *Session, t restored) error {
	if !r.CountRows || r.File != "" {
		return nil
	}
	for i := range r.Tables {
		if _, err := s.compareRows(ctx, r.Schema, tableName(i), r.rows()); err != nil {
			return err
		}
	}
	c, err := s.connect(ctx, r.Schema)
	if err != nil {
		return s.explain(ctx, err)
	}
	defer c.close()
	for i := range r.Tables {
		rows, err := c.rows("CHECKSUM TABLE " + tableName(i))
		if err != nil {
			return s.explain(ctx, err)
		}
		s.flag("checksum", "%s.%s %s", r.Schema, tableName(i), rows[0][1])
	}
	return nil
}
