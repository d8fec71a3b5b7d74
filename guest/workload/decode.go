package workload

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"platter/guest"
)

// decodeOptions fills the fields of a pointer to a struct from a JSON object, and reports every fault of it at once.
func decodeOptions(options json.RawMessage, into any) error {
	if trimmed := bytes.TrimSpace(options); len(trimmed) == 0 || string(trimmed) == "null" {
		return nil
	}
	fields := map[string]reflect.Value{}
	collectFields(reflect.ValueOf(into).Elem(), fields)
	members, err := objectMembers(options)
	if err != nil {
		return err
	}
	var errs []error
	seen := map[string]bool{}
	for _, m := range members {
		name := strings.ReplaceAll(m.name, "-", "_")
		field, ok := fields[name]
		switch {
		case !ok:
			errs = append(errs, fmt.Errorf("option %q is unknown%s", m.name, nearestHint(name, fieldNames(fields))))
		case seen[name]:
			errs = append(errs, fmt.Errorf("option %q is given twice", m.name))
		default:
			if err := decodeValue(m.value, field); err != nil {
				errs = append(errs, fmt.Errorf("option %q: %w", m.name, err))
			}
		}
		seen[name] = true
	}
	return errors.Join(errs...)
}

// collectFields indexes the fields of a struct and of the structs embedded in it by their json tags.
func collectFields(v reflect.Value, into map[string]reflect.Value) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Anonymous {
			collectFields(v.Field(i), into)
			continue
		}
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			into[name] = v.Field(i)
		}
	}
}

func fieldNames(fields map[string]reflect.Value) []string {
	names := make([]string, 0, len(fields))
	for n := range fields {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

type member struct {
	name  string
	value json.RawMessage
}

// objectMembers keeps the order and the repetitions a map would lose.
func objectMembers(options json.RawMessage) ([]member, error) {
	d := json.NewDecoder(bytes.NewReader(options))
	open, err := d.Token()
	if err != nil || open != json.Delim('{') {
		return nil, fmt.Errorf("options are an object of names and values, not %s", options)
	}
	var out []member
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("read options: %w", err)
		}
		var m member
		m.name, _ = key.(string) // the decoder admits string keys only
		if err := d.Decode(&m.value); err != nil {
			return nil, fmt.Errorf("read option %q: %w", m.name, err)
		}
		out = append(out, m)
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("read options: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("read options: something follows the object")
	}
	return out, nil
}

func decodeValue(raw json.RawMessage, field reflect.Value) error {
	if string(bytes.TrimSpace(raw)) == "null" {
		return errors.New("it has no value")
	}
	err := json.Unmarshal(raw, field.Addr().Interface())
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Errorf("want %s, got %s", typeName(field.Type()), raw)
	}
	return err
}

func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64, reflect.Int32:
		return "a whole number"
	case reflect.Uint, reflect.Uint64, reflect.Uint32:
		return "a whole number, 0 or more"
	case reflect.Float64:
		return "a number"
	case reflect.String:
		return "a text"
	case reflect.Slice:
		return "a list, each item " + typeName(t.Elem())
	}
	return "another type"
}

// nearestHint names the candidate that looks most like the name, or nothing when none does.
func nearestHint(name string, candidates []string) string {
	best := guest.Nearest(name, candidates)
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}
