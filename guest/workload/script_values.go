package workload

import (
	"database/sql/driver"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// scriptValue draws the value of one name for one client.
type scriptValue func(c *scriptClient) driver.Value

// scriptStatement is one statement with its places and the names that fill them, by index.
type scriptStatement struct {
	text  string // ? for each place
	names []int
}

// scriptProgram is a checked script.
type scriptProgram struct {
	statements []scriptStatement
	makers     []func(*scriptClient) scriptValue // by index of the name
}

// compile checks the statements and the generators, and reports every fault at once.
func (sc *Script) compile() (*scriptProgram, error) {
	var faults []string
	p := &scriptProgram{}
	names := sortedNames(sc.Values)
	for _, name := range names {
		maker, err := parseGenerator(name, sc.Values[name])
		if err != nil {
			faults = append(faults, err.Error())
		}
		p.makers = append(p.makers, maker)
	}
	used := map[string]bool{}
	for _, text := range sc.Statements.split(scriptDelimiter) {
		st, err := splitPlaces(text, names, used)
		if err != nil {
			faults = append(faults, err.Error())
		}
		p.statements = append(p.statements, st)
	}
	if len(p.statements) == 0 {
		faults = append(faults, "statements lists at least one statement")
	}
	for _, name := range names {
		if !used[name] {
			faults = append(faults, fmt.Sprintf("values: %q is used by no statement", name))
		}
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("%s", strings.Join(faults, "\n"))
	}
	return p, nil
}

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// splitPlaces turns {name} into ? outside of quotes. A ? of the user's own is refused: nothing would fill it.
func splitPlaces(text string, names []string, used map[string]bool) (scriptStatement, error) {
	var st scriptStatement
	var b strings.Builder
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0:
			if c == '\\' && i+1 < len(text) {
				b.WriteByte(c)
				i++
				c = text[i]
			} else if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"' || c == '`':
			quote = c
		case c == '?':
			return st, fmt.Errorf("statement %q: write {name} for a value, not ?", shorten(text))
		case c == '{':
			name, rest, found := strings.Cut(text[i+1:], "}")
			index, known := slices.BinarySearch(names, name)
			if !found || !known {
				return st, fmt.Errorf("statement %q: {%s} is not among the values%s", shorten(text), name, nearestHint(name, names))
			}
			used[name] = true
			st.names = append(st.names, index)
			i = len(text) - len(rest) - 1
			c = '?'
		}
		b.WriteByte(c)
	}
	st.text = b.String()
	return st, nil
}

// parseGenerator reads name(arguments).
func parseGenerator(name, text string) (func(*scriptClient) scriptValue, error) {
	kind, rest, found := strings.Cut(strings.TrimSpace(text), "(")
	if !found || !strings.HasSuffix(rest, ")") {
		return nil, fmt.Errorf("values: %s: %q is not kind(arguments), like uniform(1,1000)", name, text)
	}
	var args []string
	for a := range strings.SplitSeq(strings.TrimSuffix(rest, ")"), ",") {
		args = append(args, strings.TrimSpace(a))
	}
	numbers := make([]int64, len(args))
	for i, a := range args {
		n, err := strconv.ParseInt(a, 10, 64)
		if err != nil && kind != "choice" && kind != "client" {
			return nil, fmt.Errorf("values: %s: %q is not a whole number", name, a)
		}
		numbers[i] = n
	}
	two := len(args) == 2 && numbers[0] <= numbers[1]
	switch {
	case distributions[kind] != nil && two:
		return func(c *scriptClient) scriptValue {
			d := newDistribution(kind, c.random, numbers[0], numbers[1], 12, 1, 75, 0.2)
			return func(*scriptClient) driver.Value { return d.id() }
		}, nil
	case kind == "sequence" && len(args) == 1:
		return func(c *scriptClient) scriptValue {
			seq := c.s.sequence("script/" + name)
			return func(*scriptClient) driver.Value { return numbers[0] - 1 + seq.n.Add(1) }
		}, nil
	case kind == "client" && args[0] == "":
		return func(*scriptClient) scriptValue { return func(c *scriptClient) driver.Value { return int64(c.number) } }, nil
	case kind == "digits" && len(args) == 1 && numbers[0] > 0 && numbers[0] <= 1000:
		return textMaker(func(b []byte, r *rand.Rand) []byte { return appendDigits(b, r, int(numbers[0])) }), nil
	case kind == "letters" && two && numbers[0] >= 0 && numbers[1] <= 1<<20:
		return textMaker(func(b []byte, r *rand.Rand) []byte { return appendLetters(b, r, int(numbers[0]), int(numbers[1])) }), nil
	case kind == "choice":
		return func(*scriptClient) scriptValue {
			return func(c *scriptClient) driver.Value { return args[c.random.IntN(len(args))] }
		}, nil
	}
	return nil, fmt.Errorf("values: %s: %q is no generator; there are uniform, gaussian, special and pareto(from,to), sequence(from), client(), digits(groups), letters(from,to) and choice(a,b,…)", name, text)
}

func textMaker(draw func([]byte, *rand.Rand) []byte) func(*scriptClient) scriptValue {
	return func(*scriptClient) scriptValue {
		var b []byte
		return func(c *scriptClient) driver.Value {
			b = draw(b[:0], c.random)
			return b
		}
	}
}
