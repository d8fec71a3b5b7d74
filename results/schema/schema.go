// Package schema owns the JSON Schemas of what platter writes to disk and checks documents against them.
//
// It exists to keep the schema library out of the guest binary. results/store checks every result before it is kept and
// again on verify, and puts the texts into each run folder; the command checks plans. Meaning (sums, finite numbers) is
// the business of results.Result.Validate.
package schema

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

//go:embed *.schema.json
var files embed.FS

// Suffix ends the file name of every schema.
const Suffix = ".schema.json"

// Names returns the schemas there are, sorted: event, host, image, journal, metrics, plan, result, run.
func Names() []string {
	paths, err := fs.Glob(files, "*"+Suffix)
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for i, path := range paths {
		paths[i] = strings.TrimSuffix(path, Suffix)
	}
	return paths
}

// Text returns a schema as it lies in a run folder, or nil when there is none of that name.
func Text(name string) []byte {
	text, err := files.ReadFile(name + Suffix)
	if err != nil {
		return nil
	}
	return text
}

// Validate checks one JSON document against a schema. The error lists every fault with its place in the document.
// It is safe for concurrent use.
func Validate(name string, document []byte) error {
	schema, err := compiled(name)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return fmt.Errorf("%s: not one JSON document: %w", name, err)
	}
	var invalid *jsonschema.ValidationError
	if err := schema.Validate(value); errors.As(err, &invalid) {
		return fmt.Errorf("%s: %w", name, errors.Join(faults(invalid)...))
	} else if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// compile compiles all schemas once.
var compile = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	schemas := map[string]*jsonschema.Schema{}
	for _, name := range Names() {
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(Text(name)))
		if err != nil {
			return nil, fmt.Errorf("schema %s: %w", name, err)
		}
		if err := compiler.AddResource(name+Suffix, document); err != nil {
			return nil, fmt.Errorf("schema %s: %w", name, err)
		}
		if schemas[name], err = compiler.Compile(name + Suffix); err != nil {
			return nil, fmt.Errorf("schema %s: %w", name, err)
		}
	}
	return schemas, nil
})

func compiled(name string) (*jsonschema.Schema, error) {
	schemas, err := compile()
	if err != nil {
		return nil, err
	}
	schema, ok := schemas[name]
	if !ok {
		return nil, fmt.Errorf("schema %q: there is none; known are %s", name, strings.Join(Names(), ", "))
	}
	return schema, nil
}

// printer turns the library's faults into English.
var printer = message.NewPrinter(language.English)

// faults flattens the library's tree to its leaves, each "/place: what is wrong".
func faults(e *jsonschema.ValidationError) []error {
	if len(e.Causes) == 0 {
		return []error{fmt.Errorf("/%s: %s", strings.Join(e.InstanceLocation, "/"), e.ErrorKind.LocalizedString(printer))}
	}
	var all []error
	for _, cause := range e.Causes {
		all = append(all, faults(cause)...)
	}
	return all
}
