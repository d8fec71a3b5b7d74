package workload

import (
	"encoding/json"
	"strings"
	"testing"
)

func slap(t *testing.T, options string) *Mysqlslap {
	t.Helper()
	w, err := Decode("mysqlslap", json.RawMessage(options))
	if err != nil {
		t.Fatal(err)
	}
	return w.(*Mysqlslap)
}

// The text mariadb-slap 10.11 prints with --only-print for the same options.
func TestMysqlslapText(t *testing.T) {
	for _, c := range []struct {
		name, options string
		create, list  []string // beginnings
	}{
		{"defaults", `{"auto_generate_sql": true, "auto_generate_sql_unique_query_number": 3}`,
			[]string{"CREATE TABLE `t1` (intcol1 INT(32),charcol1 VARCHAR(128))",
				"INSERT INTO t1 VALUES (1804289383,'mxvtvmC9127qJNm06sGB8R92q2j7vTiiITRDGXM9ZLzkdekbWtmXKwZ2qG1llkRw5m9DHOFilEREk3q7oce8O3BEJC0woJsm6uzFAEynLH2xCsw1KQ1lT4zg9rdxBL')",
				"INSERT INTO t1 VALUES (822890675,'97RGHZ65mNzkSrYT3zWoSbg9cNePQr1bzSk81qDgE4Oanw3rnPfGsBHSbnu1evTdFDe83ro9w4jjteQg4yoo9xHck3WNqzs54W5zEm92ikdRF48B2oz3m8gMBAl11W')",
				"INSERT INTO t1 VALUES (1308044878,'50w46i58"},
			[]string{"INSERT INTO t1 VALUES (100669,'qnMdipW5", "SELECT intcol1,charcol1 FROM t1", "INSERT INTO t1 VALUES (73673339,'BN3152G", "SELECT intcol1,charcol1 FROM t1"}},
		{"keys and indexes", `{"auto_generate_sql": true, "auto-generate-sql-add-autoincrement": true, "number_int_cols": "2:1", "number_char_cols": "2:1", "auto_generate_sql_secondary_indexes": 1}`,
			[]string{"CREATE TABLE `t1` (id serial,id0 varchar(36) unique key,intcol1 INT(32), INDEX(intcol1),intcol2 INT(32), INDEX(intcol2),charcol1 VARCHAR(128), INDEX(charcol1),charcol2 VARCHAR(128), INDEX(charcol2))",
				"INSERT INTO t1 VALUES (NULL,uuid(),1804289383,846930886,'xvtvmC9127", "INSERT INTO t1 VALUES (NULL,uuid(),1308044878,1346811305,'0w46i58"},
			[]string{"INSERT INTO t1 VALUES (NULL,uuid(),831083598,1142699356,'Zv7uM4", "SELECT intcol1,intcol2,charcol1,charcol2 FROM t1 WHERE id =  "}},
		{"update by key", `{"auto_generate_sql": true, "auto_generate_sql_guid_primary": true, "auto_generate_sql_load_type": "update"}`,
			[]string{"CREATE TABLE `t1` (id varchar(36) primary key,intcol1 INT(32),charcol1 VARCHAR(128))", "INSERT INTO t1 VALUES (uuid(),1804289383,'mxvtvmC9"},
			[]string{"UPDATE t1 SET intcol1 = 100669,charcol1 = 'qnMdipW5KkXdTjGCh2PNzLoeR0527frpQDQ8uw67Ydk1K06uuNHtkxYBxT5w8plb2BbpzhwYBgPNYX9RmICWGkZD6fAESvhMzH3yqzMtXoH4BQNylbK1CmEIPGYlC6' WHERE id =  ", "UPDATE t1 SET intcol1 = 73673339,"}},
		{"read without strings", `{"auto_generate_sql": true, "auto_generate_sql_load_type": "read", "number_char_cols": 0}`,
			[]string{"CREATE TABLE `t1` (intcol1 INT(32))", "INSERT INTO t1 VALUES (1804289383)", "INSERT INTO t1 VALUES (846930886)"},
			[]string{"SELECT intcol1 FROM t1", "SELECT intcol1 FROM t1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			sc := slap(t, c.options).script()
			for i, want := range c.create {
				if !strings.HasPrefix(sc.create[i], want) {
					t.Errorf("set-up %d:\n%s\nwant\n%s", i, sc.create[i], want)
				}
			}
			for i, want := range c.list {
				if !strings.HasPrefix(sc.list[i].text, want) {
					t.Errorf("list %d:\n%s\nwant\n%s", i, sc.list[i].text, want)
				}
			}
		})
	}
}

