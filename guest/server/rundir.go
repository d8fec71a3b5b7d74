package server

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// longestSocket is the most bytes a unix socket's path may have.
const longestSocket = 107

func (s *Server) makeRunDir() error {
	for _, dir := range []string{s.config.RunDir, filepath.Join(s.config.RunDir, "tmp")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("make the server's run directory: %w", err)
		}
		if err := s.own(dir); err != nil {
			return err
		}
	}
	data, run := filepath.Join(s.config.MountPoint, dataName), s.config.RunDir
	if s.root.dir != "" {
		data, run = filepath.Join(imageData, dataName), imageRun
	} else if err := reachable(s.root.account, s.config.RunDir, s.config.MountPoint); err != nil {
		return err
	}
	s.places = places{data: data, socket: filepath.Join(run, "mysqld.sock"), pid: filepath.Join(run, "mysqld.pid"),
		tmp: filepath.Join(run, "tmp"), optionFile: filepath.Join(run, "my.cnf")}
	if n := len(s.Socket()); n > longestSocket {
		return fmt.Errorf("place the server's socket: %s has %d bytes, a unix socket's path has at most %d; use a shorter run directory", s.Socket(), n, longestSocket)
	}
	return nil
}

// own hands a file to the server's user. Filesystems without owners (vfat) are mounted with uid= and refuse chown: what
// counts there is that the owner is right already.
func (s *Server) own(path string) error {
	if !s.root.account.drop {
		return nil
	}
	err := os.Chown(path, int(s.root.account.uid), int(s.root.account.gid))
	if err == nil {
		return nil
	}
	if info, statErr := os.Stat(path); statErr == nil {
		if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid == s.root.account.uid {
			return nil
		}
	}
	return fmt.Errorf("give %s to user %s (uid %d): %w; mount a filesystem without owners with uid=%d", path, s.root.account.name, s.root.account.uid, err, s.root.account.uid)
}

// reachable tells whether the server's user may enter the directories; it runs without our rights.
func reachable(a account, dirs ...string) error {
	if !a.drop {
		return nil
	}
	for _, dir := range dirs {
		for d := dir; ; d = filepath.Dir(d) {
			info, err := os.Stat(d)
			if err != nil {
				return fmt.Errorf("check the way to %s: %w", dir, err)
			}
			st := info.Sys().(*syscall.Stat_t)
			mode := info.Mode().Perm()
			if mode&0o001 == 0 && !(st.Uid == a.uid && mode&0o100 != 0) && !(st.Gid == a.gid && mode&0o010 != 0) {
				return fmt.Errorf("the server's user %s cannot enter %s (mode %04o) on the way to %s: chmod o+x it", a.name, d, mode, dir)
			}
			if d == filepath.Dir(d) {
				break
			}
		}
	}
	return nil
}
