// Package runner carries out a plan: for every trial in order it stages images, makes volumes, starts a machine, waits
// until it can be used, uploads the guest binary and its job, follows the guest's events and keeps everything in the
// run folder. Every step registers how it is undone before the next one begins.
//
// It owns the order of things and the kinds of failure. It does not know libvirt, SSH, images or file formats:
// those are lab/hypervisor, lab/remote, images/cache and results/store. Its only caller is cmd/platter.
package runner
