package blockdev

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// world is a random host beside what is true of it. It keeps its own account of which disks lie below each device, made
// while devices are made, so that the code under test cannot be wrong in the same way.
type world struct {
	*fake
	random *rand.Rand
	below  map[string][]string // device → disks
	all    []string            // devices that may be built upon or used
	used   map[string][]string // disk → what the world did to it
	layers int
}

func newWorld(seed uint64) *world {
	w := &world{fake: newFake(), random: rand.New(rand.NewPCG(seed, 1)), below: map[string][]string{}, used: map[string][]string{}}
	for i := range 2 + w.random.IntN(5) {
		name := "sd" + string(rune('a'+i))
		w.disk(name, "SERIAL"+name)
		w.add(name, name)
		for n := range w.random.IntN(4) {
			w.add(w.part(name, n+1), name)
		}
	}
	for range w.random.IntN(6) {
		w.build()
	}
	return w
}

func (w *world) add(name string, disks ...string) {
	w.below[name] = disks
	w.all = append(w.all, name)
}

func (w *world) pick() string { return w.all[w.random.IntN(len(w.all))] }

// spoil notes that every disk below a device is in use.
func (w *world) spoil(device, how string) {
	for _, d := range w.below[device] {
		w.used[d] = append(w.used[d], how+" on "+device)
	}
}

// build puts a device on one to three others, which is itself a use of them.
func (w *world) build() {
	var on, disks []string
	for range 1 + w.random.IntN(3) {
		d := w.pick()
		on = append(on, d)
		disks = append(disks, w.below[d]...)
	}
	slices.Sort(disks)
	w.layers++
	kind := w.random.IntN(6)
	name := fmt.Sprintf([]string{"md%d", "dm-%d", "dm-%d", "dm-%d", "bcache%d", "weird%d"}[kind], w.layers)
	uuid := []string{"", "LVM-x", "CRYPT-x", "mpath-x", "", ""}[kind]
	w.over(name, uuid, name+"-label", on...)
	w.add(name, slices.Compact(disks)...)
	w.spoil(name, "built")
}

// use puts one random user somewhere.
func (w *world) use() {
	d := w.pick()
	switch kind := w.random.IntN(9); kind {
	case 0:
		w.mount("1", w.number(d), fmt.Sprintf("/mnt/%d", w.layers), "none")
		w.spoil(d, "mounted by number")
	case 1:
		w.mount("1", "0:99", "/pool", "/dev/"+d)
		w.spoil(d, "mounted by source")
	case 2:
		pid := fmt.Sprint(1000 + w.random.IntN(1000))
		w.process(pid, "mnt:["+pid+"]", "box")
		w.mount(pid, w.number(d), "/hidden", "none")
		w.spoil(d, "mounted in another namespace")
	case 3:
		w.file("sys/fs/btrfs/uuid/devices/"+d+"/x", "")
		w.spoil(d, "btrfs member")
	case 4:
		w.file("proc/swaps", string(w.files["proc/swaps"].Data)+"/dev/"+d+" partition 1 0 -2\n")
		w.spoil(d, "swap")
	case 5:
		w.file("sys/power/resume", w.number(d))
		for name := range w.used { // there is one such device only
			w.used[name] = slices.DeleteFunc(w.used[name], func(how string) bool { return strings.HasPrefix(how, "resume") })
		}
		w.spoil(d, "resume")
	case 6:
		w.open(fmt.Sprint(5000+w.random.IntN(1000)), "3", d)
		w.spoil(d, "open")
	case 7:
		if disk := w.below[d]; len(disk) == 1 { // a disk or its partition: only those are tried
			w.busy["/dev/"+d] = syscall.EBUSY
			if d == disk[0] || strings.HasPrefix(d, disk[0]) {
				w.spoil(d, "busy")
			}
		}
	case 8:
		name := fmt.Sprintf("loop%d", 100+w.random.IntN(100))
		if w.numbers[name] == 0 {
			w.loop(name, "/dev/"+d, 1)
			w.files["dev/"+d] = w.node(d)
			w.spoil(d, "loop")
		}
	}
}

// TestNoUserIsAccepted makes a thousand random stacks with random users. No disk with a user anywhere above it is free,
// and every disk without one is: refusing all would be no proof.
func TestNoUserIsAccepted(t *testing.T) {
	free, refused := 0, 0
	for seed := range uint64(1000) {
		w := newWorld(seed)
		for range w.random.IntN(4) {
			w.use()
		}
		for name, d := range w.read(t) {
			if !strings.HasPrefix(name, "sd") { // others have no serial, and so no chance
				continue
			}
			how := strings.Join(w.used[name], ", ")
			switch {
			case how != "" && d.Free():
				t.Errorf("seed %d: %s is free, but %s", seed, name, how)
			case how == "" && !d.Free():
				t.Errorf("seed %d: %s has no user, but: %s", seed, name, d.Verdict())
			case how == "":
				free++
			default:
				refused++
			}
		}
	}
	t.Logf("%d disks free, %d refused", free, refused)
	if free < 300 || refused < 300 {
		t.Errorf("%d free and %d refused disks: the test sees too little of one side", free, refused)
	}
}
