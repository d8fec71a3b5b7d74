package workload

func init() {
	registerOLTP("transactions that only read, counted like sysbench 1.0", script{
		name: "oltp_read_only", brackets: true, readOnly: true,
		statements: []statementKind{kindPoint, kindSimpleRange, kindSumRange, kindOrderRange, kindDistinctRange},
		event: func(c *oltpClient) error {
			if err := c.pointSelects(); err != nil {
				return err
			}
			return c.ranges()
		},
	})
}
