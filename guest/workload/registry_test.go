package workload

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Every workload has the same shape: documented, with defaults that decode to themselves, options with names in base
// units, and a Check and Needs that touch nothing.
func TestConformance(t *testing.T) {
	for _, k := range Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			if k.Doc == "" || strings.HasSuffix(k.Doc, ".") {
				t.Errorf("doc %q: one sentence without its full stop", k.Doc)
			}
			for _, s := range k.Steps {
				if !slices.Contains([]string{"prepare", "warmup", "run", "crash", "verify", "cleanup"}, s) {
					t.Errorf("step %q", s)
				}
			}
			_, crashes := k.New().(Crasher)
			if !slices.Contains(k.Steps, "run") && !crashes {
				t.Error("it is never run")
			}
			plain, again := k.New(), k.New()
			if reflect.ValueOf(plain).Kind() != reflect.Pointer || plain == again {
				t.Error("New must return a fresh pointer")
			}
			b, err := json.Marshal(plain)
			if err != nil {
				t.Fatal(err)
			}
			names := map[string]reflect.Value{}
			collectFields(reflect.ValueOf(plain).Elem(), names)
			for name := range names {
				if name != strings.ToLower(name) || strings.ContainsAny(name, "- ") {
					t.Errorf("option %q is not snake_case", name)
				}
			}
			if _, err := Decode(k.Name, json.RawMessage(`{"no_such_option": 1}`)); err == nil || !strings.Contains(err.Error(), "no_such_option") {
				t.Errorf("unknown option: %v (options %s)", err, b)
			}
			plain.Check(Place{Flavour: "mariadb"})
			if n := plain.Needs(); n.Connections < 1 {
				t.Errorf("needs %+v: no connection", n)
			}
		})
	}
}
