package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"platter/guest"
	"platter/guest/server"
	"platter/results"
)

// mountServer mounts the server's image, found by serial like any disk, read-only.
func (t *trial) mountServer(ctx context.Context) error {
	deadline := time.Now().Add(findLimit)
	var node string
	for node == "" {
		devices, err := t.sys.BlockDevices()
		if err != nil {
			return err
		}
		d, err := pick(t.job.Server.Serial, devices)
		switch {
		case err == nil:
			node = d.Node
		case time.Now().After(deadline):
			return &LostError{fmt.Errorf("server image: %w", err)}
		default:
			if err := pause(ctx, pollEvery); err != nil {
				return err
			}
		}
	}
	dir := filepath.Join(t.dir, "server-image")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("server image: %w", err)
	}
	if _, err := t.ex.Run(ctx, "mount", "-t", "squashfs", "-o", "ro", node, dir); err != nil {
		return &LostError{fmt.Errorf("server image: %w", err)}
	}
	t.root = dir
	t.onExit("server image umount", func(ctx context.Context) error {
		_, err := t.ex.Run(ctx, "umount", dir)
		return err
	})
	return nil
}

// serverOwner is the server's user in its own image, for filesystems that have no owners.
func (t *trial) serverOwner() (uid, gid string) {
	passwd, err := os.ReadFile(filepath.Join(t.root, "etc/passwd"))
	if err != nil {
		return "0", "0"
	}
	for line := range strings.Lines(string(passwd)) {
		if f := strings.Split(strings.TrimSpace(line), ":"); len(f) >= 4 && f[0] == "mysql" {
			return f[2], f[3]
		}
	}
	return "0", "0"
}

func (t *trial) initServer(ctx context.Context) error {
	if err := t.prepareServer(ctx, false); err != nil {
		return err
	}
	if err := t.server.Init(ctx); err != nil {
		return err
	}
	return t.prove()
}

// prepareServer settles how the server runs; reuse takes over a data directory that is there.
func (t *trial) prepareServer(ctx context.Context, reuse bool) error {
	needs := t.needs()
	s, err := server.Prepare(ctx, server.Config{
		Root: t.root, MountPoint: t.place.Dir, RunDir: filepath.Join(t.dir, "server"),
		Options: t.job.Server.Options, Profile: t.job.Server.Profile,
		Needs: server.Needs{
			Connections: needs.Connections, PreparedStatements: needs.PreparedStatements, PacketBytes: needs.PacketBytes,
		},
		Reuse:      reuse,
		StartLimit: seconds(t.job.Server.StartLimitSeconds),
		Log:        func(format string, args ...any) { t.say("info", format, args...) },
	})
	if err != nil {
		return err
	}
	if !t.closesServer {
		t.closesServer = true
		t.onExit("server close", func(ctx context.Context) error {
			return errors.Join(t.endServer(ctx), t.keepServerLog(), t.server.Close())
		})
	}
	t.server = s
	return nil
}

func (t *trial) startServer(ctx context.Context) error {
	if err := t.server.Start(ctx); err != nil {
		return err
	}
	t.exposeServer()
	return t.serverFacts(ctx)
}

// serverFacts tells what the server says of itself; asked again after the steps, as a step may change it.
func (t *trial) serverFacts(ctx context.Context) error {
	if t.broken() {
		return nil
	}
	if t.server.PID() == 0 {
		return t.server.ExitErr() // nil when the last step stopped it
	}
	facts, err := t.server.Facts(ctx)
	if err != nil {
		return err
	}
	settings, flags, err := t.server.Settings(ctx)
	if err != nil {
		return err
	}
	class, reasons := t.durability(facts.Variables)
	t.class = class
	if len(reasons) > 0 {
		flags = append(flags, results.Flag{Name: "durability", Detail: strings.Join(reasons, "; ")})
	}
	return t.measure(guest.Measurement{Server: &facts, Settings: settings, Flags: flags, Durability: class})
}

func (t *trial) stopServer(ctx context.Context) error {
	if t.broken() {
		return nil
	}
	if t.server.PID() != 0 {
		if err := t.server.Stop(ctx); err != nil {
			return err
		}
	} else if err := t.server.ExitErr(); err != nil {
		return err
	}
	init, start, stop := t.server.Seconds()
	return t.measure(guest.Measurement{Metrics: timings(map[string]*float64{
		"server_init_seconds": init, "server_start_seconds": start, "server_stop_seconds": stop,
	})})
}

// endLimit bounds the clean stop of a server that a trial which went wrong left running; after it, it is killed.
const endLimit = 60 * time.Second

func (t *trial) endServer(ctx context.Context) error {
	if t.server.PID() == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, endLimit)
	defer cancel()
	return t.server.Stop(ctx)
}

// keepServerLog copies the server's own log to where the host fetches it.
func (t *trial) keepServerLog() error {
	err := copyFile(t.server.LogPath(), filepath.Join(t.dir, "server.log"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
