package workload

func init() {
	registerOLTP("transactions that only write, counted like sysbench 1.0", script{
		name: "oltp_write_only", brackets: true,
		statements: []statementKind{kindUpdateKey, kindUpdateC, kindDelete, kindInsert},
		event:      (*oltpClient).transactionWrites,
	})
}
