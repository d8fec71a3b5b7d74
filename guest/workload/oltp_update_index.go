package workload

func init() {
	registerOLTP("single updates of the indexed column, counted like sysbench 1.0", script{
		name: "oltp_update_index", statements: []statementKind{kindUpdateKey},
		event: func(c *oltpClient) error { return c.indexUpdates(1) },
	})
}
