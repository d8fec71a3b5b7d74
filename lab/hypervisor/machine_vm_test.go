package hypervisor

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"platter/lab/domain"
)

// TestMachineLife starts a machine, looks at it in every way and ends it twice.
func TestMachineLife(t *testing.T) {
	h := openHost(t, storageRoot(t))
	ctx := t.Context()
	info, err := h.Info(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("host: %+v", info)
	v := volume(t, h, "life", "data0", 16<<20)
	t.Logf("volume: %+v", v)
	begin := time.Now()
	m := start(t, h, idleSpec(t, h, "life", "platter-test-life", domain.DataDisk("data0", v.Path, v.SizeBytes)))
	t.Logf("started in %s", time.Since(begin))
	state, err := m.Alive(ctx)
	if err != nil || !state.Running {
		t.Fatalf("state %+v, %v", state, err)
	}
	if e := <-m.Events(); e.Kind != Started && e.Kind != Resumed {
		t.Errorf("first event is %+v", e)
	}
	live, err := m.EffectiveXML(ctx)
	if err != nil || !strings.Contains(live, `cache='none'`) {
		t.Errorf("live XML: %v\n%s", err, live)
	}
	args, err := m.QEMUCommandLine(ctx)
	if err != nil || !strings.Contains(strings.Join(args, " "), "hostfwd=tcp:127.0.0.1:") {
		t.Errorf("command line: %v %q", err, args)
	}
	checkCost(t, m)
	c, err := m.DialSSH(ctx)
	if err != nil {
		t.Error(err)
	} else {
		c.Close()
	}
	for range 2 {
		if err := m.Destroy(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if !m.exited() {
		t.Error("QEMU is still there")
	}
	state, err = m.Alive(ctx)
	if err != nil || state != (State{Name: "gone", Reason: "destroyed"}) {
		t.Errorf("after Destroy: %+v, %v", state, err)
	}
	for range m.Events() { // closed
	}
	if err := h.RemoveRun("life"); err != nil {
		t.Error(err)
	}
}

// checkCost reads what the machine did and costs.
func checkCost(t *testing.T, m *Machine) {
	t.Helper()
	ctx := t.Context()
	stats, err := m.BlockStats(ctx)
	if _, ok := stats["data0"]; err != nil || !ok {
		t.Errorf("block statistics: %v %v", err, stats)
	}
	awaitConsole(t, m, "hello")
	usage, err := m.Usage(ctx)
	if err != nil || usage.RSSBytes == 0 || usage.CPUNanoseconds == 0 {
		t.Errorf("usage: %v %+v", err, usage)
	}
	t.Logf("usage: %+v", usage)
}

func awaitConsole(t *testing.T, m *Machine, want string) {
	t.Helper()
	var text []byte
	for range 1800 { // an emulated guest on a busy host is slow
		var err error
		text, err = m.Console(t.Context(), 4096)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), want) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("the console of %s never said %q: %s\nQEMU's log: %s", m.Name(), want, text, m.QEMULog(2000))
}

// TestGuestPowersOff: a machine that ends by itself is gone for a reason, and
// destroying it is no error (B15).
func TestGuestPowersOff(t *testing.T) {
	h := openHost(t, storageRoot(t))
	s := idleSpec(t, h, "off", "platter-test-off")
	s.Kernel = stageKernel(t, h, bootCode("bye\n", true))
	m := start(t, h, s)
	var console bytes.Buffer
	if err := m.CopyConsole(t.Context(), &console); err != nil { // ends with the machine
		t.Error(err)
	}
	if !strings.Contains(console.String(), "bye") {
		t.Errorf("console is %q", console.String())
	}
	kinds := ""
	for e := range m.Events() {
		kinds += string(e.Kind) + ":" + e.Reason + " "
	}
	if !strings.HasSuffix(kinds, "stopped:shutdown ") {
		t.Errorf("events are %q", kinds)
	}
	state, err := m.Alive(t.Context())
	if err != nil || state != (State{Name: "gone", Reason: "shutdown"}) {
		t.Errorf("state %+v, %v", state, err)
	}
	if _, err := m.QEMUCommandLine(t.Context()); !errors.Is(err, ErrUnavailable) {
		t.Errorf("command line of a dead QEMU: %v", err)
	}
	if err := m.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
}
