// Package lab owns the nouns of the host: Study (what a person asks), Plan and Trial (what will be done, in order),
// RunEvent (what a run tells) and the kinds of errors. It is pure: it decodes, checks and expands studies and opens
// nothing. This page is also the map of the whole system.
//
// # What platter does
//
// platter answers one question with numbers that can be trusted and repeated: what does this disk, this filesystem and
// this configuration do to MySQL? For every trial a host command makes a fresh virtual machine, uploads one static guest
// binary over SSH, lets it make the filesystem, run the database and the workload, takes home JSON results, and removes
// everything it made.
//
// # The house
//
// The root package of each top-level folder holds nouns, plain types and pure functions; its sub-packages are the verbs
// that do the work. Reading lab, images, guest and results teaches the vocabulary.
//
//	cmd/platter        the host command: one file a verb, flags in, exit status out
//	cmd/platter-guest  the guest binary: reads one Job, writes Events
//	lab                this package
//	lab/studies        the studies platter ships, embedded
//	lab/planner        lab's expansion bound to the registries of guest and images; a plan against a host's values
//	lab/domain         pure: a machine → libvirt domain XML
//	lab/hypervisor     the only importer of go-libvirt: connection, machines, volumes, leftovers
//	lab/remote         the only importer of x/crypto/ssh and pkg/sftp: dial, wait until ready, upload, run, follow, fetch
//	lab/blockdev       disks of a host: what each is, who uses it, claims, and holding one while a machine has it
//	lab/runner         carries out a Plan; declares the interfaces it needs
//	images             Recipe, Image, Manifest and the catalogue, one row an image
//	images/build       Debian packages → read-only root filesystem, kernel, initramfs
//	images/cache       built images by digest, with locks
//	guest              the host↔guest protocol, its only copy: Job, Event, codec
//	guest/agent        carries out a Job inside the machine
//	guest/storage      layouts and filesystems, one file each
//	guest/server       MySQL and MariaDB: initialise, configure, start, describe, stop
//	guest/workload     loads that count like the classic generators, one file each
//	guest/sampler      /proc, /sys and the server's status, once a second
//	results            Result, Metric, Histogram, the metric registry and the fingerprints
//	results/schema     JSON Schemas of everything stored
//	results/store      run folders: names, atomic writes, journal, verify
//	results/archive    packed run folders: a file that lasts, unpacked without trusting it
//	results/provenance pure: RO-Crate, in-toto statement and package lists of a run
//	results/stats      samples, intervals, comparisons
//	results/report     one model, and every format printed from it; results/report/drawing paints its figures
//	results/published  figures of published studies, with their source
//
// Nouns may import nouns downwards: lab → guest → results, and lab → images. Verbs import nouns. Verbs of one folder do
// not import each other, but for the few that assemble their folder. Guest code knows nothing of lab, images, libvirt or
// SSH, which keeps its binary small. imports_test.go holds these rules with a reason beside each.
//
// Whatever there are several of (filesystems, layouts, workloads, images, report formats) is a registry: each member
// registers itself from its own file, and a conformance test loops over all.
//
// # Words
//
//	study      a YAML file: question, machine, disks, factors, rounds, scales, claims
//	factor     what varies: storage, server, config, workload, engine; its values are levels
//	cell       one combination of levels
//	round      one pass over all cells in an order of its own; repeats are rounds, never a cell several times in a row
//	trial      one cell in one round on a fresh machine: the unit of statistics
//	plan       the study resolved: every trial in order, with digests, sizes, serials and command lines
//	job        what the guest is told; events are what it says back
//	result     what one trial measured
//	run folder everything of one run, append-only
//	claim      a sentence of a study that results can confirm or refute
//	successor  what runs today for something that a replayed study had and that no longer exists
//	control    the second name of a cell that runs twice (A/A): how far two runs of the same thing lie apart
//
// # From a study to a report
//
// ParseStudy decodes strictly: text, then the chosen scale, then --set, so that each value knows who said it. The decoder
// and the JSON Schema come from one declaration (language.go), so they know the same keys. Study.Validate asks a Registry
// what only others know. All faults come back at once, with file, line, key and the nearest known word. Expand makes the
// Plan, a pure function of study and registry: each round is a seeded permutation of the cells, so drift of the host
// falls on all of them alike, and the seed follows from what is measured, so the same study has the same order
// everywhere.
//
// `platter run` then opens a run folder, has the plan's images built and staged where the hypervisor can read them, and
// hands the plan to lab/runner. For each trial that makes volumes and a transient, tagged domain; waits through a list of
// named requirements (process, console, port, login, token); uploads guest binary and job; and follows the guest's
// events. The guest finds its disks by serial and proves size and emptiness before any write, makes the filesystem, runs
// the server out of its own image, and carries out the steps. Its Hello must match our build and protocol; each
// Measurement is kept when it arrives; Done ends the trial, and a stream without it is a lost trial, never a short
// result. The guest runs detached and keeps its events in a file, so a dropped connection re-attaches. What was made is
// removed in reverse order under a deadline of its own, also after Ctrl-C. `platter report` reads run folders only.
//
// # A crash check
//
// The workload crash_check asks whether what a server acknowledged survives a crash. It has steps of its own: crash runs
// clients that commit rows 1, 2, 3 … and verify looks for them afterwards. What was acknowledged must not die with the
// machine, so the guest tells the host, several times a second, how far each client is (Acknowledged).
//
// crash: machine_kill. After its seconds the guest asks for the end of its machine (Crash) while the load goes on.
// lab/runner destroys it, starts another on the same volumes, and gives it the same job with Resume: where to go on and
// what was acknowledged. Such a guest makes nothing anew: it mounts the disks as they are, starts the server by the clock
// and verifies. A guest can ask for this only in a step crash of its job, once a step; its two conversations lie one
// after the other in events.jsonl. What is lost is counted against what the host had heard, so it is never overstated.
//
// crash: power_cut. A machine's kill loses what the guest's memory held, but a virtual disk completes each write. The
// layout log_writes therefore has the kernel log every write to a second disk, in the order in which flushes made them
// durable. At the cut the guest notes what is acknowledged, marks the log, lets go of the disk, zeroes it and replays the
// log up to the mark: completed writes without a flush behind them are gone, the worst a volatile cache may do.
//
// Note: dm-flakey's drop_writes was not taken. It drops writes from a moment on, whether flushed or not, and so shows
// neither the loss of what a missing flush endangers nor the safety of what a flush protects.
//
// The metrics are acknowledged_total, lost_total and recovery_seconds. A loss that the durability class rules out is a
// finding about the subject: the trial is ok and carries the flag durability_broken. A filesystem or server that does not
// come back has lost everything, with the flag not_recovered.
//
// # Errors
//
// An InputError means that nothing was created. A BootError is a machine that never became usable and carries its
// console's tail. An InfraError is our own rig: the trial is tried once more or is lost, and is never a measurement. A
// JobError is the subject failing (server, filesystem, workload): that is a result. cmd/platter/exit.go alone turns
// errors into exit statuses.
//
// # Decisions
//
//   - Machines are disposable and images immutable: direct kernel boot of a read-only root that all machines share, a
//     small initramfs, no package step and no network at trial time.
//   - Server images are disks of their own, found by serial and run in their own root, so that every server meets the
//     same kernel and tools. A binary distribution becomes one too: images/build/tarball reads it, and its digest is its
//     identity, so that a run can be repeated and resumed without the file.
//   - A trial's machine gets the disks its storage lies on, and no others.
//   - A plan holds hashes of the serials and WWNs of claimed disks, and claims are found by them: what is kept and shown
//     around names no disk, and a run can still be resumed. The job of a disk that shows its own serial gets it last.
//   - Whatever a run makes carries its tag: owner (process, start, boot, PID namespace), run and expiry. What a dead owner
//     has is left over. An owner in another container cannot be seen; then the expiry decides, a week after its last trial
//     began.
//   - Software emulation is allowed and never silent: results, titles and comparisons carry the accelerator.
//   - Disk sizes need their unit spelt out (GiB or GB): what 2G means differs between tools.
//   - Note: YAML anchors and merge keys were left out of the language on purpose. They let one line mean another, and
//     every fault must have one place.
package lab
