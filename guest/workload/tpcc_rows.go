package workload

import "fmt"

func (l *tpccLoader) items() error {
	b := l.into("item")
	for id := 1; id <= l.t.Items; id++ {
		l.open()
		l.number(id)
		l.number(1 + l.random.IntN(10000))
		l.letters(14, 24)
		l.cents(100 + l.random.IntN(9901))
		l.data()
		if err := l.close(b); err != nil {
			return err
		}
	}
	return b.flush()
}

func (l *tpccLoader) warehouse() error {
	b := l.into("warehouse")
	l.open()
	l.number(l.w)
	l.letters(6, 10)
	l.address()
	l.plain(fmt.Sprintf("0.%04d", l.random.IntN(2001)))
	l.plain("300000.00")
	if err := l.close(b); err != nil {
		return err
	}
	if err := b.flush(); err != nil {
		return err
	}
	b = l.into("district")
	for d := 1; d <= tpccDistricts; d++ {
		l.open()
		l.number(d)
		l.number(l.w)
		l.letters(6, 10)
		l.address()
		l.plain(fmt.Sprintf("0.%04d", l.random.IntN(2001)))
		l.plain("30000.00")
		l.number(l.t.Customers + 1)
		if err := l.close(b); err != nil {
			return err
		}
	}
	return b.flush()
}

func (l *tpccLoader) stock() error {
	b := l.into("stock")
	for id := 1; id <= l.t.Items; id++ {
		l.open()
		l.number(id)
		l.number(l.w)
		l.number(10 + l.random.IntN(91))
		for range tpccDistricts {
			l.letters(24, 24)
		}
		l.plain("0,0,0")
		l.data()
		if err := l.close(b); err != nil {
			return err
		}
	}
	return b.flush()
}

// tpccNow is the time of every loaded row: the same in every load.
const tpccNow = "'2005-01-01 00:00:00'"

func (l *tpccLoader) customers() error {
	b, h := l.into("customer"), l.into("history")
	for d := 1; d <= tpccDistricts; d++ {
		for id := 1; id <= l.t.Customers; id++ {
			if err := l.customer(b, d, id); err != nil {
				return err
			}
			l.open()
			for _, n := range []int{id, d, l.w, d, l.w} {
				l.number(n)
			}
			l.plain(tpccNow)
			l.plain("10.00")
			l.letters(12, 24)
			if err := l.close(h); err != nil {
				return err
			}
		}
	}
	if err := b.flush(); err != nil {
		return err
	}
	return h.flush()
}

func (l *tpccLoader) customer(b *bulk, d, id int) error {
	name := id - 1 // the first thousand spell every name once
	if id > 1000 {
		name = nuRand(l.random, 255, l.constants.name, 0, 999)
	}
	credit := "GC"
	if l.random.IntN(10) == 0 {
		credit = "BC"
	}
	l.open()
	l.number(id)
	l.number(d)
	l.number(l.w)
	l.letters(8, 16)
	l.text("OE")
	l.text(lastName(name))
	l.address()
	l.text(fmt.Sprintf("%016d", l.random.Uint64N(1e16)))
	l.plain(tpccNow)
	l.text(credit)
	l.plain("50000")
	l.plain(fmt.Sprintf("0.%04d", l.random.IntN(5001)))
	l.plain("-10.00,10.00,1,0")
	l.letters(300, 500)
	return l.close(b)
}

func (l *tpccLoader) orders() error {
	o, n, lines := l.into("orders"), l.into("new_orders"), l.into("order_line")
	for d := 1; d <= tpccDistricts; d++ {
		customers := l.random.Perm(l.t.Customers)
		for id := 1; id <= l.t.Customers; id++ {
			waiting := id > l.t.Customers*(100-tpccWaiting)/100
			count := 5 + l.random.IntN(11)
			if err := l.order(o, d, id, customers[id-1]+1, count, waiting); err != nil {
				return err
			}
			if waiting {
				l.open()
				l.number(id)
				l.number(d)
				l.number(l.w)
				if err := l.close(n); err != nil {
					return err
				}
			}
			if err := l.lines(lines, d, id, count, waiting); err != nil {
				return err
			}
		}
	}
	for _, b := range []*bulk{o, n, lines} {
		if err := b.flush(); err != nil {
			return err
		}
	}
	return nil
}

func (l *tpccLoader) order(b *bulk, d, id, customer, lines int, waiting bool) error {
	l.open()
	l.number(id)
	l.number(d)
	l.number(l.w)
	l.number(customer)
	l.plain(tpccNow)
	if waiting {
		l.plain("NULL")
	} else {
		l.number(1 + l.random.IntN(10))
	}
	l.number(lines)
	l.number(1)
	return l.close(b)
}

func (l *tpccLoader) lines(b *bulk, d, order, count int, waiting bool) error {
	for n := 1; n <= count; n++ {
		l.open()
		l.number(order)
		l.number(d)
		l.number(l.w)
		l.number(n)
		l.number(1 + l.random.IntN(l.t.Items))
		l.number(l.w)
		if waiting {
			l.plain("NULL")
		} else {
			l.plain(tpccNow)
		}
		l.number(5)
		if waiting {
			l.cents(1 + l.random.IntN(999999))
		} else {
			l.plain("0.00")
		}
		l.letters(24, 24)
		if err := l.close(b); err != nil {
			return err
		}
	}
	return nil
}
