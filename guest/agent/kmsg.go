package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/sys/unix"
)

var (
	oomKill     = regexp.MustCompile(`(?:Out of memory|Memory cgroup out of memory): Kill(?:ed)? process \d+ \(([^)]+)\)`)
	kernelFault = regexp.MustCompile(`(?i)(I/O error|EXT4-fs error|EXT4-fs \(.*\): (Remounting|error)|XFS \(.*\): .*(corrupt|shutdown|error)|BTRFS (error|critical)|F2FS-fs .*(corrupt|error)|Kernel panic|(?-i:\bBUG:)|\bOops\b|blocked for more than \d+ seconds|md/raid.*(failure|failed)|GFS2: .*(fatal|withdraw)|NILFS.*error|FAT-fs .*error|exFAT-fs .*error)`)
)

// killedByKernel returns the program's name when a kernel line tells of a kill for lack of memory.
func killedByKernel(line string) string {
	if m := oomKill.FindStringSubmatch(line); m != nil {
		return printable(m[1])
	}
	return ""
}

// kernelLines reads the kernel's log so far, oldest first, as dmesg prints it.
func (t *trial) kernelLines() []string {
	fd, err := unix.Open(t.sys.path("/dev/kmsg"), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	var lines []string
	record := make([]byte, 8192) // one read returns one record
	for range 200_000 {
		n, err := unix.Read(fd, record)
		if errors.Is(err, unix.EPIPE) { // overwritten meanwhile: the next read goes on with the oldest left
			continue
		}
		if err != nil || n == 0 {
			break
		}
		if line := kernelLine(string(record[:n])); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// kernelLine turns "6,339,5140900,-;message" into "[    5.140900] message".
func kernelLine(record string) string {
	head, message, ok := strings.Cut(record, ";")
	fields := strings.Split(head, ",")
	if !ok || len(fields) < 3 {
		return ""
	}
	message, _, _ = strings.Cut(message, "\n")
	var micros int64
	if _, err := fmt.Sscan(fields[2], &micros); err != nil {
		return ""
	}
	return fmt.Sprintf("[%5d.%06d] %s", micros/1e6, micros%1e6, message)
}

// writeKernelLog writes dmesg.log and flags what the kernel complained of.
func (t *trial) writeKernelLog() error {
	lines := t.kernelLines()
	var faults []string
	for _, line := range lines {
		if kernelFault.MatchString(line) || killedByKernel(line) != "" {
			faults = append(faults, printable(line))
		}
	}
	if n := len(faults); n > 0 {
		t.flag("kernel_messages", "%d lines of the kernel's log tell of faults, the first: %s", n, faults[0])
	}
	text := strings.Join(lines, "\n") + "\n"
	return os.WriteFile(filepath.Join(t.dir, "dmesg.log"), []byte(text), 0o600)
}
