package remote

import (
	"bufio"
	"bytes"
	"io"
	"regexp"
	"strconv"
)

// maxNoise bounds how much text before a marker is read, in bytes.
const maxNoise = 1 << 20

// skipPast reads r up to and including the line "marker pid". It returns the
// text before it, the process id, and a reader for what follows. The pid is 0 if
// r ended or said too much first.
func skipPast(r io.Reader, marker string) (noise []byte, pid int, rest io.Reader) {
	buffered := bufio.NewReaderSize(r, 32<<10)
	end := []byte(marker + " ")
	for !bytes.HasSuffix(noise, end) {
		b, err := buffered.ReadByte()
		if err != nil || len(noise) > maxNoise {
			return noise, 0, nil
		}
		noise = append(noise, b)
	}
	noise = noise[:len(noise)-len(end)]
	number, err := buffered.ReadSlice('\n') // bounded by the buffer
	if err != nil {
		return noise, 0, nil
	}
	pid, err = strconv.Atoi(string(bytes.TrimSpace(number)))
	if err != nil || pid < 2 {
		return noise, 0, nil
	}
	return noise, pid, buffered
}

// pleaseLogin is what the root account of many cloud images answers to
// everything, with exit status 0 or 142.
var pleaseLogin = regexp.MustCompile(`[Pp]lease login as the user "([^"]+)"`)

func newShellError(user string, noise []byte) *ShellError {
	e := &ShellError{User: user, Noise: string(noise[max(0, len(noise)-500):])}
	if m := pleaseLogin.FindSubmatch(noise); m != nil {
		e.Use = string(m[1])
	}
	return e
}

// writeError is a refusal by the caller's writer, as opposed to a read error.
type writeError struct{ err error }

func (e *writeError) Error() string { return e.err.Error() }

// firstError marks the errors of w, which may be nil to discard.
type firstError struct{ w io.Writer }

func (f *firstError) Write(p []byte) (int, error) {
	if f.w == nil {
		return len(p), nil
	}
	n, err := f.w.Write(p)
	if err != nil {
		return n, &writeError{err}
	}
	return n, nil
}

// cappedWriter passes on at most left bytes and then fails with err.
type cappedWriter struct {
	w    io.Writer
	left int64
	err  error
}

func (c *cappedWriter) Write(p []byte) (int, error) {
	if int64(len(p)) > c.left {
		return 0, c.err
	}
	n, err := c.w.Write(p)
	c.left -= int64(n)
	return n, err
}

// tailWriter keeps the last max bytes.
type tailWriter struct {
	max  int
	tail []byte
}

func (t *tailWriter) Write(p []byte) (int, error) {
	t.tail = append(t.tail, p...)
	if over := len(t.tail) - t.max; over > 0 {
		t.tail = append(t.tail[:0], t.tail[over:]...)
	}
	return len(p), nil
}

func (t *tailWriter) String() string { return string(t.tail) }
