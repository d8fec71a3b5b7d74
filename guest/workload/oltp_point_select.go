package workload

func init() {
	registerOLTP("single point selects, counted like sysbench 1.0", script{
		name: "oltp_point_select", readOnly: true, statements: []statementKind{kindPoint},
		event: func(c *oltpClient) error { return c.read(kindPoint, 1) }, // whatever point_selects says
	})
}
