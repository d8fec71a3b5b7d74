package results

// registry is every metric platter knows, in the order reports show them: one row a metric. Tolerances are those of the
// method: 5 % for rates and fixed work, 10 % for percentiles. Neutral rows explain the others and are never judged.
var registry = []MetricInfo{
	{"run_seconds", Seconds, LowerBetter, 0.05, true, "time to do the step's fixed work, mean over its iterations"},
	{"transactions_per_second", PerSecond, HigherBetter, 0.05, true, "committed transactions / time of the measured window"},
	{"queries_per_second", PerSecond, HigherBetter, 0.05, true, "statements answered / time of the measured window"},
	{"requests_per_second", PerSecond, HigherBetter, 0.05, false, "read and write statements / time, as sysbench 0.4 prints it"},
	{"rows_per_second", PerSecond, HigherBetter, 0.05, false, "rows loaded / time of the load"},
	{"load_seconds", Seconds, LowerBetter, 0.05, true, "time to create and fill the tables"},
	{"restore_seconds", Seconds, LowerBetter, 0.05, true, "time to restore the dump, indexes included"},
	{"create_seconds", Seconds, LowerBetter, 0.05, false, "time to create the tables, without rows"},
	{"cleanup_seconds", Seconds, LowerBetter, 0.05, false, "time to drop the tables"},
	{"latency_p95_seconds", Seconds, LowerBetter, 0.10, true, "95 % of the events took at most this long"},
	{"latency_p99_seconds", Seconds, LowerBetter, 0.10, false, "99 % of the events took at most this long"},
	{"latency_p999_seconds", Seconds, LowerBetter, 0.10, false, "99.9 % of the events took at most this long"},
	{"latency_p50_seconds", Seconds, LowerBetter, 0.10, false, "half of the events took at most this long"},
	{"latency_mean_seconds", Seconds, LowerBetter, 0.05, false, "mean time of an event"},
	{"latency_minimum_seconds", Seconds, Neutral, 0, false, "shortest event"},
	{"latency_maximum_seconds", Seconds, Neutral, 0, false, "longest event"},

	{"run_minimum_seconds", Seconds, Neutral, 0, false, "fastest iteration of the step"},
	{"run_maximum_seconds", Seconds, Neutral, 0, false, "slowest iteration of the step"},
	{"iteration_seconds", Seconds, Neutral, 0, false, "one iteration of the step"},
	{"transactions_total", Count, Neutral, 0, false, "transactions committed"},
	{"queries_total", Count, Neutral, 0, false, "statements sent"},
	{"queries_per_client_total", Count, Neutral, 0, false, "statements each client was to send, as mysqlslap prints it"},
	{"reads_total", Count, Neutral, 0, false, "statements that read"},
	{"writes_total", Count, Neutral, 0, false, "statements that write"},
	{"others_total", Count, Neutral, 0, false, "statements that neither read nor write (begin, commit, lock)"},
	{"rows_total", Count, Neutral, 0, false, "rows in the tables afterwards"},
	{"errors_total", Count, Neutral, 0, false, "statements that failed and were not expected to"},
	{"deadlocks_total", Count, Neutral, 0, false, "transactions the server rolled back for a deadlock or lock timeout"},
	{"reconnects_total", Count, Neutral, 0, false, "connections opened again"},
	{"planned_total", Count, Neutral, 0, false, "requests an open loop planned"},
	{"missed_total", Count, Neutral, 0, false, "planned requests that had not ended when the run did"},
	{"start_delay_maximum_seconds", Seconds, Neutral, 0, false, "longest wait of a planned request for a free client"},
	{"events_per_thread_mean_total", Count, Neutral, 0, false, "events of one client, mean over clients"},
	{"events_per_thread_stddev_total", Count, Neutral, 0, false, "events of one client, standard deviation over clients"},
	{"thread_mean_seconds", Seconds, Neutral, 0, false, "time one client was busy, mean over clients"},
	{"thread_stddev_seconds", Seconds, Neutral, 0, false, "time one client was busy, standard deviation over clients"},
	{"lost_total", Count, LowerBetter, 0, false, "commits that were acknowledged before a crash and are not there after it"},
	{"acknowledged_total", Count, Neutral, 0, false, "commits acknowledged before a crash"},
	{"recovery_seconds", Seconds, LowerBetter, 0.10, false, "after a crash: mount the filesystem and start the server until its first answer"},
	{"data_bytes", Bytes, Neutral, 0, false, "table data as the server reports it"},
	{"index_bytes", Bytes, Neutral, 0, false, "indexes as the server reports them"},

	{"mkfs_seconds", Seconds, Neutral, 0, false, "time to make the filesystem"},
	{"mount_seconds", Seconds, Neutral, 0, false, "time to mount it"},
	{"quiesce_seconds", Seconds, Neutral, 0, false, "wait until nothing worked in the background"},
	{"server_init_seconds", Seconds, Neutral, 0, false, "time to initialise the data directory"},
	{"server_start_seconds", Seconds, Neutral, 0, false, "time from starting the server to its first answer"},
	{"server_stop_seconds", Seconds, Neutral, 0, false, "time to stop the server cleanly"},

	{"device_flushes_total", Count, Neutral, 0, false, "cache flushes the guest's disks were sent"},
	{"device_writes_total", Count, Neutral, 0, false, "write requests the guest's disks completed"},
	{"device_reads_total", Count, Neutral, 0, false, "read requests the guest's disks completed"},
	{"device_written_bytes", Bytes, Neutral, 0, false, "bytes written to the guest's disks"},
	{"device_read_bytes", Bytes, Neutral, 0, false, "bytes read from the guest's disks"},
	{"device_busy_ratio", Share, Neutral, 0, false, "share of the time with a request in flight"},
	{"flushes_per_transaction_ratio", Ratio, Neutral, 0, false, "cache flushes / transactions (or statements, where there are none)"},
	{"log_bytes_per_transaction_ratio", Ratio, Neutral, 0, false, "bytes the server wrote to its redo log / transactions (or statements)"},
	{"asked_bytes_per_transaction_ratio", Ratio, Neutral, 0, false, "bytes the server asked the filesystem to write, data and log / transactions (or statements)"},
	{"asked_flushes_per_transaction_ratio", Ratio, Neutral, 0, false, "fsync calls the server made to the filesystem / transactions (or statements)"},
	{"written_bytes_per_transaction_ratio", Ratio, Neutral, 0, false, "bytes written to disk / transactions (or statements)"},
	{"cpu_user_ratio", Share, Neutral, 0, false, "guest CPU time in user mode"},
	{"cpu_system_ratio", Share, Neutral, 0, false, "guest CPU time in the kernel"},
	{"cpu_iowait_ratio", Share, Neutral, 0, false, "guest CPU time idle with a request in flight"},
	{"cpu_steal_ratio", Share, Neutral, 0, false, "guest CPU time the host gave to others"},
	{"cpu_idle_ratio", Share, Neutral, 0, false, "guest CPU time idle"},
	{"context_switches_per_second", PerSecond, Neutral, 0, false, "context switches of the guest"},
}

// byName indexes the registry; the registry is never changed after start.
var byName = func() map[string]MetricInfo {
	index := make(map[string]MetricInfo, len(registry))
	for _, info := range registry {
		index[info.Name] = info
	}
	return index
}()
