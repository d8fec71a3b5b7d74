package blockdev

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"platter/results"
)

// Passport is the identity of a disk; plans and results hold it too.
type Passport = results.Passport

// Backing is the file behind a loop device.
type Backing = results.Backing

// loopSerial names a loop device by its file, since the kernel gives it no serial: the same file has the same serial
// whatever loop device it is attached to.
func loopSerial(b Backing) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %d", b.Device, b.Inode, b.BornNS))
	return "loop-" + hex.EncodeToString(sum[:6])
}
