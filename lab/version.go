package lab

import (
	"runtime"

	"platter/guest"
)

// Version is the build identity of this binary. It is guest.Build, which the linker sets to the same value in the
// host and the guest binary: the two refuse to talk when it differs.
func Version() string { return guest.Build() }

// Toolchain names the Go release and platform that built this binary.
func Toolchain() string { return runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH }
