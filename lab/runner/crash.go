package runner

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"platter/guest"
	"platter/lab"
)

// errCrash says that the guest asked for the end of its machine in the middle of a step crash.
var errCrash = errors.New("the job asks for the machine's end")

// takeCrash answers a Crash event. A guest may ask for it only where its job does, and only once for each such step.
func (t *trial) takeCrash(c *guest.Crash) error {
	at := t.current
	if at == nil || at.Index < 0 || at.Index >= len(t.Job.Steps) || t.Job.Steps[at.Index].Do != "crash" ||
		t.resume != nil && t.resume.Step > at.Index {
		return &lab.InfraError{What: "read the guest's events", Err: fmt.Errorf("a crash is asked for in %s, which is no step crash", t.where())}
	}
	t.resume = &guest.Resume{Step: at.Index + 1, Acknowledged: t.acknowledged}
	return errCrash
}

// crashed makes the trial ready for the machine that goes on. What the guest was told to be acknowledged is in resume.
func (t *trial) crashed() {
	t.phase("crash")
	t.spent += t.lastSeconds
	t.hello, t.done, t.current = nil, nil, nil
}

// of is the name of a file of this machine: a trial whose machine crashed has a second set.
func (t *trial) of(name string) string {
	if t.machines < 2 {
		return name
	}
	ext := path.Ext(name)
	return strings.TrimSuffix(name, ext) + "-resumed" + ext
}
