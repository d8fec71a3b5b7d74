package report

import "slices"

// notes numbers footnotes: the same text has one number however often it is needed.
type notes struct{ list []Note }

// add returns the number of a note.
func (n *notes) add(code, text string) int {
	for _, note := range n.list {
		if note.Text == text {
			return note.Number
		}
	}
	n.list = append(n.list, Note{len(n.list) + 1, code, text})
	return len(n.list)
}

// attach adds a note's number to those of one place, once.
func (n *notes) attach(to []int, code, text string) []int {
	if number := n.add(code, text); !slices.Contains(to, number) {
		to = append(to, number)
	}
	return to
}
