package workload

import (
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"
)

// statement is one statement of a client with places for values. It is prepared on the client's connection, or sent as
// text with the values written into it. Its methods are not safe for concurrent use.
type statement struct {
	text     string
	rows     bool        // it answers with rows
	prepared driver.Stmt // nil sends text
	args     []driver.Value
	buffer   []byte // of the text form
}

// notPreparable is the server's answer to a statement it does not take in prepared form (BEGIN and LOCK TABLES in MySQL).
const notPreparable = 1295

func newStatement(text string) *statement {
	return &statement{text: text, rows: givesRows(text), args: make([]driver.Value, strings.Count(text, "?"))}
}

// givesRows tells by its first word whether a statement answers with rows.
func givesRows(text string) bool {
	word, _, _ := strings.Cut(strings.TrimLeft(text, " \t\r\n("), " ")
	switch strings.ToUpper(word) {
	case "SELECT", "SHOW", "CALL", "WITH", "VALUES", "TABLE", "EXPLAIN", "DESCRIBE", "DESC", "CHECKSUM", "ANALYZE", "CHECK":
		return true
	}
	return false
}

// prepare makes a statement ready on a connection; its values stay, so a client that has reconnected goes on with it.
// Statements the server cannot prepare, and all with asText, are sent as text.
func (c *conn) prepare(st *statement, asText bool) error {
	st.prepared = nil
	if asText {
		return nil
	}
	p, err := c.raw.Prepare(st.text)
	if errorNumber(err) == notPreparable {
		return nil
	}
	if err != nil {
		return fmt.Errorf("prepare %s: %w", shorten(st.text), err)
	}
	st.prepared = p
	return nil
}

// execute runs the statement with the values in args, reads and throws away its results, and returns how many rows it
// changed.
//
// Note: Exec and Query without a context are the driver's direct paths. Those with one copy the arguments and wake a watcher
// goroutine twice a statement, a fifth of a client's CPU time; our connections end with their context by their socket.
// Rows are asked for by Query and thrown away undecoded by Close: Exec of driver 1.10.1 miscounts the packets of a prepared
// select whose columns the server does not repeat, and waits for ever when it finds no row.
func (c *conn) execute(st *statement) (affected int64, err error) {
	if st.prepared == nil {
		if len(st.args) == 0 {
			return c.run(st.text)
		}
		return c.run(st.literal())
	}
	c.yield()
	if st.rows {
		rows, err := st.prepared.Query(st.args) //nolint:staticcheck // see the note
		if err != nil {
			return 0, err
		}
		return 0, rows.Close()
	}
	r, err := st.prepared.Exec(st.args) //nolint:staticcheck // see the note
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// rowsOf runs the statement and returns how many rows it gave.
func (c *conn) rowsOf(st *statement) (n int, err error) {
	if st.prepared == nil {
		text := st.text
		if len(st.args) > 0 {
			text = st.literal()
		}
		rows, err := c.rows(text)
		return len(rows), err
	}
	rows, err := st.prepared.Query(st.args) //nolint:staticcheck // see execute
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	values := make([]driver.Value, len(rows.Columns()))
	for rows.Next(values) == nil {
		n++
	}
	return n, nil
}

// literal writes the values into the text. Values are whole numbers, nil, and strings of the workloads' own making;
// quotes and backslashes in them are escaped.
func (st *statement) literal() string {
	b := st.buffer[:0]
	next := 0
	for i := range len(st.text) {
		if st.text[i] != '?' {
			b = append(b, st.text[i])
			continue
		}
		switch v := st.args[next].(type) {
		case nil:
			b = append(b, "NULL"...)
		case int64:
			b = strconv.AppendInt(b, v, 10)
		case []byte:
			b = appendQuoted(b, v)
		case string:
			b = appendQuoted(b, []byte(v))
		default:
			b = appendQuoted(b, fmt.Append(nil, v))
		}
		next++
	}
	st.buffer = b
	return string(b)
}

func appendQuoted(b, value []byte) []byte {
	b = append(b, '\'')
	for _, c := range value {
		if c == '\'' || c == '\\' {
			b = append(b, '\\')
		}
		b = append(b, c)
	}
	return append(b, '\'')
}
