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
//
// # Where the columns of vmstat and sar are
//
// Each sample holds what both print, so that their tables can be made for any step (rates are differences over seconds):
//
//	r, b                 system running_processes, blocked_processes
//	swpd                 memory swap_total_bytes - swap_free_bytes
//	free, buff           memory free_bytes, buffers_bytes
//	cache                memory cached_bytes + slab_reclaimable_bytes
//	si, so               paging swapped_in_bytes_total, swapped_out_bytes_total
//	bi, bo               paging paged_in_bytes_total, paged_out_bytes_total
//	in, cs               system interrupts_total, context_switches_total
//	us, %user + %nice    cpu user_seconds_total + nice_seconds_total
//	sy, %system          cpu system_seconds_total + irq_seconds_total + softirq_seconds_total
//	id, wa, st           cpu idle_seconds_total, iowait_seconds_total, steal_seconds_total
//	%idle, %iowait, %steal  the same
package sampler
