package workload

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestScriptCheck(t *testing.T) {
	for _, c := range []struct{ options, want string }{
		{`{}`, "statements lists at least one statement"},
		{`{"statements": "SELECT {idd}", "values": {"id": "uniform(1,10)"}}`, `{idd} is not among the values; did you mean "id"?`},
		{`{"statements": "SELECT ?"}`, "write {name} for a value"},
		{`{"statements": "SELECT 1", "values": {"id": "uniform(1,10)"}}`, `"id" is used by no statement`},
		{`{"statements": "SELECT {id}", "values": {"id": "uniform(1)"}}`, "is no generator"},
		{`{"statements": "SELECT {id}", "values": {"id": "uniform(a,b)"}}`, `"a" is not a whole number`},
		{`{"statements": "SELECT {id}", "values": {"id": "uniform"}}`, "is not kind(arguments)"},
		{`{"statements": "SELECT 1", "retry_errors": "deadlock"}`, `"deadlock" is not an error number`},
	} {
		w, err := Decode("script", json.RawMessage(c.options))
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprint(w.Check(Place{})); !strings.Contains(text, c.want) {
			t.Errorf("%s: %s, want %q in it", c.options, text, c.want)
		}
	}
}

func TestSplitPlaces(t *testing.T) {
	names := []string{"c", "id"}
	st, err := splitPlaces(`UPDATE t SET c={c}, note='{c} it\'s a ? "' WHERE id={id} OR id={id}`, names, map[string]bool{})
	if err != nil {
		t.Fatal(err)
	}
	if st.text != `UPDATE t SET c=?, note='{c} it\'s a ? "' WHERE id=? OR id=?` || fmt.Sprint(st.names) != "[0 1 1]" {
		t.Errorf("%q %v", st.text, st.names)
	}
}
