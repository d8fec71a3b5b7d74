package workload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Counts is a list of positive numbers, written as a number, a list, or the tools' own "1,10,50".
type Counts []int

// UnmarshalJSON implements json.Unmarshaler.
func (c *Counts) UnmarshalJSON(b []byte) error {
	items, err := listItems(b)
	if err != nil {
		return err
	}
	*c = nil
	for _, item := range items {
		n, err := strconv.Atoi(item)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", item)
		}
		*c = append(*c, n)
	}
	return nil
}

// Words is a list of words, written as a list or as the tools' own "innodb,myisam".
type Words []string

// UnmarshalJSON implements json.Unmarshaler.
func (w *Words) UnmarshalJSON(b []byte) error {
	items, err := listItems(b)
	if err != nil {
		return err
	}
	*w = items
	return nil
}

// Statements are SQL statements, written as a list or as one text that a delimiter cuts.
type Statements struct {
	Text string   // when written as one text
	List []string // when written as a list
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Statements) UnmarshalJSON(b []byte) error {
	*s = Statements{}
	if b = bytes.TrimSpace(b); len(b) > 0 && b[0] == '[' {
		return json.Unmarshal(b, &s.List)
	}
	return json.Unmarshal(b, &s.Text)
}

// MarshalJSON implements json.Marshaler.
func (s Statements) MarshalJSON() ([]byte, error) {
	if s.List != nil {
		return json.Marshal(s.List)
	}
	return json.Marshal(s.Text)
}

// split returns the statements; one text is cut at the delimiter, and blank pieces are dropped.
func (s Statements) split(delimiter byte) []string {
	pieces := s.List
	if pieces == nil {
		pieces = strings.Split(s.Text, string(delimiter))
	}
	var out []string
	for _, p := range pieces {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return out
}

func listItems(b []byte) ([]string, error) {
	b = bytes.TrimSpace(b)
	if len(b) == 0 {
		return nil, fmt.Errorf("it has no value")
	}
	var raw []json.RawMessage
	switch b[0] {
	case '[':
		if err := json.Unmarshal(b, &raw); err != nil {
			return nil, err
		}
	default:
		raw = []json.RawMessage{b}
	}
	var out []string
	for _, r := range raw {
		text := string(r)
		if r[0] == '"' {
			if err := json.Unmarshal(r, &text); err != nil {
				return nil, err
			}
		}
		for item := range strings.SplitSeq(text, ",") {
			out = append(out, strings.TrimSpace(item))
		}
	}
	return out, nil
}
