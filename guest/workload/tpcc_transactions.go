package workload

import (
	"database/sql/driver"
	"fmt"
)

// orderLine is one line of a new order.
type orderLine struct{ item, supply, quantity int }

// newOrder draws the inputs of a new order and returns the transaction (clause 2.4).
func (c *tpccClient) newOrder(w int) func() error {
	d := 1 + c.random.IntN(tpccDistricts)
	customer := nuRand(c.random, 1023, c.constants.customer, 1, c.t.Customers)
	lines := make([]orderLine, 5+c.random.IntN(11))
	local := 1
	for i := range lines {
		lines[i] = orderLine{nuRand(c.random, 8191, c.constants.item, 1, c.t.Items), w, 1 + c.random.IntN(10)}
		if c.t.Warehouses > 1 && c.random.IntN(100) == 0 {
			lines[i].supply, local = c.otherWarehouse(w), 0
		}
	}
	if c.random.IntN(100) == 0 {
		lines[len(lines)-1].item = -1 // an unused number: the order is rolled back
	}
	return func() error { return c.placeOrder(w, d, customer, lines, local) }
}

func (c *tpccClient) otherWarehouse(w int) int {
	other := 1 + c.random.IntN(c.t.Warehouses-1)
	if other >= w {
		other++
	}
	return other
}

func (c *tpccClient) placeOrder(w, d, customer int, lines []orderLine, local int) error {
	row, err := c.read(noCustomer, int64(w), int64(d), int64(customer))
	if err != nil {
		return err
	}
	if row == nil {
		return missing("customer", w, d, customer)
	}
	if row, err = c.read(noDistrict, int64(w), int64(d)); err != nil {
		return err
	}
	if row == nil {
		return missing("district", w, d)
	}
	order := asInt(row[0])
	if err := c.write(noNext, order+1, int64(d), int64(w)); err != nil {
		return err
	}
	if err := c.write(noOrder, order, int64(d), int64(w), int64(customer), int64(len(lines)), int64(local)); err != nil {
		return err
	}
	if err := c.write(noNewOrder, order, int64(d), int64(w)); err != nil {
		return err
	}
	for i, line := range lines {
		if err := c.orderLine(w, d, order, i+1, line); err != nil {
			return err
		}
	}
	remote := int64(0)
	for _, line := range lines {
		if line.supply != w {
			remote++
		}
	}
	c.stats.lines.Add(int64(len(lines)))
	c.stats.remoteLines.Add(remote)
	return nil
}

func (c *tpccClient) orderLine(w, d int, order int64, number int, line orderLine) error {
	item, err := c.read(noItem, int64(line.item))
	if err != nil {
		return err
	}
	if item == nil {
		if line.item == -1 {
			return errIntended
		}
		return missing("item", line.item)
	}
	stock, err := c.read(noStock(d), int64(line.item), int64(line.supply))
	if err != nil {
		return err
	}
	if stock == nil {
		return missing("stock", line.supply, line.item)
	}
	quantity := asInt(stock[0])
	if quantity -= int64(line.quantity); quantity < 10 {
		quantity += 91
	}
	remote := int64(0)
	if line.supply != w {
		remote = 1
	}
	if err := c.write(noUpdateStock, quantity, int64(line.quantity), remote, int64(line.item), int64(line.supply)); err != nil {
		return err
	}
	amount := fmt.Sprintf("%.2f", asFloat(item[0])*float64(line.quantity))
	return c.write(noLine, order, int64(d), int64(w), int64(number), int64(line.item), int64(line.supply), int64(line.quantity), amount, stock[2])
}

// payment draws the inputs of a payment and returns the transaction (clause 2.5).
func (c *tpccClient) payment(w int) func() error {
	d, cw, cd := 1+c.random.IntN(tpccDistricts), w, 0
	cd = d
	if c.t.Warehouses > 1 && c.random.IntN(100) < 15 {
		cw, cd = c.otherWarehouse(w), 1+c.random.IntN(tpccDistricts)
	}
	who := c.customer()
	cents := 100 + c.random.IntN(499901)
	amount := fmt.Sprintf("%d.%02d", cents/100, cents%100)
	return func() error { return c.pay(w, d, cw, cd, who, amount) }
}

// someone is a customer chosen by number, or by last name (60 %).
type someone struct {
	id   int
	name string
}

func (c *tpccClient) customer() someone {
	if c.random.IntN(100) < 60 {
		return someone{name: lastName(nuRand(c.random, 255, c.constants.name, 0, min(999, c.t.Customers-1)))}
	}
	return someone{id: nuRand(c.random, 1023, c.constants.customer, 1, c.t.Customers)}
}

