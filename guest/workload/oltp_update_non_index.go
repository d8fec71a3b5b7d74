package workload

func init() {
	registerOLTP("single updates of a column without index, counted like sysbench 1.0", script{
		name: "oltp_update_non_index", statements: []statementKind{kindUpdateC},
		event: func(c *oltpClient) error { return c.nonIndexUpdates(1) },
	})
}
