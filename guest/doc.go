// Package guest owns the host↔guest protocol, its only copy: Job (what the guest is told), Event (what it says back) and their codec.
//
// It does no work: lab/runner writes jobs and reads events, guest/agent reads jobs and writes events. Both are JSON; a job is
// one document, events are one a line. Both ends must be of one Protocol and one Build, and refuse each other otherwise.
//
// # A conversation
//
// A real one, of a vfat filesystem in an emulated machine. testdata/conversation.jsonl has it whole, with the job it answers
// (testdata/job.json); the lines below are some of it, as they were written.
//
//	{"type":"hello","seq":1,"seconds":0.156324519,"time":"2026-11-30T19:29:06.595842619Z","hello":{"protocol":1,"build":"v0.1.0","facts":{"kernel":"6.12.118+deb13-amd64","arch":"amd64","cpu_model":"QEMU TCG CPU version 2.5+","cpus":2,"memory_bytes":1013981184,"cmdline":"console=ttyS0 quiet loglevel=4 panic=-1 net.ifnames=0 ipv6.disable=1 norandmaps"}}}
//	{"type":"step","seq":2,"seconds":0.999833292,"time":"2026-11-30T19:29:07.439352364Z","step":{"index":-1,"name":"preflight","state":"started"}}
//	{"type":"step","seq":3,"seconds":1.18100266,"time":"2026-11-30T19:29:07.620521421Z","step":{"index":-1,"name":"preflight","state":"ended","seconds":0.180140953}}
//	{"type":"measurement","seq":5,"seconds":2.368433436,"time":"2026-11-30T19:29:08.807944342Z","measurement":{"disks":[{"name":"data","serial":"data2","kind":"","size_bytes":629145600,"bus":"virtio","kernel_name":"vde","logical_block_bytes":512,"physical_block_bytes":512,"rotational":true,"cache_asked":"","cache_effective":"","io_effective":"","preallocation":""}]}}
//	{"type":"measurement","seq":19,"seconds":4.519636741,"time":"2026-11-30T19:29:10.959155582Z","measurement":{"settings":[{"subject":"filesystem","name":"fat_size","asked":null,"effective":"32"},{"subject":"filesystem","name":"fats","asked":null,"effective":"2"},{"subject":"filesystem","name":"label","asked":"BENCH","effective":"BENCH"},{"subject":"filesystem","name":"reserved_sectors","asked":null,"effective":"32"},{"subject":"filesystem","name":"sector_size","asked":null,"effective":"512"},{"subject":"filesystem","name":"sectors_per_cluster","asked":null,"effective":"8"}]}}
//	{"type":"step","seq":25,"seconds":7.133938276,"time":"2026-11-30T19:29:13.573457298Z","step":{"index":0,"name":"fill","state":"started"}}
//	{"type":"progress","seq":26,"seconds":9.375870594,"time":"2026-11-30T19:29:15.815389786Z","progress":{"step":"fill","done":4194304,"total":67108864,"unit":"bytes"}}
//	{"type":"measurement","seq":39,"seconds":35.273686523,"time":"2026-11-30T19:29:41.713205134Z","measurement":{"metrics":[{"name":"cpu_user_ratio","step":"fill","value":0.033547257876312124},{"name":"cpu_system_ratio","step":"fill","value":0.4743290548424757},{"name":"cpu_iowait_ratio","step":"fill","value":0.004959159859976308},{"name":"cpu_steal_ratio","step":"fill","value":0},{"name":"cpu_idle_ratio","step":"fill","value":0.4871645274212359},{"name":"context_switches_per_second","step":"fill","value":255.1883321291922},{"name":"device_reads_total","step":"fill","value":202},{"name":"device_writes_total","step":"fill","value":200},{"name":"device_flushes_total","step":"fill","value":1},{"name":"device_read_bytes","step":"fill","value":67179008},{"name":"device_written_bytes","step":"fill","value":67243520},{"name":"device_busy_ratio","step":"fill","value":0.04986233984380587}]}}
//	{"type":"step","seq":40,"seconds":35.278079232,"time":"2026-11-30T19:29:41.717598424Z","step":{"index":0,"name":"fill","state":"ended","seconds":28.141358357}}
//	{"type":"step","seq":46,"seconds":35.642617738,"time":"2026-11-30T19:29:42.08213691Z","step":{"index":-1,"name":"umount","state":"ended","seconds":0.333735283}}
//	{"type":"file","seq":50,"seconds":37.443870441,"time":"2026-11-30T19:29:43.883389192Z","file":{"name":"dmesg.log","size_bytes":33428,"sha256":"c4cc220b596fb1c342c5bdcbd659281dcc331a57581b85a5390be97245261b87"}}
//	{"type":"done","seq":52,"seconds":37.449005931,"time":"2026-11-30T19:29:43.888525173Z","done":{"status":"ok","guest_seconds":37.448860134}}
//
// # Rules
//
//   - Hello comes first and once, Done last; a stream without Done is a lost trial, whatever was measured before.
//   - seq counts from 1 without gaps; seconds are monotonic and never go back; time is a label.
//   - Each event has exactly one part, and type, its first key, names it.
//   - A Measurement carries what was learnt at that moment. Of Storage and Server the last one counts; the rest adds up.
//   - Only files that Files names are fetched, whatever the guest announces.
//   - Progress may be lost without loss.
//   - A Crash is answered by the end of the machine. The job goes on in another one, told by Job.Resume, with a conversation
//     of its own; the host keeps both in one file.
//   - Lines may be long (a server has a thousand variables) but are bounded, see MaxLineBytes.
package guest
