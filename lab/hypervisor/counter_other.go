//go:build !amd64

package hypervisor

// CounterKHz is 0: an emulated machine of another architecture is told the frequency of its counter by QEMU.
func CounterKHz() int64 { return 0 }
