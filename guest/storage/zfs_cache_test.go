package storage

import (
	"context"
	"errors"
	"strings"
	"testing"

	"platter/guest"

	"github.com/google/go-cmp/cmp"
)

func TestARCStat(t *testing.T) {
	text := "13 1 0x01 147 39984 4216 9035\nname                            type data\nsize                            4    7340032\nc_min                           4    33554432\ndata_size                       4    67108864\n"
	for name, want := range map[string]int64{"data_size": 64 << 20, "c_min": 32 << 20} {
		if n, err := arcStat(text, name); err != nil || n != want {
			t.Errorf("%s is %d, %v", name, n, err)
		}
	}
	for _, bad := range []string{"", "data_size 4 many\n", "hits 4 8\n"} {
		if n, err := arcStat(bad, "data_size"); err == nil {
			t.Errorf("%q gave %d", bad, n)
		}
	}
}

// calls keeps what it is asked to run, and fails for commands that begin with fails.
type calls struct {
	fails string
	lines []string
}

func (c *calls) Run(_ context.Context, argv ...string) ([]byte, error) {
	line := strings.Join(argv, " ")
	c.lines = append(c.lines, line)
	if c.fails != "" && strings.HasPrefix(line, c.fails) {
		return nil, errors.New("busy")
	}
	return nil, nil
}

// Whatever happens, the dataset is mounted again where it was.
func TestDropZFSTakesThePoolOutAndIn(t *testing.T) {
	target := Target{Devices: []string{"/dev/vdb", "/dev/sda"}, Node: guest.Layout{Kind: "zfs", Of: []guest.Layout{{Disk: "a"}, {Disk: "b"}}}}
	out := []string{"umount /mnt", "zpool export platter"}
	in := "mount -t zfs -o noatime platter/data /mnt"
	for fails, want := range map[string][]string{
		"":       append(out, "zpool import -N -o cachefile=none -d /dev/vdb1 -d /dev/sda1 platter", in),
		"zpool":  append(out, in),
		"umount": {"umount /mnt"},
	} {
		c := &calls{fails: fails}
		err := dropZFS(t.Context(), c, guest.Storage{Mount: []string{"noatime"}}, target, Place{Dir: "/mnt"})
		if (err == nil) != (fails == "") { // without the module there is no cache to shrink
			t.Errorf("%q fails: %v", fails, err)
		}
		if diff := cmp.Diff(want, c.lines); diff != "" {
			t.Errorf("%q fails (-want +got):\n%s", fails, diff)
		}
	}
}
