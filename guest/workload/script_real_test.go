package workload_test

import (
	"strings"
	"testing"
)

// The user's statements are sent as many times as there are events, with the same value wherever a name stands.
func TestScript(t *testing.T) {
	srv := realServer(t)
	t.Cleanup(func() { execute(t, srv, "DROP SCHEMA IF EXISTS platter_script") })
	options := `{"setup": "CREATE TABLE a (id INT PRIMARY KEY, c VARCHAR(80), w VARCHAR(10)); CREATE TABLE b (id INT, client INT)",
		"statements": ["BEGIN", "INSERT INTO a VALUES ({id}, {c}, {w})", "INSERT INTO b VALUES ({id}, {who})", "SELECT c FROM a WHERE id = {other}", "COMMIT"],
		"values": {"id": "sequence(100)", "c": "digits(3)", "w": "choice(red,green,blue)", "who": "client()", "other": "uniform(1,200)"},
		"threads": 3, "events": 90, "time": 0, "expect_rows": {"a": 90, "b": 90}`
	for _, more := range []string{`}`, `, "db_ps_mode": "disable"}`} {
		execute(t, srv, "DROP SCHEMA IF EXISTS platter_script")
		prepareOn(t, srv, "script", options+more)
		var r *record
		w := witness(t, srv, func() { r = run(t, srv, "script", options+more) })
		expect(t, w, map[string]int64{"Com_begin": 90, "Com_commit": 90, "Com_insert": 180, "Com_select": 90 + 2}) // + the counts of two tables
		for name, want := range map[string]float64{"transactions_total": 90, "reads_total": 90, "writes_total": 180, "others_total": 180} {
			if got := r.value(t, name); got != want {
				t.Errorf("%s %g, want %g", name, got, want)
			}
		}
		for query, want := range map[string]int64{
			"SELECT COUNT(*) FROM platter_script.a JOIN platter_script.b USING (id)":                                            90,
			"SELECT MIN(id) * 1000 + MAX(id) FROM platter_script.a":                                                             100*1000 + 189,
			"SELECT COUNT(*) FROM platter_script.a WHERE c REGEXP '^[0-9]{11}(-[0-9]{11}){2}$' AND w IN ('red','green','blue')": 90,
			"SELECT COUNT(DISTINCT client) FROM platter_script.b":                                                               3,
		} {
			if got := one(t, srv, query); got != want {
				t.Errorf("%s: %d, want %d", query, got, want)
			}
		}
	}
	err := decode(t, "script", `{"statements": "SELECT nothing FROM nowhere", "events": 1}`).Run(t.Context(), session(srv, &record{}))
	if err == nil || !strings.Contains(err.Error(), "1146") {
		t.Errorf("%v", err)
	}
	if err := decode(t, "script", options+`}`).Cleanup(t.Context(), session(srv, &record{})); err != nil {
		t.Error(err)
	}
}
