package guest

import (
	"fmt"
	"reflect"
)

// Limits on what one end accepts from the other. A line may be long (a server has a thousand variables,
// a histogram some hundred kilobytes), but a hostile or broken guest must not fill the host's memory.
const (
	MaxLineBytes    = 64 << 20 // one event or one job
	MaxStringBytes  = 8 << 20  // one string of an event
	MaxCollection   = 200_000  // entries of one list or map of an event
	MaxMessageBytes = 64 << 10 // messages, reasons and evidence, which people read
)

// checkSize returns an error when an event is over the limits. line is its encoding.
func checkSize(line []byte, ev Event) error {
	if len(line) > MaxLineBytes {
		return fmt.Errorf("event of %d bytes, at most %d", len(line), MaxLineBytes)
	}
	for _, m := range ev.messages() {
		if len(m) > MaxMessageBytes {
			return fmt.Errorf("message of %d bytes, at most %d", len(m), MaxMessageBytes)
		}
	}
	if f := ev.File; f != nil && (f.SizeBytes < 0 || len(f.SHA256) != 64 || !known(f.Name)) {
		return fmt.Errorf("file %q is not one the host fetches", clip([]byte(f.Name), 80))
	}
	return checkValue(reflect.ValueOf(ev))
}

// messages are the texts of an event that people read.
func (ev *Event) messages() []string {
	switch {
	case ev.Log != nil:
		return []string{ev.Log.Message}
	case ev.Step != nil:
		return []string{ev.Step.Name, ev.Step.Error}
	case ev.Done != nil:
		return []string{ev.Done.Reason, ev.Done.Evidence}
	}
	return nil
}

func known(name string) bool {
	for _, f := range Files {
		if f == name {
			return true
		}
	}
	return false
}

func checkValue(v reflect.Value) error {
	switch v.Kind() {
	case reflect.String:
		if v.Len() > MaxStringBytes {
			return fmt.Errorf("string of %d bytes, at most %d", v.Len(), MaxStringBytes)
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return checkValue(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() {
				continue
			}
			if err := checkValue(v.Field(i)); err != nil {
				return fmt.Errorf("%s: %w", v.Type().Field(i).Name, err)
			}
		}
	case reflect.Slice, reflect.Map:
		return checkCollection(v)
	}
	return nil
}

func checkCollection(v reflect.Value) error {
	if v.Len() > MaxCollection {
		return fmt.Errorf("%d entries, at most %d", v.Len(), MaxCollection)
	}
	if v.Kind() == reflect.Slice {
		for i := range v.Len() {
			if err := checkValue(v.Index(i)); err != nil {
				return err
			}
		}
		return nil
	}
	for it := v.MapRange(); it.Next(); {
		if err := checkValue(it.Key()); err != nil {
			return err
		}
		if err := checkValue(it.Value()); err != nil {
			return err
		}
	}
	return nil
}
