package agent

import (
	"context"
	"database/sql"
	"strconv"
	"strings"

	"platter/guest/sampler"
)

// statusNames are the server's counters worth a second's resolution; a server without one leaves it out.
var statusNames = []string{
	"Bytes_received", "Bytes_sent", "Com_commit", "Com_delete", "Com_insert", "Com_select", "Com_update",
	"Innodb_buffer_pool_pages_dirty", "Innodb_buffer_pool_reads", "Innodb_buffer_pool_wait_free", "Innodb_data_fsyncs",
	"Innodb_data_read", "Innodb_data_written", "Innodb_log_waits", "Innodb_os_log_fsyncs", "Innodb_os_log_written",
	"Innodb_row_lock_waits", "Innodb_rows_inserted", "Innodb_rows_read", "Innodb_rows_updated",
	"Questions", "Threads_connected", "Threads_running",
}

var statusQuery = "SHOW GLOBAL STATUS WHERE Variable_name IN ('" + strings.Join(statusNames, "','") + "')"

// statusReader asks the server for its counters over one connection of its own.
type statusReader struct{ db *sql.DB }

// read returns nothing, without an error that matters, while the server is stopped.
func (r statusReader) read(ctx context.Context) ([]sampler.Value, error) {
	rows, err := r.db.QueryContext(ctx, statusQuery)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var values []sampler.Value
	for rows.Next() {
		var name, text string
		if err := rows.Scan(&name, &text); err != nil {
			return nil, err
		}
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			values = append(values, sampler.Value{Source: "server", Name: name, Value: n})
		}
	}
	return values, rows.Err()
}
