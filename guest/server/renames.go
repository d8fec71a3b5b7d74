package server

import (
	"fmt"
	"strconv"
	"strings"
)

// rename carries one setting from the name a study used to the name this server has for the same thing. A row applies
// only when the server does not know From and does know To, so versions need no numbers here: the server's own list decides.
type rename struct {
	From, To string
	Value    func(c Catalogue, value string) (string, error) // nil keeps the value
	Note     string
}

// renames are tried in order. Names have dashes.
var renames = []rename{
	{"innodb-redo-log-capacity", "innodb-log-file-size", perLogFile, "the redo log is sized by file here"},
	{"innodb-log-file-size", "innodb-redo-log-capacity", nil, "the redo log is sized as a whole here"},
	{"tx-isolation", "transaction-isolation", nil, "renamed"},
	{"transaction-isolation", "tx-isolation", nil, "older name"},
	{"tx-read-only", "transaction-read-only", nil, "renamed"},
	{"storage-engine", "default-storage-engine", nil, "renamed"},
	{"default-table-type", "default-storage-engine", nil, "renamed"},
	{"default-authentication-plugin", "authentication-policy", nil, "renamed in MySQL 8.4"},
	{"authentication-policy", "default-authentication-plugin", nil, "older name"},
	{"log-slave-updates", "log-replica-updates", nil, "renamed"},
	{"log-replica-updates", "log-slave-updates", nil, "older name"},
	{"expire-logs-days", "binlog-expire-logs-seconds", daysToSeconds, "in seconds here"},
	{"key-buffer", "key-buffer-size", nil, "renamed"},
	{"table-cache", "table-open-cache", nil, "renamed"},
	{"thread-cache", "thread-cache-size", nil, "renamed"},
	{"sort-buffer", "sort-buffer-size", nil, "renamed"},
	{"log-slow-queries", "slow-query-log-file", nil, "renamed"},
	{"innodb-file-io-threads", "innodb-read-io-threads", nil, "only the readers; writers keep their default"},
}

// perLogFile turns the capacity of the whole redo log into the size of one file: servers that keep several
// (innodb-log-files-in-group) share it out.
func perLogFile(c Catalogue, value string) (string, error) {
	files := int64(1)
	if v, ok := c.Default("innodb-log-files-in-group"); ok {
		if n, err := strconv.ParseInt(v, 10, 64); err == nil && n > 0 {
			files = n
		}
	}
	total, ok := parseSize(value)
	if !ok {
		return "", fmt.Errorf("%q is not a size", value)
	}
	return strconv.FormatInt(total/files, 10), nil
}

func daysToSeconds(_ Catalogue, value string) (string, error) {
	days, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return "", fmt.Errorf("%q is not a number of days", value)
	}
	return strconv.FormatInt(days*86400, 10), nil
}

// absent are settings a server without the option satisfies by not having the thing: no query cache is a query cache of 0.
var absent = map[string][]string{
	"query-cache-size": {"0"},
	"query-cache-type": {"0", "off"},
	"mysqlx":           {"0", "off"},
}

func satisfiedByAbsence(option, value string) bool {
	for _, v := range absent[option] {
		if strings.EqualFold(v, value) {
			return true
		}
	}
	return false
}

// flushMethods maps the spellings of innodb-flush-method to the one every server takes; MariaDB refuses fdatasync, which
// is what its and MySQL's "fsync" mean on Linux for data files opened without O_DIRECT.
var flushMethods = map[string]string{
	"fdatasync": "fsync", "fsync": "fsync", "o_dsync": "O_DSYNC", "o_direct": "O_DIRECT",
	"o_direct_no_fsync": "O_DIRECT_NO_FSYNC", "littlesync": "littlesync", "nosync": "nosync",
}

func canonicalValue(option, value string) string {
	if option == "innodb-flush-method" {
		if v, ok := flushMethods[strings.ToLower(value)]; ok {
			return v
		}
	}
	return value
}
