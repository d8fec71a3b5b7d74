package blockdev

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxLinks bounds a chain of symbolic links, as the kernel does.
const maxLinks = 40

// Resolve finds the disk that a word means: a serial or its hash, a WWN, or a path that leads to its node through whatever links.
// What is at the end of the links decides, never what they are called.
func (inv Inventory) Resolve(word string) (Disk, error) {
	if strings.Contains(word, "/") {
		return inv.byPath(word)
	}
	var found []Disk
	for _, d := range inv.Disks {
		if named(d.Passport, word) {
			found = append(found, d)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return Disk{}, fmt.Errorf("disk %q: no disk of this host has that serial or wwn; `platter disks` lists them", word)
	}
	return Disk{}, fmt.Errorf("disk %q: more than one disk has that serial: %s", word, nodes(found))
}

// orphan finds the loop device of a claim after its file was deleted: the file's time of birth is gone with its name, and
// with it the serial, but the kernel still knows device and inode. It is never free.
func (inv Inventory) orphan(claimed Passport) (Disk, bool) {
	if claimed.Backing == nil {
		return Disk{}, false
	}
	i := slices.IndexFunc(inv.Disks, func(d Disk) bool {
		b := d.Passport.Backing
		return b != nil && b.BornNS == 0 && b.Device == claimed.Backing.Device && b.Inode == claimed.Backing.Inode && !d.Free()
	})
	if i < 0 {
		return Disk{}, false
	}
	return inv.Disks[i], true
}

func nodes(disks []Disk) string {
	out := make([]string, len(disks))
	for i, d := range disks {
		out[i] = d.Node
	}
	return strings.Join(out, ", ")
}

func (inv Inventory) byPath(path string) (Disk, error) {
	chain, end, err := follow(path)
	if err != nil {
		return Disk{}, err
	}
	if len(chain) > 1 {
		chain = append(chain[:1:1], "which leads to "+strings.Join(chain[1:], ", "))
	}
	name := strings.Join(chain, ", ")
	info, err := os.Stat(end)
	if err != nil {
		return Disk{}, fmt.Errorf("disk %s: %w", name, err)
	}
	number, ok := deviceNumber(info)
	if !ok {
		return Disk{}, fmt.Errorf("disk %s: is no block device but %s", name, kindOf(info))
	}
	t := tree{os.DirFS("/")}
	devices, err := t.devices()
	if err != nil {
		return Disk{}, err
	}
	for _, d := range devices {
		if d.number != number {
			continue
		}
		if d.partition > 0 {
			return Disk{}, fmt.Errorf("disk %s: is partition %d of %s; only whole disks are handed over%s", name, d.partition, d.disk, inv.why(d.disk))
		}
		if i := slices.IndexFunc(inv.Disks, func(have Disk) bool { return have.Name == d.name }); i >= 0 {
			return inv.Disks[i], nil
		}
		return Disk{}, fmt.Errorf("disk %s: %s is no disk but a device made by the kernel (or has no medium)", name, d.name)
	}
	return Disk{}, fmt.Errorf("disk %s: the kernel has no block device %s", name, number)
}

// why adds what is the matter with a disk.
func (inv Inventory) why(disk string) string {
	for _, d := range inv.Disks {
		if d.Name == disk && !d.Free() {
			return ", and " + disk + " is " + d.Verdict()
		}
	}
	return ""
}

// follow walks a chain of links and returns every name on it and the end.
func follow(path string) (chain []string, end string, err error) {
	end = path
	for range maxLinks {
		chain = append(chain, end)
		target, err := os.Readlink(end)
		if errors.Is(err, fs.ErrNotExist) {
			if len(chain) == 1 {
				return chain, end, fmt.Errorf("disk %s: not found", path)
			}
			return chain, end, fmt.Errorf("disk %s: not found: the link leads to %s, which is gone", path, end)
		}
		if err != nil {
			return chain, end, nil // no link: the end
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(end), target)
		}
		end = target
	}
	return chain, end, fmt.Errorf("disk %s: the links run in a circle", path)
}

func kindOf(info fs.FileInfo) string {
	switch {
	case info.IsDir():
		return "a directory"
	case info.Mode().IsRegular():
		return "a regular file (attach it to a loop device first)"
	}
	return info.Mode().Type().String()
}
