package runner

import (
	"context"
	"encoding/json"
	"errors"

	"platter/guest"
	"platter/lab/remote"
	"platter/results/store"
)

const maxConsole = 16 << 20 // bytes of a console that are kept

func (t *trial) keepConsole(ctx context.Context, m Machine) error {
	console, err := m.Console(ctx, maxConsole)
	if err != nil {
		return err
	}
	return t.dir.WriteFile(t.of(store.Console), []byte(t.hide(string(console))))
}

// keepXML stores the definition asked for and, where the daemon tells, the one in force.
func (t *trial) keepXML(ctx context.Context, m Machine) {
	t.keep(t.of("effective/domain-asked.xml"), []byte(m.XML()))
	if live, err := m.EffectiveXML(ctx); err == nil {
		t.keep(t.of(store.Domain), []byte(live))
	} else {
		t.Log.Warn("read back the machine's definition", "error", err)
	}
	if argv, err := m.QEMUCommandLine(ctx); err == nil {
		line, _ := json.Marshal(argv)
		t.keep(t.of("effective/qemu.json"), append(line, '\n'))
	}
}

// keep stores a file of the trial. A failure does not end the trial; it is a warning, and the result does not list it.
func (t *trial) keep(name string, data []byte) {
	if len(t.identities) > 0 {
		data = []byte(t.hide(string(data)))
	}
	if err := t.dir.WriteFile(name, data); err != nil {
		t.Log.Warn("keep a file of the trial", "name", name, "error", err)
	}
}

// guestDir is where the agent works in the guest; a tmpfs, never a disk under test.
const guestDir = "/run/platter/job"

// maxGuestFile bounds what is fetched from a guest, which may say anything.
const maxGuestFile = 256 << 20

// fetch brings the guest's files home. Only names both ends know are used, whatever the guest announced.
func (t *trial) fetch(ctx context.Context, c *remote.Client) error {
	var errs []error
	for _, name := range guest.Files {
		local, ok := store.GuestFileName(name)
		if !ok || !t.announced[name] {
			continue
		}
		file, err := t.dir.Create(local)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		_, err = c.Fetch(ctx, guestDir+"/"+name, maxGuestFile, file)
		errs = append(errs, err, file.Close())
	}
	return errors.Join(errs...)
}
