package remote

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"
)

const (
	// sftpPacket is the payload of one SFTP request in bytes. OpenSSH takes up
	// to 255 KiB; the library's 32 KiB mean four times as many answers, which
	// costs an emulated guest a tenth more for an upload. Note: pkg/sftp makes a
	// file with pieces missing, without an error, when a server answers a read
	// with less than asked; OpenSSH does not, and fetch compares lengths.
	sftpPacket = 128 << 10
	// sftpInFlight requests more than fill the 2 MiB window of an OpenSSH
	// channel, which is what a slow link needs.
	sftpInFlight = 32
)

// sftpChannel is an SFTP session and what it takes to drop it.
type sftpChannel struct {
	*sftp.Client
	session *ssh.Session
}

// files returns the connection's SFTP session, opened at the first use. A
// session that a cancelled call has given up is replaced.
func (c *Client) files(ctx context.Context) (*sftpChannel, error) {
	c.sftpMu.Lock()
	defer c.sftpMu.Unlock()
	if c.sftp != nil {
		return c.sftp, nil
	}
	opened, err := bounded(ctx, c.openSFTP, func(s *sftpChannel) { s.session.Close() })
	if err != nil {
		return nil, c.failure(ctx, "start sftp", err)
	}
	c.sftp = opened
	return opened, nil
}

// dropFiles forgets an SFTP session whose state is unknown.
func (c *Client) dropFiles(s *sftpChannel) {
	c.sftpMu.Lock()
	if c.sftp == s {
		c.sftp = nil
	}
	c.sftpMu.Unlock()
	go s.session.Close() // may block on a stalled connection
}

func (c *Client) openSFTP() (*sftpChannel, error) {
	session, err := c.ssh.NewSession()
	if err != nil {
		return nil, err
	}
	client, err := c.startSFTP(session)
	if err != nil {
		session.Close()
		return nil, err
	}
	return &sftpChannel{Client: client, session: session}, nil
}

func (c *Client) startSFTP(session *ssh.Session) (*sftp.Client, error) {
	stdin, err := session.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := session.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := session.RequestSubsystem("sftp"); err != nil {
		return nil, fmt.Errorf("the guest's sshd offers no sftp subsystem: %w", err)
	}
	quiet := &afterNoise{r: bufio.NewReaderSize(stdout, 64<<10)}
	client, err := sftp.NewClientPipe(quiet, stdin,
		sftp.MaxPacketUnchecked(sftpPacket), sftp.MaxConcurrentRequestsPerFile(sftpInFlight),
		sftp.UseConcurrentWrites(true), sftp.UseFstat(true))
	if len(quiet.noise) > 0 {
		c.target.Log.Info("shell noise before sftp", "machine", c.target.Name, "text", clip(string(quiet.noise), 500))
		if err != nil && c.Err() == nil {
			return nil, newShellError(c.target.User, quiet.noise)
		}
	}
	return client, err
}

// afterNoise drops the text which a login script prints before an external
// sftp-server starts. Every SFTP packet begins with the high byte of a length
// below 16 MiB, which is 0, and text has no zero bytes.
type afterNoise struct {
	r     *bufio.Reader
	noise []byte
	clean bool
}

func (a *afterNoise) Read(p []byte) (int, error) {
	for !a.clean {
		b, err := a.r.ReadByte()
		switch {
		case err != nil:
			return 0, err
		case b == 0:
			a.clean = true
			if err := a.r.UnreadByte(); err != nil {
				return 0, err
			}
		case len(a.noise) >= maxNoise:
			return 0, io.ErrUnexpectedEOF
		default:
			a.noise = append(a.noise, b)
		}
	}
	return a.r.Read(p)
}

// withFiles runs f on the SFTP session. f must end soon after its context does
// if the guest still answers; if it does not, withFiles returns after grace and
// f ends with the connection.
func (c *Client) withFiles(ctx context.Context, f func(*sftpChannel) error) error {
	files, err := c.files(ctx)
	if err != nil {
		return err
	}
	patient, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		waitOr(patient, grace)
		cancel()
	})
	defer stop()
	_, err = bounded(patient, func() (struct{}, error) { return struct{}{}, f(files) }, nil)
	if patient.Err() != nil {
		c.dropFiles(files)
		return context.Cause(ctx)
	}
	return err
}
