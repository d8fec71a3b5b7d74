package workload

import (
	"encoding/json"
	"slices"
	"testing"
)

// TestEngines: a workload tells which engines its tables have, whatever its tool calls the option.
func TestEngines(t *testing.T) {
	for _, c := range []struct {
		name, options string
		want          []string
	}{
		{"oltp_legacy", `{"mysql_table_engine": "myisam"}`, []string{"myisam"}},
		{"oltp_legacy", `{}`, []string{"innodb"}},
		{"oltp_read_write", `{"mysql_storage_engine": "aria"}`, []string{"aria"}},
		{"mysqlslap", `{"auto_generate_sql": true, "engine": "innodb,myisam"}`, []string{"innodb", "myisam"}},
		{"mysqlslap", `{"auto_generate_sql": true}`, nil},
		{"restore", `{"engine": "memory"}`, []string{"memory"}},
	} {
		w, err := Decode(c.name, json.RawMessage(c.options))
		if err != nil {
			t.Fatal(err)
		}
		if got := Engines(w); !slices.Equal(got, c.want) {
			t.Errorf("%s %s: %q, want %q", c.name, c.options, got, c.want)
		}
	}
}
