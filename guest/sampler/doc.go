// Package sampler reads the machine's counters once a period while a job runs: CPU, disks, memory, paging,
// pressure. It owns samples.csv and the readings that steps are measured by; guest/agent calls it.
//
// # samples.csv
//
// One value a line, so that counters of the machine, of the server and of a workload share one file:
//
//	seconds,step,source,name,value
//	12.003412,run,cpu,user_seconds_total,45.21
//	12.003412,run,disk:data,flushes_total,1207
//
// seconds is the monotonic time since the sampler started; step the step at that time; source is cpu,
// system, memory, paging, pressure, disk:<name>, filesystem, server or workload. Units are in the names. Names that
// end in _total count up from the machine's boot; all others are the value at that moment.
package sampler
