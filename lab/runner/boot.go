package runner

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"platter/images"
	"platter/lab"
	"platter/lab/domain"
	"platter/lab/remote"
)

// bootTimeout is how long a boot may take with hardware acceleration. A test that emulates within emulation has more patience.
var bootTimeout = 30 * time.Second

const (
	tcgScale    = 8        // emulation is that much slower on a busy two-core host
	consoleTail = 16 << 10 // bytes of the console shown when a boot fails
)

// boot starts the machine and waits until it can be used. The time it takes, define to login, is BootSeconds.
func (t *trial) boot(ctx context.Context, undo *cleanup, data []domain.Disk) (Machine, *remote.Session, error) {
	keys, err := t.keys.ForMachine()
	if err != nil {
		return nil, nil, &lab.InfraError{What: "make the machine's host key", Err: err}
	}
	random := make([]byte, 16)
	rand.Read(random)
	token := hex.EncodeToString(random)

	began := time.Now()
	spec := t.spec(keys, token, data)
	spec.Tag = t.tag()
	machine, err := t.Host.Start(ctx, spec)
	if err != nil {
		return nil, nil, &lab.InfraError{What: "start the machine", Err: err}
	}
	undo.add("destroy the machine", machine.Destroy)
	undo.add("keep the console", func(ctx context.Context) error { return t.keepConsole(ctx, machine) })
	t.keepXML(ctx, machine)

	login := remote.NewLogin(remote.Target{Dial: machine.DialSSH, Keys: keys, Token: token, Name: t.ID, TokenFile: images.TokenPath, Log: t.Log,
		KeepaliveEvery: t.KeepaliveEvery, KeepaliveDead: t.KeepaliveDead})
	undo.add("close the login", func(context.Context) error { return login.Close() })
	requirements := append([]remote.Requirement{
		remote.Alive(alive(machine)),
		remote.Marker(images.Ready, func() (bool, error) {
			tail, err := machine.Console(ctx, consoleTail)
			return bytes.Contains(tail, []byte(images.Ready)), err
		}),
	}, login.Requirements()...)
	if err := remote.Await(ctx, requirements, remote.Options{Timeout: bootTimeout, Scale: t.scale()}); err != nil {
		return nil, nil, t.bootError(ctx, machine, err)
	}
	if t.resume == nil { // what counts is the first boot of a trial
		seconds := time.Since(began).Seconds()
		t.bootSeconds = &seconds
	}
	session := remote.NewSession(login.Client())
	undo.add("close the connection", func(context.Context) error { return session.Close() })
	return machine, session, nil
}

// scale stretches deadlines where the processor is emulated.
func (t *trial) scale() float64 {
	if t.accel == domain.TCG {
		return tcgScale
	}
	return 1
}

// alive turns a machine's state into a requirement: running, or an error that tells what it is instead.
func alive(m Machine) func(context.Context) error {
	return func(ctx context.Context) error {
		state, err := m.Alive(ctx)
		if err != nil {
			return err
		}
		if !state.Running {
			return fmt.Errorf("the machine is %s (%s)", state.Name, state.Reason)
		}
		return nil
	}
}

func (t *trial) bootError(ctx context.Context, m Machine, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	tail, consoleErr := m.Console(ctx, consoleTail)
	if consoleErr != nil {
		err = errors.Join(err, consoleErr)
	}
	what := "machine not ready"
	var notReady *remote.NotReadyError
	if errors.As(err, &notReady) {
		what = "requirement " + notReady.Requirement + " not met"
	}
	return &lab.BootError{What: what, Console: string(tail), Err: err}
}
