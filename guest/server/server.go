package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"platter/results"
)

// Config says which server to run, where, and how. The agent fills it from a guest.Job.
type Config struct {
	Root       string            // server image, mounted read-only; "" or "/" is this machine's own installation
	MountPoint string            // filesystem under test; the data directory is its sub-directory mysql
	RunDir     string            // off the filesystem under test: option file, socket, pid file, log, tmp; made when missing
	Options    map[string]string // asked, in the server's own names; "" is a flag without a value
	Profile    string            // named profile, see Profiles; Options win over it
	Needs      Needs             // what the job's workloads take; limits are raised to it
	Reuse      bool              // accept a data directory that is already initialised
	StartLimit time.Duration     // 0 is 60 s; the host scales it by accelerator
	StopLimit  time.Duration     // 0 is 300 s
	Log        func(format string, args ...any)
}

// Server is one database server on one data directory. Its methods are not safe for concurrent use, except Connect, DB,
// Exited, ExitErr and PID.
type Server struct {
	config     Config
	root       *root
	binaries   binaries
	product    Product
	catalogue  Catalogue
	options    []option
	needed     []setting
	places     places
	flags      []results.Flag
	startFlags []results.Flag // of the last start

	mu                               sync.Mutex
	running                          *process // nil when no process was started yet
	initSeconds, startSeconds, stopS *float64
}

// Defaults of Config's limits.
const (
	defaultStartLimit = 60 * time.Second
	defaultStopLimit  = 300 * time.Second
)

// Prepare finds the server's binaries, version and option list, checks the asked options against it, and writes the option
// file. It starts no server and touches nothing on the filesystem under test; a wrong option is an error within seconds.
func Prepare(ctx context.Context, config Config) (_ *Server, err error) {
	if config.StartLimit == 0 {
		config.StartLimit = defaultStartLimit
	}
	if config.StopLimit == 0 {
		config.StopLimit = defaultStopLimit
	}
	if config.Log == nil {
		config.Log = func(string, ...any) {}
	}
	s := &Server{config: config}
	if s.config.RunDir, err = filepath.Abs(config.RunDir); err != nil {
		return nil, fmt.Errorf("find the server's run directory: %w", err)
	}
	if s.root, err = openRoot(config.Root); err != nil {
		return nil, err
	}
	if err := s.makeRunDir(); err != nil {
		return nil, err
	}
	if err := s.root.bind(s.config.MountPoint, s.config.RunDir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.root.unbind())
		}
	}()
	if err := s.learn(ctx); err != nil {
		return nil, err
	}
	return s, s.writeOptionFile()
}

// learn asks the server what it is and knows, and settles the options.
func (s *Server) learn(ctx context.Context) (err error) {
	if s.binaries, err = findBinaries(s.root); err != nil {
		return err
	}
	if s.product, err = detect(ctx, s.root, s.binaries); err != nil {
		return err
	}
	profile, err := ProfileOptions(s.config.Profile, memoryBytes())
	if err != nil {
		return err
	}
	if s.catalogue, err = listOptions(ctx, s.root, s.binaries, profile, s.config.Options); err != nil {
		return err
	}
	var needErr error
	s.options, err = resolveOptions(s.catalogue, profile, s.config.Options)
	if err == nil {
		s.needed, needErr = neededSettings(s.catalogue, s.config.Needs, s.options)
	}
	if err := errors.Join(err, needErr); err != nil {
		return fmt.Errorf("configure %s %s: %w", s.product.Flavour, s.product.Version, err)
	}
	s.flags = append(s.flags, confinement(s.root, s.binaries.server)...)
	return nil
}

// memoryBytes is the machine's memory, 0 when unknown.
func memoryBytes() int64 {
	var info syscall.Sysinfo_t
	if syscall.Sysinfo(&info) != nil {
		return 0
	}
	return int64(info.Totalram) * int64(info.Unit)
}

func (s *Server) writeOptionFile() error {
	if o, ok := find(s.options, "tmpdir"); ok && o.value == "data" {
		s.places.tmp = filepath.Join(filepath.Dir(s.places.data), "tmp")
	}
	base := append(baseSettings(s.catalogue, s.product, s.places), relocation(s.root, s.catalogue, baseOf(s.binaries.server))...)
	text := optionFile(s.product, base, s.needed, s.options)
	name := filepath.Join(s.config.RunDir, "my.cnf")
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the server's option file: %w", err)
	}
	return nil
}

// command is a program of the root, run as the server's user, with no environment but what the server needs.
func command(ctx context.Context, r *root, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Path, cmd.Err = name, nil // the path is one of the root, not of this machine
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/mysql/bin", "LC_ALL=C", "LANG=C", "HOME=/nonexistent", "TZ=UTC"}
	cmd.Env = append(cmd.Env, libraryPath(name)...)
	cmd.SysProcAttr = r.attributes()
	return cmd
}

// PID is the process id of the running server, 0 when there is none.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil || s.running.ended() {
		return 0
	}
	return s.running.cmd.Process.Pid
}

// Product is what the server said it is.
func (s *Server) Product() Product { return s.product }

// DataDir is the data directory as platter sees it.
func (s *Server) DataDir() string { return filepath.Join(s.config.MountPoint, dataName) }

// LogPath is the server's error log as platter sees it; everything the server printed is in it.
func (s *Server) LogPath() string { return filepath.Join(s.config.RunDir, "server.log") }

// Socket is the server's unix socket as platter sees it.
func (s *Server) Socket() string { return filepath.Join(s.config.RunDir, "mysqld.sock") }

// OptionFile is the option file as platter sees it.
func (s *Server) OptionFile() string { return filepath.Join(s.config.RunDir, "my.cnf") }

// Seconds are the times of initialisation, of the last start and of the last stop; nil is not measured.
func (s *Server) Seconds() (initialise, start, stop *float64) {
	return s.initSeconds, s.startSeconds, s.stopS
}
