package workload

import "strconv"

func init() {
	registerOLTP("single inserts as plain text, counted like sysbench 1.0", script{
		name: "oltp_insert", empty: true, event: (*oltpClient).insertText,
		rows: func(before, events, _ int64) int64 { return before + events },
	})
}

// insertText inserts one row as text: id 0 lets the server number it, else a number that never repeats is taken from a
// sequence all clients share, shifted into the signed range.
func (c *oltpClient) insertText() error {
	id := int64(0)
	if !c.o.AutoInc {
		id = uniqueID(c.sequence.n.Add(1))
	}
	b := append(c.text[:0], "INSERT INTO "...)
	b = append(append(b, tableName(c.table())...), " (id, k, c, pad) VALUES ("...)
	b = append(strconv.AppendInt(b, id, 10), ", "...)
	b = append(strconv.AppendInt(b, c.ids.id(), 10), ", '"...)
	b = append(appendDigits(b, c.random, 10), "', '"...)
	b = append(appendDigits(b, c.random, 5), "')"...)
	c.text = b
	return c.write(&statement{text: string(b)}, kindInsert)
}

// uniqueID spreads 1, 2, 3 … over the 32-bit range without repetition: a product with an odd number is a permutation.
func uniqueID(n int64) int64 {
	const odd = 2654435761 // 2^32 / golden ratio
	return int64(uint32(n)*odd) - 1<<31
}
