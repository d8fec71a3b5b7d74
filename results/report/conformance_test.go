package report

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"platter/results"
)

// models are the reports every format must be able to print. They are made once and only read.
func models(t *testing.T) map[string]*Model {
	t.Helper()
	made, err := makeModels()
	if err != nil {
		t.Fatal(err)
	}
	return made
}

var makeModels = sync.OnceValues(func() (map[string]*Model, error) {
	none := twoTrials()
	none.results = nil
	single := studyOf(map[string][]float64{"ext4": {8, 9}}, "ext4")
	out := map[string]*Model{}
	for name, f := range map[string]*memory{"two": twoTrials(), "ten": tenTrials(), "troubled": troubled(), "none": none, "single": single, "hostile": hostile(), "rich": rich()} {
		m, err := Build([]Folder{f}, Options{})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = m
	}
	return out, nil
})

// attack is what a guest might write to harm the reader: escapes, markup, formulas, control and bidi characters.
const attack = "=cmd|' /C calc'!A0\x1b]0;owned\a\x1b[2J<script>alert(1)</script>\"'`|\r\n\x00\x9b31m\u202e\u200b\xff [x](javascript:1)"

// hostile has an attack in every string of every result and of the plan.
func hostile() *memory {
	f := twoTrials()
	for i := range f.results {
		r := &f.results[i]
		poison(reflect.ValueOf(r).Elem())
		r.Status, r.Accel = results.StatusOK, "tcg"
		r.TrialID = attack + string(rune('a'+i))
		r.Metrics = append(r.Metrics, results.Metric{Name: "run_seconds", Step: attack, Labels: map[string]string{attack: attack}, Value: f.results[0].WallSeconds})
		r.Factors = map[string]string{"storage": attack + string(rune('a'+i%2))}
	}
	f.results[3].Status = results.StatusFailed
	f.id, f.status = attack, attack
	f.plan["study"], f.plan["question"], f.plan["scale"], f.plan["notes"] = attack, attack, attack, []string{attack}
	f.problems = []error{errors.New(attack)}
	return f
}

// poison puts the attack into every string it can reach.
func poison(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(attack)
	case reflect.Pointer:
		if !v.IsNil() {
			poison(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				poison(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i))
		}
	}
}

// TestFormatsConform holds every format to what all readers rely on.
func TestFormatsConform(t *testing.T) {
	all := models(t)
	if len(Formats()) < 4 {
		t.Fatalf("only %d formats are registered", len(Formats()))
	}
	for _, f := range Formats() {
		t.Run(f.Name, func(t *testing.T) {
			if f.Help == "" || !strings.HasPrefix(f.Extension, ".") {
				t.Errorf("help %q, extension %q", f.Help, f.Extension)
			}
			for name, m := range all {
				var first, second bytes.Buffer
				if f.Binary && name == "rich" {
					continue // images are slow to make, and this one is TestImages'
				}
				if err := Write(&first, f.Name, m, Style{}); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if err := Write(&second, f.Name, m, Style{}); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
					t.Errorf("%s: printing twice gives other bytes (%v)", name, err)
				}
				if f.Binary {
					continue
				}
				if !strings.HasSuffix(first.String(), "\n") {
					t.Errorf("%s: does not end in a line feed", name)
				}
				checkHarmless(t, name, first.String())
			}
			if err := Write(broken{}, f.Name, all["two"], Style{}); !errors.Is(err, errBroken) {
				t.Errorf("a broken writer: %v", err)
			}
		})
	}
	if err := Write(&bytes.Buffer{}, "docx", all["two"], Style{}); err == nil || !strings.Contains(err.Error(), "known are") {
		t.Errorf("an unknown format: %v", err)
	}
}

// checkHarmless finds characters that act on a terminal or hide text. The one exception is the zero-width space with
// which Markdown breaks mentions.
func checkHarmless(t *testing.T, name, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("%s: not UTF-8", name)
	}
	for i, r := range strings.ReplaceAll(text, "@\u200b", "@") {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			t.Fatalf("%s: character %U at byte %d", name, r, i)
		}
	}
}

var errBroken = errors.New("broken pipe")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }

// TestNumbersAgree looks for every headline median and change in every format that people read.
func TestNumbersAgree(t *testing.T) {
	m := models(t)["ten"]
	for _, f := range Formats() {
		if !f.People {
			continue
		}
		var page bytes.Buffer
		if err := Write(&page, f.Name, m, Style{}); err != nil {
			t.Fatal(err)
		}
		text := strings.NewReplacer(`\`, "", "&lt;", "<").Replace(page.String())
		for _, want := range []string{"8.248 s", "7.425 s", "8.255 s", "8.190", "-9.9%", "-10.6%", "-9.3%", "p<.001", "p=.985", "n = 10", "platter run ext4-vs-xfs@"} {
			if !strings.Contains(strings.ReplaceAll(text, "\u200b", ""), want) {
				t.Errorf("%s: %q is not there", f.Name, want)
			}
		}
	}
}

// TestColourIsNeverTheOnlySign: without colour the text is the same text.
func TestColourIsNeverTheOnlySign(t *testing.T) {
	m := models(t)["ten"]
	var plain, colour bytes.Buffer
	if err := errors.Join(Write(&plain, "text", m, Style{}), Write(&colour, "text", m, Style{Color: true})); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(colour.String(), escGreen) {
		t.Error("no colour although it was asked for")
	}
	stripped := strings.NewReplacer(escBold, "", escGreen, "", escRed, "", escReset, "").Replace(colour.String())
	if stripped != plain.String() {
		t.Errorf("with and without colour differ:\n%s\n%s", plain.String(), stripped)
	}
}

// TestNarrowTerminal: no line of text is wider than the terminal, tables apart, and no table of two cells at 80.
func TestNarrowTerminal(t *testing.T) {
	var page bytes.Buffer
	if err := Write(&page, "text", models(t)["two"], Style{Width: 80}); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(page.String(), "\n") {
		if utf8.RuneCountInString(line) > 80 {
			t.Errorf("%d wide: %s", utf8.RuneCountInString(line), line)
		}
	}
}

func TestMarkdownStaysSmall(t *testing.T) {
	values := map[string][]float64{}
	var order []string
	for i := range 700 {
		level := strings.Repeat("long-name-", 5) + string(rune('a'+i%26)) + strings.Repeat("x", i/26)
		order = append(order, level)
		values[level] = []float64{1 + float64(i)/100}
	}
	m, err := Build([]Folder{studyOf(values, order...)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := Write(&page, "markdown", m, Style{}); err != nil {
		t.Fatal(err)
	}
	if page.Len() > markdownLimit {
		t.Errorf("%d bytes, the limit is %d", page.Len(), markdownLimit)
	}
}
