package remote

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// Target says how one machine is reached and how it proves who it is.
type Target struct {
	// Dial opens a connection to the machine's sshd. Closing the connection
	// must end a blocked Read and Write; deadlines are not used.
	Dial  func(ctx context.Context) (net.Conn, error)
	Keys  Keys
	Token string // what TokenFile holds, without surrounding white space
	Name  string // the machine's name, for messages

	User      string // "root" if empty
	TokenFile string // "/run/platter/token" if empty

	// KeepaliveEvery is the pause between two questions "are you there", 5 s
	// if 0. KeepaliveDead is how long the machine may send nothing at all
	// before the connection is closed, 30 s if 0.
	KeepaliveEvery, KeepaliveDead time.Duration

	// Log gets shell noise and re-attachments; nil means silence.
	Log *slog.Logger
}

func (t Target) withDefaults() Target {
	if t.User == "" {
		t.User = "root"
	}
	if t.Name == "" {
		t.Name = "guest"
	}
	if t.TokenFile == "" {
		t.TokenFile = "/run/platter/token"
	}
	if t.KeepaliveEvery == 0 {
		t.KeepaliveEvery = 5 * time.Second
	}
	if t.KeepaliveDead == 0 {
		t.KeepaliveDead = 30 * time.Second
	}
	if t.Log == nil {
		t.Log = slog.New(slog.DiscardHandler)
	}
	return t
}

// Dial connects to the target, checks the pinned host key, logs in and compares
// the token before anything else. A wrong machine gives a *HostKeyError or a
// *TokenError. ctx bounds the dialling only, not the life of the Client.
func Dial(ctx context.Context, t Target) (*Client, error) {
	t = t.withDefaults()
	conn, err := t.Dial(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", t.Name, err)
	}
	client, err := t.login(ctx, conn)
	if err != nil {
		return nil, err
	}
	if err := client.checkToken(ctx); err != nil {
		client.Close()
		return nil, err
	}
	return client, nil
}

// login speaks SSH over conn and takes it over: conn is closed on failure.
func (t Target) login(ctx context.Context, conn net.Conn) (*Client, error) {
	var wrongKey *HostKeyError
	config := &ssh.ClientConfig{
		Config: algorithms(),
		User:   t.User,
		Auth:   []ssh.AuthMethod{ssh.PublicKeys(t.Keys.client)},
		HostKeyCallback: func(_ string, _ net.Addr, key ssh.PublicKey) error {
			if string(key.Marshal()) != string(t.Keys.host.Marshal()) {
				wrongKey = &HostKeyError{Machine: t.Name, Want: ssh.FingerprintSHA256(t.Keys.host), Got: ssh.FingerprintSHA256(key)}
				return wrongKey
			}
			return nil
		},
		HostKeyAlgorithms: []string{ssh.KeyAlgoED25519},
		ClientVersion:     "SSH-2.0-platter",
	}
	watched := newWatchedConn(conn)
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	sshConn, channels, requests, err := ssh.NewClientConn(watched, t.Name, config)
	if !stop() && err == nil {
		sshConn.Close()
		err = context.Cause(ctx)
	}
	if err != nil {
		conn.Close()
		return nil, t.loginError(ctx, err, wrongKey)
	}
	return newClient(t, watched, ssh.NewClient(sshConn, channels, requests)), nil
}

func (t Target) loginError(ctx context.Context, err error, wrongKey *HostKeyError) error {
	switch {
	case wrongKey != nil:
		return wrongKey
	case ctx.Err() != nil:
		return fmt.Errorf("log in to %s: %w", t.Name, context.Cause(ctx))
	default:
		return fmt.Errorf("log in to %s as %s: %w", t.Name, t.User, err)
	}
}

// checkToken compares the guest's token with the one of this machine. It reads
// the file over SFTP, which passes no login shell.
func (c *Client) checkToken(ctx context.Context) error {
	got, err := c.ReadFile(ctx, c.target.TokenFile)
	if err != nil {
		return fmt.Errorf("check token of %s: %w", c.target.Name, err)
	}
	if c.target.Token == "" {
		return Final(errors.New("check token: the target has no token; give every machine its own"))
	}
	if token := strings.TrimSpace(string(got)); token != c.target.Token {
		return &TokenError{Machine: c.target.Name, File: c.target.TokenFile, Want: c.target.Token, Got: clip(token, 80)}
	}
	return nil
}

// algorithms puts the cheapest strong algorithms for an emulated guest first; a
// real CPU does not notice. Measured with Debian 13's OpenSSH 10 under QEMU 7.2
// without KVM, uploading 15 MiB, best of four: chacha20-poly1305 2.7 s,
// aes128-ctr with hmac-sha2-256-etm 2.9 s, aes128-gcm 3.9 s (CPU time of QEMU
// agrees). A login takes 0.75 s with curve25519, 0.69 s with nistp256 and 0.9 s
// with mlkem768x25519: starting sshd's processes is what costs.
func algorithms() ssh.Config {
	return ssh.Config{
		KeyExchanges: []string{ssh.KeyExchangeCurve25519, ssh.KeyExchangeECDHP256, ssh.KeyExchangeMLKEM768X25519},
		Ciphers:      []string{ssh.CipherChaCha20Poly1305, ssh.CipherAES128CTR, ssh.CipherAES128GCM},
		MACs:         []string{ssh.HMACSHA256ETM, ssh.HMACSHA256},
	}
}
