package workload

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Mysqlslap counts like mysqlslap (MySQL 5.1.4 and later) and mariadb-slap: for each engine, each client count and each
// iteration it makes a schema, fills it over one connection, and times clients that connect, run their statements and
// disconnect. Everything happens in Run; Prepare and Warmup do nothing. Option names are mysqlslap's with underscores.
type Mysqlslap struct {
	AutoGenerateSQL   bool       `json:"auto_generate_sql"`                     // build table, rows and statements
	LoadType          string     `json:"auto_generate_sql_load_type"`           // mixed, update, write, key, read
	AddAutoincrement  bool       `json:"auto_generate_sql_add_autoincrement"`   // key id, auto-increment
	GUIDPrimary       bool       `json:"auto_generate_sql_guid_primary"`        // key id, filled with uuid()
	SecondaryIndexes  int        `json:"auto_generate_sql_secondary_indexes"`   // unique columns filled with uuid()
	WriteNumber       int        `json:"auto_generate_sql_write_number"`        // statements of the set-up, CREATE TABLE included
	UniqueWriteNumber int        `json:"auto_generate_sql_unique_write_number"` // distinct set-up inserts, reused in turn
	UniqueQueryNumber int        `json:"auto_generate_sql_unique_query_number"` // the list holds this + 1 statements
	ExecuteNumber     int        `json:"auto_generate_sql_execute_number"`      // statements a client; 0 is unset
	NumberOfQueries   int        `json:"number_of_queries"`                     // in total, shared out over the clients; 0 is unset
	NumberIntCols     Columns    `json:"number_int_cols"`                       // n, or "n:1" to index each
	NumberCharCols    Columns    `json:"number_char_cols"`                      // n, or "n:1" to index each
	Concurrency       Counts     `json:"concurrency"`                           // client counts, one after the other
	Iterations        int        `json:"iterations"`                            // repeats for each client count
	Engine            Words      `json:"engine"`                                // engines, each optionally name:table option
	Commit            int        `json:"commit"`                                // COMMIT after every n statements; 0 is autocommit
	Detach            int        `json:"detach"`                                // reconnect before every n-th statement; 0 is never
	Query             Statements `json:"query"`                                 // own statements instead of generated ones
	Create            Statements `json:"create"`                                // own set-up statements
	CreateSchema      string     `json:"create_schema"`                         // schema name
	Delimiter         string     `json:"delimiter"`                             // cuts query and create; only its first character counts
	NoDrop            bool       `json:"no_drop"`                               // drop nothing, neither before nor after
	PreQuery          Statements `json:"pre_query"`                             // before each timed part
	PostQuery         Statements `json:"post_query"`                            // after each timed part
	CountRows         bool       `json:"count_rows"`                            // compare the rows of t1 with the expectation after each timed part (ours)
}

// Columns is a number of columns; Index indexes each of them. It is written n, "n" or "n:1".
type Columns struct {
	Number int
	Index  bool
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *Columns) UnmarshalJSON(b []byte) error {
	number, index, found := strings.Cut(strings.Trim(string(b), `"`), ":")
	n, err := strconv.Atoi(number)
	if err != nil {
		return fmt.Errorf("want a number of columns or \"n:1\", got %s", b)
	}
	*c = Columns{Number: n}
	if found {
		i, err := strconv.Atoi(index)
		if err != nil {
			return fmt.Errorf("want a number of columns or \"n:1\", got %s", b)
		}
		c.Index = i != 0
	}
	return nil
}

func init() {
	register("mysqlslap", "generated or own statements by many clients, counted like mysqlslap", runOnly, func() Workload {
		return &Mysqlslap{LoadType: "mixed", WriteNumber: 100, UniqueWriteNumber: 10, UniqueQueryNumber: 10,
			NumberIntCols: Columns{Number: 1}, NumberCharCols: Columns{Number: 1}, Concurrency: Counts{1}, Iterations: 1,
			Engine: Words{""}, CreateSchema: "mysqlslap", Delimiter: "\n", CountRows: true}
	})
}

