package build

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/cavaliergopher/cpio"
	"github.com/google/go-cmp/cmp"

	"platter/images"
)

// modulesDep has the shape of a real one: virtio_net needs net_failover, which
// needs failover, and the list names the last to load first.
const modulesDep = `kernel/drivers/block/virtio_blk.ko:
kernel/drivers/net/virtio_net.ko: kernel/drivers/net/net_failover.ko kernel/net/core/failover.ko
kernel/drivers/net/net_failover.ko: kernel/net/core/failover.ko
kernel/net/core/failover.ko:
kernel/drivers/md/dm-mod.ko.xz:
kernel/fs/overlayfs/overlay.ko:
`

func TestLoadOrder(t *testing.T) {
	for _, c := range []struct {
		name   string
		wanted []string
		want   []string
		err    string
	}{
		{name: "dependencies first", wanted: []string{"virtio_blk", "virtio_net"}, want: []string{
			"kernel/drivers/block/virtio_blk.ko", "kernel/net/core/failover.ko", "kernel/drivers/net/net_failover.ko", "kernel/drivers/net/virtio_net.ko"}},
		{name: "shared dependency once", wanted: []string{"net_failover", "virtio_net", "failover"}, want: []string{
			"kernel/net/core/failover.ko", "kernel/drivers/net/net_failover.ko", "kernel/drivers/net/virtio_net.ko"}},
		{name: "dash or underscore, compressed", wanted: []string{"dm_mod"}, want: []string{"kernel/drivers/md/dm-mod.ko.xz"}},
		{name: "built into the kernel", wanted: []string{"ext4", "overlay"}, want: []string{"kernel/fs/overlayfs/overlay.ko"}},
		{name: "unknown", wanted: []string{"zfs"}, err: "no module zfs"},
	} {
		got, err := loadOrder(modulesDep, "kernel/fs/ext4/ext4.ko\n", c.wanted)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: error %v, want %q", c.name, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
	}
	if _, err := loadOrder("no colon\n", "", nil); err == nil {
		t.Error("a line that is no rule was accepted")
	}
}

func fakeImage(path string) ([]byte, error) {
	files := map[string]string{
		"/usr/lib/modules/6.12/modules.dep":     modulesDep,
		"/usr/lib/modules/6.12/modules.builtin": "kernel/fs/ext4/ext4.ko\n",
		"/usr/bin/busybox":                      "static shell",
	}
	if content, ok := files[path]; ok {
		return []byte(content), nil
	}
	if strings.HasSuffix(path, ".ko") {
		return []byte("module " + path), nil
	}
	return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
}

var boot = images.Boot{
	Modules: []string{"virtio_blk", "virtio_net"}, Shell: "/usr/bin/busybox",
	Applets: []string{"mount", "switch_root"}, Init: "#!/bin/busybox sh\nexec switch_root\n",
}

func TestInitramfsGolden(t *testing.T) {
	var first, second bytes.Buffer
	for _, b := range []*bytes.Buffer{&first, &second} {
		if err := writeInitramfs(b, boot, fakeImage, "/usr/lib/modules/6.12"); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two runs give different bytes")
	}
	var list strings.Builder
	for r := cpio.NewReader(&first); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&list, "%o %s %q\n", h.Mode, h.Name, slices.Concat([]byte(h.Linkname), content))
	}
	golden(t, "initramfs", list.String())
}

func TestInitramfsMissingFile(t *testing.T) {
	b := boot
	b.Shell = "/usr/bin/ash"
	err := writeInitramfs(io.Discard, b, fakeImage, "/usr/lib/modules/6.12")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an image without its shell: %v", err)
	}
}
