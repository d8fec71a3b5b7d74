package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// binaries are a server's programs, as paths inside its root.
type binaries struct {
	server  string
	install string // mariadb-install-db or mysql_install_db; "" when the server initialises itself
}

// binaryDirs are searched in order; tarballs are unpacked to /usr/local/mysql in a server image.
var binaryDirs = []string{"/usr/sbin/", "/usr/bin/", "/usr/libexec/", tarballDir + "/bin/", tarballDir + "/sbin/", tarballDir + "/libexec/", tarballDir + "/scripts/", "/usr/local/sbin/", "/usr/local/bin/"}

func findBinaries(r *root) (binaries, error) {
	var b binaries
	var ok bool
	serverPaths := candidates("mariadbd", "mysqld")
	if b.server, ok = r.executable(serverPaths...); !ok {
		return b, fmt.Errorf("find the server: none of %s in %s", strings.Join(serverPaths, ", "), describeRoot(r))
	}
	b.install, _ = r.executable(candidates("mariadb-install-db", "mysql_install_db")...)
	return b, nil
}

// candidates lists every directory for the first name before any for the second: a machine may carry both, and the old
// name is then a wrapper or a link.
func candidates(names ...string) []string {
	var out []string
	for _, n := range names {
		for _, d := range binaryDirs {
			out = append(out, d+n)
		}
	}
	return out
}

func describeRoot(r *root) string {
	if r.dir == "" {
		return "this machine"
	}
	return "server image " + r.dir
}

// askLimit bounds a question to the server's binary; software emulation needs tens of seconds for the option list.
const askLimit = 3 * time.Minute

// detect asks the server binary for its product and version.
func detect(ctx context.Context, r *root, b binaries) (Product, error) {
	out, err := r.output(ctx, b.server, "--no-defaults", "--version")
	if err != nil {
		return Product{}, fmt.Errorf("ask %s for its version: %w", b.server, err)
	}
	return ParseVersion(out)
}

// listOptions asks the server binary for the options it knows, with the plugins the study asks for loaded: only then are
// their options in the list.
func listOptions(ctx context.Context, r *root, b binaries, asked ...map[string]string) (Catalogue, error) {
	args := []string{"--no-defaults"}
	if base := baseOf(b.server); base != "" {
		args = append(args, "--basedir="+base)
	}
	for _, options := range asked {
		for _, name := range sortedKeys(options) {
			plain := strings.ReplaceAll(strings.ToLower(name), "_", "-")
			if strings.HasPrefix(plain, "plugin-") && options[name] != "" {
				args = append(args, "--"+plain+"="+options[name])
			}
		}
	}
	out, err := r.output(ctx, b.server, append(args, "--verbose", "--help")...)
	if err != nil {
		return Catalogue{}, fmt.Errorf("ask %s for its options: %w", b.server, err)
	}
	return ParseCatalogue(out)
}

// output runs a program of the root as the server's user and returns its standard output. A program that ends badly gives
// an *ExitError whose reason is the telling line of what it printed.
func (r *root) output(ctx context.Context, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	var stdout, stderr strings.Builder
	cmd := command(ctx, r, name, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		return "", errors.Join(ctx.Err(), err)
	}
	if err != nil {
		return "", exitError(cmd, err, stdout.String()+"\n"+stderr.String())
	}
	return stdout.String(), nil
}