// find returns the customer's number; of several with the name it is the one in the middle by first name.
func (c *tpccClient) find(w, d int, who someone) (int64, error) {
	if who.name == "" {
		return int64(who.id), nil
	}
	rows, err := c.readAll(byName, c.t.Customers, int64(w), int64(d), who.name)
	if err != nil {
		return 0, err
	}
	if len(rows) == 0 {
		return 0, missing("customer "+who.name, w, d)
	}
	return asInt(rows[len(rows)/2][0]), nil
}

func (c *tpccClient) pay(w, d, cw, cd int, who someone, amount string) error {
	if err := c.write(payWarehouse, amount, int64(w)); err != nil {
		return err
	}
	warehouse, err := c.read(payWarehouseIs, int64(w))
	if err != nil {
		return err
	}
	if err := c.write(payDistrict, amount, int64(w), int64(d)); err != nil {
		return err
	}
	district, err := c.read(payDistrictIs, int64(w), int64(d))
	if err != nil {
		return err
	}
	if warehouse == nil || district == nil {
		return missing("warehouse or district", w, d)
	}
	id, err := c.find(cw, cd, who)
	if err != nil {
		return err
	}
	customer, err := c.read(payCustomer, int64(cw), int64(cd), id)
	if err != nil {
		return err
	}
	if customer == nil {
		return missing("customer", cw, cd, int(id))
	}
	if err := c.charge(cw, cd, id, d, w, amount, string(customer[9].([]byte)) == "BC"); err != nil {
		return err
	}
	if cw != w {
		c.stats.remotePayments.Add(1)
	}
	data := fmt.Sprintf("%.10s    %.10s", warehouse[5], district[5])
	return c.write(payHistory, int64(cd), int64(cw), id, int64(d), int64(w), amount, data)
}

// charge books the payment; customers with bad credit get it written into their data too.
func (c *tpccClient) charge(cw, cd int, id int64, d, w int, amount string, badCredit bool) error {
	if !badCredit {
		return c.write(payUpdate, amount, amount, int64(cw), int64(cd), id)
	}
	row, err := c.read(payData, int64(cw), int64(cd), id)
	if err != nil {
		return err
	}
	if row == nil {
		return missing("customer", cw, cd, int(id))
	}
	data := fmt.Sprintf("| %4d %2d %4d %2d %4d $%s %s", id, cd, cw, d, w, amount, row[0])
	return c.write(payUpdateData, amount, amount, data[:min(len(data), 500)], int64(cw), int64(cd), id)
}

// orderStatus reads the last order of a customer (clause 2.6).
func (c *tpccClient) orderStatus(w int) func() error {
	d, who := 1+c.random.IntN(tpccDistricts), c.customer()
	return func() error {
		id, err := c.find(w, d, who)
		if err != nil {
			return err
		}
		if _, err := c.read(osCustomer, int64(w), int64(d), id); err != nil {
			return err
		}
		order, err := c.read(osOrder, int64(w), int64(d), id)
		if err != nil {
			return err
		}
		if order == nil {
			return missing("an order of customer", w, d, int(id))
		}
		_, err = c.readAll(osLines, 15, int64(w), int64(d), asInt(order[0]))
		return err
	}
}

// delivery delivers the oldest new order of each district (clause 2.7).
func (c *tpccClient) delivery(w int) func() error {
	carrier := int64(1 + c.random.IntN(10))
	return func() error {
		for d := int64(1); d <= tpccDistricts; d++ {
			if err := c.deliver(int64(w), d, carrier); err != nil {
				return err
			}
		}
		return nil
	}
}

func (c *tpccClient) deliver(w, d, carrier int64) error {
	oldest, err := c.read(delOldest, d, w)
	if err != nil || oldest == nil { // a district without new orders is passed over
		return err
	}
	order := oldest[0]
	if err := c.write(delNewOrder, order, d, w); err != nil {
		return err
	}
	customer, err := c.read(delOrder, order, d, w)
	if err != nil {
		return err
	}
	if customer == nil {
		return missing("order", int(w), int(d), int(asInt(order)))
	}
	if err := c.write(delCarrier, carrier, order, d, w); err != nil {
		return err
	}
	if err := c.write(delLines, order, d, w); err != nil {
		return err
	}
	sum, err := c.read(delSum, order, d, w)
	if err != nil {
		return err
	}
	return c.write(delCustomer, driver.Value(sum[0]), customer[0], d, w)
}

// stockLevel counts the items of the last twenty orders whose stock is low (clause 2.8).
func (c *tpccClient) stockLevel(w int) func() error {
	d, threshold := int64(1+c.random.IntN(tpccDistricts)), int64(10+c.random.IntN(11))
	return func() error {
		row, err := c.read(slDistrict, d, int64(w))
		if err != nil {
			return err
		}
		if row == nil {
			return missing("district", w, int(d))
		}
		next := asInt(row[0])
		_, err = c.read(slCount, int64(w), d, next, next-20, int64(w), threshold)
		return err
	}
}
