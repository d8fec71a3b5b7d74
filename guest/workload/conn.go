package workload

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// conn is one client's connection. It talks to the driver below database/sql: a pool's locks, its value conversions and
// its round trips would be measured along with the server. It is not safe for concurrent use.
type conn struct {
	raw     driver.Conn
	exec    driver.ExecerContext
	yielded time.Time
}

func (s *Session) connect(ctx context.Context, schema string) (*conn, error) {
	raw, err := s.Connect(ctx, schema)
	if err != nil {
		return nil, err
	}
	exec, ok := raw.(driver.ExecerContext)
	if !ok {
		raw.Close()
		return nil, errors.New("the driver cannot run plain statements")
	}
	return &conn{raw: raw, exec: exec}, nil
}

// yieldEvery is half of the time after which the runtime takes a goroutine for one that runs too long.
const yieldEvery = 5 * time.Millisecond

// yield lets the runtime see that a client which does nothing but wait for its server is not stuck; without it the runtime's
// monitor stops every client by a signal a hundred times a second.
func (c *conn) yield() {
	if now := time.Now(); now.Sub(c.yielded) >= yieldEvery {
		c.yielded = now
		runtime.Gosched()
	}
}

func (c *conn) close() error { return c.raw.Close() }

// run sends a statement, reads and throws away every result it has, and returns how many rows it changed.
//
// The driver reads the rows of an Exec without decoding them, which costs the client least. The context of a connection
// is the one it was made with, so none is passed here.
func (c *conn) run(statement string) (affected int64, err error) {
	c.yield()
	r, err := c.exec.ExecContext(context.Background(), statement, nil)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// must is run for set-up work: the error names the statement.
func (c *conn) must(statement string) error {
	if _, err := c.run(statement); err != nil {
		return fmt.Errorf("%s: %w", shorten(statement), err)
	}
	return nil
}

// rows runs a query and returns all of it as text; NULL is "".
func (c *conn) rows(statement string) ([][]string, error) {
	q := c.raw.(driver.QueryerContext) // the driver has both or neither
	rows, err := q.QueryContext(context.Background(), statement, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", shorten(statement), err)
	}
	defer rows.Close()
	values := make([]driver.Value, len(rows.Columns()))
	var out [][]string
	for {
		err := rows.Next(values)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", shorten(statement), err)
		}
		row := make([]string, len(values))
		for i, v := range values {
			switch v := v.(type) {
			case nil:
			case []byte:
				row[i] = string(v)
			default:
				row[i] = fmt.Sprint(v)
			}
		}
		out = append(out, row)
	}
}

// value runs a query of one row and one column.
func (c *conn) value(statement string) (string, error) {
	rows, err := c.rows(statement)
	if err != nil {
		return "", err
	}
	if len(rows) != 1 || len(rows[0]) != 1 {
		return "", fmt.Errorf("%s: %d rows, want one value", shorten(statement), len(rows))
	}
	return rows[0][0], nil
}

// count runs a query whose one value is a number.
func (c *conn) count(statement string) (int64, error) {
	v, err := c.value(statement)
	if err != nil {
		return 0, err
	}
	var n int64
	if _, err := fmt.Sscan(v, &n); err != nil {
		return 0, fmt.Errorf("%s: %q is not a number", shorten(statement), v)
	}
	return n, nil
}

// errorNumber is the server's error number, 0 for an error it did not send.
func errorNumber(err error) uint16 {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return e.Number
	}
	return 0
}

// shorten keeps a statement readable in a message.
func shorten(statement string) string {
	statement = strings.Join(strings.Fields(statement), " ")
	if len(statement) > 80 {
		return statement[:77] + "..."
	}
	return statement
}

// quoteName quotes an identifier.
func quoteName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