func TestMysqlslapLimitAndRows(t *testing.T) {
	for _, c := range []struct {
		options        string
		clients, limit int
		rows           int64
	}{
		{`{"auto_generate_sql": true}`, 1, 0, 105},
		{`{"auto_generate_sql": true, "concurrency": 50, "number_of_queries": 1000}`, 50, 20, 649},
		{`{"auto_generate_sql": true, "concurrency": 20, "number_of_queries": 10}`, 20, 0, 219},
		{`{"auto_generate_sql": true, "concurrency": "4", "auto_generate_sql_execute_number": 25}`, 4, 25, 155},
		{`{"auto_generate_sql": true, "auto_generate_sql_load_type": "write", "number_of_queries": 22}`, 1, 22, 121},
		{`{"auto_generate_sql": true, "auto_generate_sql_load_type": "update", "number_of_queries": 22}`, 1, 22, 99},
		{`{"auto_generate_sql": true, "auto_generate_sql_write_number": 1000, "auto_generate_sql_unique_write_number": 3, "auto_generate_sql_unique_query_number": 4}`, 1, 0, 1002},
		{`{"auto_generate_sql": true, "concurrency": 2, "number_of_queries": 22}`, 2, 11, 111},
	} {
		m := slap(t, c.options)
		if errs := m.Check(Place{Flavour: "mariadb"}); errs != nil {
			t.Errorf("%s: %v", c.options, errs)
		}
		if got := m.limit(c.clients); got != c.limit {
			t.Errorf("%s: limit %d, want %d", c.options, got, c.limit)
		}
		if got := m.expectedRows(c.clients); got != c.rows {
			t.Errorf("%s: %d rows, want %d", c.options, got, c.rows)
		}
	}
}

func TestMysqlslapCheck(t *testing.T) {
	for _, c := range []struct{ options, want string }{
		{`{}`, "no statements"},
		{`{"auto_generate_sql": true, "query": "SELECT 1"}`, "leave out query"},
		{`{"auto_generate_sql": true, "auto_generate_sql_load_type": "key"}`, "needs auto_generate_sql_add_autoincrement"},
		{`{"auto_generate_sql": true, "auto_generate_sql_load_type": "keys"}`, `"keys" is not one of`},
		{`{"auto_generate_sql": true, "concurrency": "4,0"}`, "concurrency"},
		{`{"auto_generate_sql": true, "iterations": 0}`, "iterations is 0"},
		{`{"auto_generate_sql": true, "auto_generate_sql_unique_write_number": 0}`, "it is 1 or more"},
		{`{"auto_generate_sql": true, "auto_generate_sql_write_number": 0}`, "it is 1 or more"},
		{`{"auto_generate_sql": true, "engine": "innodb,rocksbd"}`, `"rocksbd" is not one of mariadb`},
		{`{"auto_generate_sql": true, "auto_generate_sql_execute_number": 5, "number_of_queries": 5}`, "choose one"},
		{`{"auto_generate_sql": true, "concurrency": 300}`, "302 connections are needed, the server takes 200"},
		{`{"auto_generate_sql": true, "auto_generate_sql_write_number": 100000000}`, "bytes are needed on disk"},
	} {
		errs := slap(t, c.options).Check(Place{Flavour: "mariadb", MaxConnections: 200, DiskBytes: 1 << 30})
		text := ""
		for _, e := range errs {
			text += e.Error() + "\n"
		}
		if !strings.Contains(text, c.want) {
			t.Errorf("%s: %q, want %q in it", c.options, text, c.want)
		}
	}
}

func TestDecodeFaults(t *testing.T) {
	for _, c := range []struct {
		workload, options string
		want              []string
	}{
		{"mysqlslapp", `{}`, []string{`"mysqlslapp" is unknown`, `did you mean "mysqlslap"?`}},
		{"mysqlslap", `{"concurency": 4, "iteration": 3}`, []string{`"concurency" is unknown; did you mean "concurrency"?`, `did you mean "iterations"?`}},
		{"mysqlslap", `{"iterations": 1, "iterations": 2}`, []string{`"iterations" is given twice`}},
		{"mysqlslap", `{"iterations": "many"}`, []string{`"iterations": want a whole number, got "many"`}},
		{"mysqlslap", `{"concurrency": "1,x"}`, []string{`"x" is not a whole number`}},
		{"mysqlslap", `{"number_int_cols": "x:1"}`, []string{`want a number of columns`}},
		{"mysqlslap", `{"commit": null}`, []string{`"commit": it has no value`}},
		{"mysqlslap", `[]`, []string{"an object"}},
		{"mysqlslap", `{"commit": 1`, []string{"read option"}},
	} {
		_, err := Decode(c.workload, json.RawMessage(c.options))
		if err == nil {
			t.Errorf("%s accepted", c.options)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v; want %s", c.options, err, w)
			}
		}
	}
}
