package workload

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Workload is one load with its options decoded. A value belongs to one step and is not used concurrently.
type Workload interface {
	// Check says everything that is wrong with the options at a place; it is pure, and nil means nothing is.
	Check(Place) []error
	// Needs says what the workload takes from the server and the disk; it is pure.
	Needs() Needs
	// Prepare makes and fills the tables.
	Prepare(context.Context, *Session) error
	// Warmup runs the load without measuring it.
	Warmup(context.Context, *Session) error
	// Run runs the load and emits its metrics. An error means the subject failed and there are no numbers; an
	// *InvalidError means numbers exist and must not be used.
	Run(context.Context, *Session) error
	// Cleanup drops what Prepare and Run made.
	Cleanup(context.Context, *Session) error
}

// Kind is a registered workload.
type Kind struct {
	Name  string
	Doc   string          // one sentence: what it does, and which tool it counts like
	Steps []string        // what a study means that names the workload only: some of prepare, warmup, run, cleanup
	New   func() Workload // a pointer to the option struct, holding the defaults
}

var kinds = map[string]Kind{}

// register is called from the init function of each workload's file.
func register(name, doc string, steps []string, defaults func() Workload) {
	if _, ok := kinds[name]; ok {
		panic("workload " + name + " registered twice")
	}
	kinds[name] = Kind{Name: name, Doc: doc, Steps: steps, New: defaults}
}

// The steps most workloads mean.
var (
	runOnly       = []string{"run"}
	prepareAndRun = []string{"prepare", "run"}
)

// Kinds returns every registered workload, by name.
func Kinds() []Kind {
	out := make([]Kind, 0, len(kinds))
	for _, name := range Names() {
		out = append(out, kinds[name])
	}
	return out
}

// Names returns the names of the registered workloads, sorted.
func Names() []string {
	names := make([]string, 0, len(kinds))
	for name := range kinds {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Decode returns the workload of that name with its options decoded strictly over its defaults. All faults are reported at
// once: an unknown option names the nearest known one, a value of another type says what is wanted. Empty options are the
// defaults. Names may be written with dashes, as the tools do.
func Decode(name string, options json.RawMessage) (Workload, error) {
	kind, ok := kinds[name]
	if !ok {
		return nil, fmt.Errorf("workload %q is unknown; there are %s%s", name, strings.Join(Names(), ", "), nearestHint(name, Names()))
	}
	w := kind.New()
	if err := decodeOptions(options, w); err != nil {
		return nil, fmt.Errorf("workload %s: %w", name, err)
	}
	return w, nil
}

// engineOptions are the options that name a storage engine, in the words of the tools the workloads count like.
var engineOptions = []string{"engine", "mysql_table_engine", "mysql_storage_engine"}

// EngineOption returns the option by which a workload is told the storage engine of its tables; "" when it has none.
func EngineOption(name string) string {
	if kind, ok := kinds[name]; ok {
		option, _ := engineField(kind.New())
		return option
	}
	return ""
}

// Engines returns the storage engines a workload makes tables of; empty when it leaves that to the server.
func Engines(w Workload) (engines []string) {
	_, value := engineField(w)
	if !value.IsValid() || value.IsZero() {
		return nil
	}
	for _, word := range strings.FieldsFunc(strings.Trim(fmt.Sprint(value.Interface()), "[]"), func(r rune) bool { return r == ',' || r == ' ' }) {
		name, _, _ := strings.Cut(word, ":") // mysqlslap's engine:option
		engines = append(engines, name)
	}
	return engines
}

func engineField(w Workload) (option string, value reflect.Value) {
	fields := map[string]reflect.Value{}
	collectFields(reflect.ValueOf(w).Elem(), fields)
	for _, option := range engineOptions {
		if value, ok := fields[option]; ok {
			return option, value
		}
	}
	return "", reflect.Value{}
}
