package report

import (
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"
)

// textLimit bounds every string of a guest in a report.
const textLimit = 2000

// cleanAll replaces, in place, everything in the strings of a value (structs, slices, maps, pointers) that could act on
// a terminal or hide text: see clean. Map keys are cleaned too.
func cleanAll(pointer any) { cleanValue(reflect.ValueOf(pointer).Elem()) }

func cleanValue(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(clean(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			cleanValue(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				cleanValue(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			cleanValue(v.Index(i))
		}
	case reflect.Map:
		cleanMap(v)
	}
}

func cleanMap(v reflect.Value) {
	if v.Len() == 0 {
		return
	}
	cleaned := reflect.MakeMapWithSize(v.Type(), v.Len())
	for _, key := range v.MapKeys() {
		newKey, newValue := reflect.New(key.Type()).Elem(), reflect.New(v.Type().Elem()).Elem()
		newKey.Set(key)
		newValue.Set(v.MapIndex(key))
		cleanValue(newKey)
		cleanValue(newValue)
		cleaned.SetMapIndex(newKey, newValue)
	}
	v.Set(cleaned)
}

// clean makes one string harmless on a terminal: control characters, invalid UTF-8, and characters that reorder or hide
// text become visible escapes; tabs become blanks; line feeds stay. Long strings are cut in the middle of nothing.
func clean(s string) string {
	if isClean(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		if b.Len() >= textLimit {
			b.WriteString("… (cut)")
			break
		}
		switch {
		case r == '\n':
			b.WriteByte('\n')
		case r == '\t' || r == '\u2028' || r == '\u2029':
			b.WriteByte(' ')
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd"):
			b.WriteString(`\ufffd`)
		case !harmless(r):
			writeEscape(&b, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isClean(s string) bool {
	if len(s) > textLimit || !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if !harmless(r) {
			return false
		}
	}
	return true
}

// harmless admits what is printed as itself: no control characters (Cc), and none of the format characters (Cf) with
// which text can be reordered, joined or hidden.
func harmless(r rune) bool { return r == '\n' || unicode.IsGraphic(r) && !unicode.Is(unicode.Cf, r) }

func writeEscape(b *strings.Builder, r rune) {
	const hex = "0123456789abcdef"
	if r < 0x80 {
		b.WriteString(`\x`)
		b.WriteByte(hex[r>>4])
		b.WriteByte(hex[r&15])
		return
	}
	b.WriteString(`\u{`)
	shift := 28
	for shift > 0 && r>>shift == 0 {
		shift -= 4
	}
	for ; shift >= 0; shift -= 4 {
		b.WriteByte(hex[r>>shift&15])
	}
	b.WriteByte('}')
}

// oneLine joins the lines of a text that was cleaned.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func join(words []string) string { return strings.Join(words, ", ") }
