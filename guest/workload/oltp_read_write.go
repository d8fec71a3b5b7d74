package workload

func init() {
	registerOLTP("transactions that read and write, counted like sysbench 1.0", script{
		name: "oltp_read_write", brackets: true,
		statements: []statementKind{kindPoint, kindSimpleRange, kindSumRange, kindOrderRange, kindDistinctRange, kindUpdateKey, kindUpdateC, kindDelete, kindInsert},
		event: func(c *oltpClient) error {
			if err := c.pointSelects(); err != nil {
				return err
			}
			if err := c.ranges(); err != nil {
				return err
			}
			return c.transactionWrites()
		},
	})
}

// transactionWrites are the writes of a transaction, in the original's order.
func (c *oltpClient) transactionWrites() error {
	if err := c.indexUpdates(c.o.IndexUpdates); err != nil {
		return err
	}
	if err := c.nonIndexUpdates(c.o.NonIndexUpdates); err != nil {
		return err
	}
	return c.deleteInserts()
}
