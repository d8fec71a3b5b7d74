package workload

import "strconv"

// numbers appends that many drawn numbers joined by dashes, in reverse order of drawing: the original passes the draws as
// arguments of one call, which its compiler evaluates from the last.
func (d *legacyDistribution) numbers(b []byte, n int) []byte {
	var drawn [10]uint64
	for i := range n {
		drawn[i] = d.r()
	}
	for i := n - 1; i >= 0; i-- {
		b = strconv.AppendUint(b, drawn[i], 10)
		if i > 0 {
			b = append(b, '-')
		}
	}
	return b
}

// drawIDs draws the ids of an event in the order its statements stand.
func (c *legacyClient) drawIDs() {
	ids, o := &c.ids, c.o
	if o.TestMode != "complex" {
		ids.point = c.drawN(ids.point, 1, false)
		return
	}
	ids.point = c.drawN(ids.point, o.PointSelects, false)
	ids.simple = c.drawN(ids.simple, o.SimpleRanges, true)
	ids.sum = c.drawN(ids.sum, o.SumRanges, true)
	ids.order = c.drawN(ids.order, o.OrderRanges, true)
	ids.distinct = c.drawN(ids.distinct, o.DistinctRanges, true)
	if o.ReadOnly {
		return
	}
	ids.index = c.drawN(ids.index, o.IndexUpdates, false)
	ids.nonIndex = c.drawN(ids.nonIndex, o.NonIndexUpdates, false)
	ids.replaced = int64(c.draw.id())
}

func (c *legacyClient) drawN(into []int64, n int, isRange bool) []int64 {
	into = into[:0]
	for range n {
		id := int64(c.draw.id())
		if isRange {
			if id+c.o.RangeSize > c.o.TableSize {
				id = c.o.TableSize - c.o.RangeSize
			}
			id = max(id, 1)
		}
		into = append(into, id)
	}
	return into
}
