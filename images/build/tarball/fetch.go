// Package tarball reads binary distributions of database servers: it fetches one, proves its digest, unpacks it where
// nothing outside can be touched, finds the server's program and says which libraries it asks the system for.
//
// It knows no Debian packages and writes no image: images/build calls it and does both. Everything wrong with a tarball
// itself is an *images.TarballError; other errors are those of this host.
package tarball

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"platter/images"
)

// Fetch returns the path of the tarball's file once its digest is the one asked for. A file is read where it lies; a URL
// is downloaded into scratch. progress is told what takes long.
func Fetch(ctx context.Context, t images.Tarball, scratch string, progress func(string)) (string, error) {
	if scheme, _, isURL := strings.Cut(t.Source, "://"); isURL {
		if scheme != "http" && scheme != "https" {
			return "", bad(t, fmt.Errorf("URLs of %s are not read; use http, https or a path", scheme))
		}
		return download(ctx, t, scratch, progress)
	}
	file, err := os.Open(t.Source)
	if err != nil {
		return "", bad(t, plainPathError(err))
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", bad(t, errors.Join(errors.New("it is not a file"), err))
	}
	progress("checking the digest of " + filepath.Base(t.Source))
	return t.Source, check(ctx, t, file, io.Discard)
}

// plainPathError leaves out the path, which the message names already.
func plainPathError(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

func download(ctx context.Context, t images.Tarball, scratch string, progress func(string)) (string, error) {
	progress("downloading " + t.Source)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, t.Source, nil)
	if err != nil {
		return "", bad(t, err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		var text *url.Error
		if errors.As(err, &text) {
			err = text.Err
		}
		return "", fmt.Errorf("download tarball %s: %w", t.Source, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", bad(t, fmt.Errorf("the server answers %s", response.Status))
	}
	file, err := os.Create(filepath.Join(scratch, "tarball"))
	if err != nil {
		return "", err
	}
	defer file.Close()
	if err := check(ctx, t, response.Body, file); err != nil {
		return "", err
	}
	return file.Name(), file.Close()
}

// check copies a stream and compares its digest.
func check(ctx context.Context, t images.Tarball, from io.Reader, to io.Writer) error {
	hash := sha256.New()
	if _, err := io.Copy(io.MultiWriter(hash, to), reader{ctx, from}); err != nil {
		return fmt.Errorf("read tarball %s: %w", t.Source, err)
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != t.SHA256 {
		return bad(t, fmt.Errorf("its digest is sha256 %s, the study says %s: it is not the file that was meant, or the study is to be corrected", got, t.SHA256))
	}
	return nil
}

// reader ends when its context does.
type reader struct {
	ctx context.Context
	io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.Reader.Read(p)
}

func bad(t images.Tarball, err error) error { return &images.TarballError{Source: t.Source, Err: err} }
