package lab

import (
	"path/filepath"
	"slices"
	"strings"

	"platter/guest"
	"platter/images"
)

// server is a level of the factor server: an image of the catalogue, or a tarball that an image is made of.
type server struct {
	guest.Server
	Tarball *images.Tarball
}

func serverNamed(image string) server { return server{Server: guest.Server{Image: image}} }

// tarballOf is the tarball of a level that has one of its keys.
func tarballOf(s *server) *images.Tarball {
	if s.Tarball == nil {
		s.Tarball = &images.Tarball{}
	}
	return s.Tarball
}

// digest accepts what sha256sum prints, also when it happens to be made of digits only, which YAML reads as a number.
var digest = value[string]{
	schema: schema{"type": []string{"string", "integer"}, "pattern": `^[0-9a-f]{64}$`},
	read: func(d *decoder, path string, n *node) (string, bool) {
		if !n.scalar() || (images.Tarball{Source: path, SHA256: n.text}).Check() != nil {
			d.fault(n, path, "want 64 hexadecimal digits, as sha256sum prints them, got %s", describe(n))
			return "", false
		}
		return n.text, true
	},
}

// serverBody gives a level whose image is known: that of a tarball is named after its digest. A relative path starts
// from the study's folder.
var serverBody = func() value[server] {
	v := object("server", nil,
		key("image", "Server image of the catalogue.", name, func(s *server) *string { return &s.Image }),
		key("tarball", "Binary distribution of MySQL, Percona Server or MariaDB, instead of image: a path from the study's folder, or a URL.",
			text("a path or a URL", `^\S`), func(s *server) *string { return &tarballOf(s).Source }),
		key("sha256", "Digest of the tarball; images are kept by it.", digest, func(s *server) *string { return &tarballOf(s).SHA256 }),
		key("start_limit", "Longest the server may take to start, before scaling for software emulation.", duration, func(s *server) *float64 { return &s.StartLimitSeconds }),
	)
	read := v.read
	v.read = func(d *decoder, path string, n *node) (server, bool) {
		out, ok := read(d, path, n)
		if !ok {
			return out, false
		}
		switch {
		case n.get("image") == nil && n.get("tarball") == nil && n.get("sha256") == nil:
			d.fault(n, path, "needs the key image or tarball")
		case n.get("image") != nil && out.Tarball != nil:
			d.fault(n, path, "has both image and tarball; keep one of the two")
		case n.get("tarball") == nil && n.get("sha256") != nil:
			d.fault(n, path, "has the digest of a tarball and no tarball")
		case n.get("tarball") != nil && n.get("sha256") == nil:
			d.fault(n, path, "a tarball needs its sha256 (sha256sum prints it)")
		case out.Tarball != nil && out.Tarball.Check() == nil:
			out.Tarball.Source = besideStudy(out.Tarball.Source, n.get("tarball").where.File)
			out.Image = out.Tarball.Image()
			return out, true
		case out.Tarball == nil:
			return out, true
		}
		return out, false
	}
	return v
}()

// besideStudy is a path that starts from a study's folder as one that starts from the current one.
func besideStudy(source, study string) string {
	if strings.Contains(source, "://") || filepath.IsAbs(source) {
		return source
	}
	return filepath.Join(filepath.Dir(study), source)
}

var servers = levelsOf(serverNamed, or(serverNamed, serverBody))

// tarballs lists the tarballs of the cells, each once.
func tarballs(cells []cell) []images.Tarball {
	var out []images.Tarball
	for _, c := range cells {
		if c.tarball != nil && !slices.Contains(out, *c.tarball) {
			out = append(out, *c.tarball)
		}
	}
	return out
}
