package workload

func init() {
	registerOLTP("single deletes by key; rows are not put back; counted like sysbench 1.0", script{
		name: "oltp_delete", statements: []statementKind{kindDelete},
		event: func(c *oltpClient) error {
			st := c.tables[kindDelete][c.table()]
			st.args[0] = c.ids.id()
			return c.write(st, kindDelete)
		},
		rows: func(before, _, writes int64) int64 { return before - writes },
	})
}
