package server

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/go-sql-driver/mysql"
)

// connector makes connections as root over the server's socket, in a schema ("" for none). TCP is never used: accounts
// whose password check needs TLS on a cold cache then log in like any other. A connection's socket is closed when the
// context it was made with ends, which ends the statement it is in at once.
func (s *Server) connector(schema string) (driver.Connector, error) {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Net, cfg.Addr, cfg.DBName = "root", "unix", s.Socket(), schema
	cfg.AllowNativePasswords = true
	cfg.Logger = silent{} // a lost connection is an error we return, not a line on stderr
	cfg.CheckConnLiveness = false
	cfg.Timeout = connectLimit
	cfg.DialFunc = dialBound
	return mysql.NewConnector(cfg)
}

// lifetime is the context key that carries the context of Connect through the driver, which dials under a shorter one.
type lifetime struct{}

func dialBound(ctx context.Context, _, address string) (net.Conn, error) {
	if life, ok := ctx.Value(lifetime{}).(context.Context); ok {
		ctx = life
	} else {
		ctx = context.WithoutCancel(ctx) // a pool's connection outlives the call that opened it
	}
	return dialSocket(ctx, address)
}

type silent struct{}

// Print implements the driver's logger.
func (silent) Print(...any) {}

const connectLimit = 30 * time.Second

// Connect opens one connection as root, in a schema ("" for none). The caller closes it; it closes by itself, in the middle
// of a statement too, when ctx ends. It is safe for concurrent use.
func (s *Server) Connect(ctx context.Context, schema string) (driver.Conn, error) {
	c, err := s.connector(schema)
	if err != nil {
		return nil, err
	}
	conn, err := c.Connect(context.WithValue(ctx, lifetime{}, ctx))
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", s.Socket(), err)
	}
	return conn, nil
}

// DB is a pool of at most that many connections. The caller closes it.
func (s *Server) DB(clients int) (*sql.DB, error) {
	c, err := s.connector("")
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(clients)
	db.SetMaxIdleConns(clients)
	return db, nil
}

// ping tells whether the server answers a query.
func (s *Server) ping(ctx context.Context) error {
	conn, err := s.Connect(ctx, "")
	if err != nil {
		return err
	}
	defer conn.Close()
	rows, err := query(conn, "SELECT 1")
	if err != nil {
		return err
	}
	if len(rows) != 1 {
		return fmt.Errorf("SELECT 1 gave %d rows", len(rows))
	}
	return nil
}

// query runs a statement on a raw connection and returns all rows as text.
func query(conn driver.Conn, text string) ([][]string, error) {
	rows, err := conn.(driver.QueryerContext).QueryContext(context.Background(), text, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	defer rows.Close()
	var out [][]string
	values := make([]driver.Value, len(rows.Columns()))
	for {
		switch err := rows.Next(values); err {
		case nil:
			out = append(out, textRow(values))
		case io.EOF:
			return out, nil
		default:
			return nil, fmt.Errorf("%s: %w", text, err)
		}
	}
}

func textRow(values []driver.Value) []string {
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
	return row
}