// Check implements Workload.
func (m *Mysqlslap) Check(p Place) []error {
	errs := m.checkStatements()
	for _, n := range []struct {
		name         string
		value, least int
	}{
		{"auto_generate_sql_secondary_indexes", m.SecondaryIndexes, 0}, {"auto_generate_sql_execute_number", m.ExecuteNumber, 0},
		{"auto_generate_sql_unique_query_number", m.UniqueQueryNumber, 0}, {"number_of_queries", m.NumberOfQueries, 0},
		{"iterations", m.Iterations, 1}, {"commit", m.Commit, 0}, {"detach", m.Detach, 0},
		{"number_int_cols", m.NumberIntCols.Number, 0}, {"number_char_cols", m.NumberCharCols.Number, 0},
		// The originals fail without a table at 0 set-up statements, and never end at 0 distinct inserts.
		{"auto_generate_sql_write_number", m.WriteNumber, 1}, {"auto_generate_sql_unique_write_number", m.UniqueWriteNumber, 1},
	} {
		if n.value < n.least {
			errs = append(errs, fmt.Errorf("%s is %d; it is %d or more", n.name, n.value, n.least))
		}
	}
	if len(m.Concurrency) == 0 || slices.Min(m.Concurrency) < 1 {
		errs = append(errs, errors.New("concurrency lists at least one number of clients, each 1 or more"))
	}
	if len(m.Engine) == 0 {
		errs = append(errs, errors.New("engine lists at least one engine, or is left out for the server's default"))
	}
	for _, e := range m.Engine {
		name, _, _ := strings.Cut(e, ":")
		errs = append(errs, checkEngine(name, p)...)
	}
	if m.CreateSchema == "" || m.Delimiter == "" {
		errs = append(errs, errors.New("create_schema and delimiter are not empty"))
	}
	return append(errs, checkNeeds(m.Needs(), p)...)
}

func (m *Mysqlslap) checkStatements() []error {
	var errs []error
	if !slices.Contains([]string{"mixed", "update", "write", "key", "read"}, m.LoadType) {
		errs = append(errs, fmt.Errorf("auto_generate_sql_load_type %q is not one of mixed, update, write, key, read", m.LoadType))
	}
	own := m.query() != nil
	switch {
	case m.AutoGenerateSQL && (own || m.create() != nil):
		errs = append(errs, errors.New("auto_generate_sql builds the statements itself: leave out query and create, or auto_generate_sql"))
	case !m.AutoGenerateSQL && !own:
		errs = append(errs, errors.New("no statements: set auto_generate_sql, or give query"))
	}
	if m.AddAutoincrement && m.GUIDPrimary {
		errs = append(errs, errors.New("auto_generate_sql_add_autoincrement and auto_generate_sql_guid_primary both make the key id: choose one"))
	}
	if m.LoadType == "key" && !m.hasID() {
		errs = append(errs, errors.New("load type key reads by key: it needs auto_generate_sql_add_autoincrement or auto_generate_sql_guid_primary"))
	}
	if m.ExecuteNumber > 0 && m.NumberOfQueries > 0 {
		errs = append(errs, errors.New("auto_generate_sql_execute_number and number_of_queries both limit the statements: choose one"))
	}
	if m.AutoGenerateSQL && m.NumberIntCols.Number+m.NumberCharCols.Number == 0 {
		errs = append(errs, errors.New("number_int_cols and number_char_cols are both 0: a table needs a column"))
	}
	return errs
}

func (m *Mysqlslap) hasID() bool { return m.AddAutoincrement || m.GUIDPrimary }

func (m *Mysqlslap) query() []string  { return m.Query.split(m.cut()) }
func (m *Mysqlslap) create() []string { return m.Create.split(m.cut()) }

func (m *Mysqlslap) cut() byte {
	if m.Delimiter == "" {
		return '\n'
	}
	return m.Delimiter[0]
}

// Needs implements Workload. Sizes are estimates: four bytes an integer, 127 a string, and room for page headers.
func (m *Mysqlslap) Needs() Needs {
	clients := 1
	var rows int64
	for _, c := range m.Concurrency {
		clients = max(clients, c)
		rows = max(rows, int64(m.setupInserts())+int64(c)*int64(m.insertsOf(max(m.limit(c), m.listLength()))))
	}
	row := int64(40 + 4*m.NumberIntCols.Number + 127*m.NumberCharCols.Number + 37*m.SecondaryIndexes)
	if m.NumberIntCols.Index || m.NumberCharCols.Index {
		row *= 2
	}
	bytes := rows * row * 3 / 2
	if !m.AutoGenerateSQL {
		bytes = 0
	}
	return Needs{Connections: clients + 2, DiskBytes: bytes, LargestFileBytes: bytes, PacketBytes: 1 << 16}
}

// limit is the number of statements each of the clients runs; 0 is the whole list once. Integer division is the
// original's: with fewer queries than clients every client runs the whole list.
func (m *Mysqlslap) limit(clients int) int {
	switch {
	case m.ExecuteNumber > 0:
		return m.ExecuteNumber
	case m.NumberOfQueries > 0:
		return m.NumberOfQueries / clients
	}
	return 0
}

// Prepare implements Workload; the set-up belongs to every iteration of Run.
func (m *Mysqlslap) Prepare(context.Context, *Session) error { return nil }

// Warmup implements Workload; mysqlslap has none.
func (m *Mysqlslap) Warmup(context.Context, *Session) error { return nil }

// Cleanup implements Workload: it drops what no_drop left.
func (m *Mysqlslap) Cleanup(ctx context.Context, s *Session) error {
	c, err := s.connect(ctx, "")
	if err != nil {
		return s.explain(ctx, err)
	}
	defer c.close()
	return s.explain(ctx, c.must(m.dropSchema()))
}
