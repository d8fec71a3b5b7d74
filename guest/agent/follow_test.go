package agent

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"platter/guest"
	"platter/results"
)

// Detach starts the test binary as the agent; a job of another build ends it at once, with a Done.
func TestDetachThenFollow(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "agent")
	b, err := guest.EncodeJob(guest.Job{Build: "another"})
	if err != nil {
		t.Fatal(err)
	}
	job := filepath.Join(t.TempDir(), "job.json")
	if err := os.WriteFile(job, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Detach(t.Context(), job, dir); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := Follow(ctx, dir, 0, &out); err != nil {
		t.Fatal(err)
	}
	done := doneOf(conversation(t, dir))
	if done.Status != results.StatusLost || !strings.Contains(done.Reason, "build mismatch") {
		t.Errorf("done %+v", done)
	}
	whole, err := os.ReadFile(filepath.Join(dir, EventsFile))
	if err != nil || !bytes.Equal(whole, out.Bytes()) {
		t.Errorf("followed %d bytes of %d, error %v", out.Len(), len(whole), err)
	}
	offset := int64(bytes.IndexByte(whole, '\n') + 1)
	out.Reset()
	if err := Follow(ctx, dir, offset, &out); err != nil || !bytes.Equal(whole[offset:], out.Bytes()) {
		t.Errorf("from offset %d: %d bytes, error %v", offset, out.Len(), err)
	}
	if err := Follow(ctx, dir, int64(len(whole))+1, &out); err == nil {
		t.Error("an offset past the end was accepted")
	}
	if err := Detach(t.Context(), job, dir); err == nil || !strings.Contains(err.Error(), "already started") {
		t.Errorf("a second agent in the directory: %v", err)
	}
	if err := Stop(ctx, dir); err != nil {
		t.Errorf("stop after the end: %v", err)
	}
}

// other stands for an agent: a process that lives until it is told to end.
func other(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waited := make(chan struct{})
	go func() { cmd.Wait(); close(waited) }()
	t.Cleanup(func() { cmd.Process.Kill(); <-waited })
	text := []byte(strings.Join([]string{itoa(cmd.Process.Pid), startTicks(cmd.Process.Pid)}, " "))
	if err := os.WriteFile(filepath.Join(dir, PidFile), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return cmd
}

func TestFollowGivesWholeLinesAndSeesTheAgentDie(t *testing.T) {
	dir := t.TempDir()
	cmd := other(t, dir)
	events, err := os.Create(filepath.Join(dir, EventsFile))
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	var out lockedBuffer
	result := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	go func() { result <- Follow(ctx, dir, 0, &out) }()
	events.WriteString("{\"type\":\"hello\"}\n{\"type\":\"lo")
	until(t, func() bool { return out.String() == "{\"type\":\"hello\"}\n" })
	events.WriteString("g\"}\n")
	until(t, func() bool { return strings.HasSuffix(out.String(), "{\"type\":\"log\"}\n") })
	events.WriteString("{\"type\":\"done\"") // cut by the kill
	cmd.Process.Kill()
	if err := <-result; err == nil || !strings.Contains(err.Error(), "gone without done") {
		t.Errorf("after the agent was killed: %v", err)
	}
	if got := out.String(); strings.Contains(got, "done") {
		t.Errorf("half a line was given out: %q", got)
	}
}

func TestStopEndsTheAgentAndWaits(t *testing.T) {
	dir := t.TempDir()
	cmd := other(t, dir)
	if err := Stop(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if startTicks(cmd.Process.Pid) != "" {
		t.Error("the agent still runs")
	}
}

// A process id that was given to another program must never be signalled.
func TestStopLeavesAReusedProcessIDAlone(t *testing.T) {
	dir := t.TempDir()
	cmd := other(t, dir)
	if err := os.WriteFile(filepath.Join(dir, PidFile), []byte(itoa(cmd.Process.Pid)+" 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Stop(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if startTicks(cmd.Process.Pid) == "" {
		t.Error("a foreign process was ended")
	}
	if err := Follow(t.Context(), dir, 0, &bytes.Buffer{}); err == nil {
		t.Error("a foreign process was followed")
	}
}

func TestFollowEndsWhenNobodyReads(t *testing.T) {
	dir := t.TempDir()
	other(t, dir)
	if err := os.WriteFile(filepath.Join(dir, EventsFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	result := make(chan error, 1)
	go func() { result <- Follow(t.Context(), dir, 0, w) }()
	r.Close()
	select {
	case err := <-result:
		if err == nil || !strings.Contains(err.Error(), "nobody reads") {
			t.Errorf("error %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it still follows")
	}
}

func TestFollowWithoutAnAgent(t *testing.T) {
	if err := Follow(t.Context(), t.TempDir(), 0, &bytes.Buffer{}); err == nil {
		t.Error("nothing was followed")
	}
}
