// Package planner binds lab's pure expansion of a study to what there is: the filesystems and layouts of guest/storage,
// the workloads of guest/workload, the profiles of guest/server and the catalogue of images. It also compares a plan
// with a host given as plain values, so that a plan that cannot run is refused before anything is made.
//
// Everything here is pure. It starts nothing, opens nothing and asks no host: cmd/platter brings the host's values from
// lab/hypervisor and hands the finished plan to lab/runner.
package planner
