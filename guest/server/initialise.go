package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// dataName is the data directory's name under the mount point. It is never the mount point itself: lost+found there makes
// MySQL refuse to initialise and shows up as a schema in other servers.
const dataName = "mysql"

// initialiseLimit bounds the making of a data directory; software emulation on a slow disk needs minutes.
const initialiseLimit = 20 * time.Minute

// Init makes the data directory, owned by the server's user, and has the server fill it; root may then log in over the
// socket without a password. A directory with anything in it is refused unless Config.Reuse is set and a server
// initialised it before. A server that fails gives an *ExitError with the telling line of its output.
func (s *Server) Init(ctx context.Context) error {
	begin := time.Now()
	entries, err := os.ReadDir(s.DataDir())
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("look at the data directory: %w", err)
	case len(entries) > 0 && !s.config.Reuse:
		return fmt.Errorf("initialise %s: it holds %d entries (%s …); a data directory must be new unless reuse is asked for", s.DataDir(), len(entries), entries[0].Name())
	case len(entries) > 0:
		return s.checkInitialised()
	}
	for _, dir := range s.dataDirs() {
		if err := os.MkdirAll(dir, 0o750); err != nil {
			return fmt.Errorf("make the data directory: %w", err)
		}
		if err := s.own(dir); err != nil {
			return err
		}
	}
	if err := s.checkDirect(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, initialiseLimit)
	defer cancel()
	if err := s.initialise(ctx); err != nil {
		return fmt.Errorf("initialise the data directory of %s %s: %w", s.product.Flavour, s.product.Version, err)
	}
	seconds := time.Since(begin).Seconds()
	s.initSeconds = &seconds
	return nil
}

func (s *Server) dataDirs() []string {
	dirs := []string{s.DataDir()}
	if filepath.Dir(s.places.tmp) == filepath.Dir(s.places.data) { // tmpdir=data was asked for
		dirs = append(dirs, filepath.Join(s.config.MountPoint, "tmp"))
	}
	return dirs
}

func (s *Server) checkInitialised() error {
	if _, err := os.Stat(filepath.Join(s.DataDir(), "mysql")); err != nil {
		return fmt.Errorf("reuse %s: no server initialised it (no schema mysql in it): %w", s.DataDir(), err)
	}
	return nil
}

// initialise runs the server's own way of making a data directory: MySQL since 5.7 does it itself, MariaDB and older
// servers have a script.
func (s *Server) initialise(ctx context.Context) error {
	log, err := os.OpenFile(s.LogPath(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	offset := fileSize(s.LogPath())

	program, args := s.binaries.server, []string{"--defaults-file=" + s.places.optionFile, "--initialize-insecure"}
	if !s.catalogue.Knows("initialize-insecure") {
		if s.binaries.install == "" {
			return fmt.Errorf("no mariadb-install-db or mysql_install_db in %s", describeRoot(s.root))
		}
		program, args = s.binaries.install, s.installArgs(ctx)
	}
	s.config.Log("initialise: %s %s", program, strings.Join(args, " "))
	cmd := command(ctx, s.root, program, args...)
	cmd.Env = append(cmd.Env, "TMPDIR="+s.places.tmp)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Run(); err != nil {
		return errors.Join(ctx.Err(), exitError(cmd, err, readSince(s.LogPath(), offset)))
	}
	return s.checkInitialised()
}

// installArgs are the arguments of the install script. Newer ones protect root by its system account; the plain way
// (normal) is asked for where it is known.
func (s *Server) installArgs(ctx context.Context) []string {
	args := []string{"--defaults-file=" + s.places.optionFile, "--datadir=" + s.places.data}
	if base := baseOf(s.binaries.server); base != "" {
		args = append(args, "--basedir="+base)
	}
	help, err := s.root.output(ctx, s.binaries.install, "--help")
	if err != nil {
		return args // an old script without --help has none of the newer options either
	}
	for _, optional := range []string{"--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"} {
		name, _, _ := strings.Cut(optional, "=")
		if strings.Contains(help, name) {
			args = append(args, optional)
		}
	}
	return args
}
