// Package agent carries out one guest.Job inside the machine: it finds the disks and proves they are the
// right ones, makes the storage, runs the server and the steps, and tells all of it as guest.Events.
//
// It assembles guest/storage, guest/server, guest/workload and guest/sampler, and owns what lies between
// them: order, deadlines, clean-up in reverse, evidence when something dies. It knows nothing of libvirt,
// ssh or the host. cmd/platter-guest calls Run, Detach, Follow and Stop; nothing else does.
//
// Everything the agent leaves lies in one directory: events.jsonl, agent.pid and the files guest.Files names.
package agent
