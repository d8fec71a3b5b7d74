package remote

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"log/slog"
	"strings"

	"golang.org/x/crypto/ssh"
)

// Keys holds the client key of a run and the host key of one machine. Both are
// made in memory and die with the process. Keys prints as a fingerprint, so a
// stray %v in a log cannot leak it. It is safe for concurrent use.
type Keys struct {
	client  ssh.Signer
	host    ssh.PublicKey
	hostPEM []byte
}

// NewKeys makes a client key and a host key. Both are ed25519, because making
// and using RSA keys takes seconds in an emulated guest.
func NewKeys() (Keys, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return Keys{}, fmt.Errorf("make client key: %w", err)
	}
	client, err := ssh.NewSignerFromKey(private)
	if err != nil {
		return Keys{}, fmt.Errorf("make client key: %w", err)
	}
	return Keys{client: client}.ForMachine()
}

// ForMachine returns Keys with the same client key and a fresh host key. Every
// machine of a run has its own host key, so one cannot pass for another.
func (k Keys) ForMachine() (Keys, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return Keys{}, fmt.Errorf("make host key: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(private, "platter")
	if err != nil {
		return Keys{}, fmt.Errorf("encode host key: %w", err)
	}
	host, err := ssh.NewPublicKey(public)
	if err != nil {
		return Keys{}, fmt.Errorf("encode host key: %w", err)
	}
	return Keys{client: k.client, host: host, hostPEM: pem.EncodeToMemory(block)}, nil
}

// AuthorizedKey returns the client's public key as one line of an
// authorized_keys file, without the newline.
func (k Keys) AuthorizedKey() string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(k.client.PublicKey()))) + " platter"
}

// HostPrivatePEM returns the host's private key in OpenSSH's format. It is
// what the guest's sshd reads as HostKey.
func (k Keys) HostPrivatePEM() []byte { return append([]byte(nil), k.hostPEM...) }

// String names the keys by the host key's fingerprint.
func (k Keys) String() string {
	if k.host == nil {
		return "no keys"
	}
	return "host key " + ssh.FingerprintSHA256(k.host)
}

// GoString keeps %#v from printing private keys.
func (k Keys) GoString() string { return k.String() }

// LogValue keeps slog from printing private keys.
func (k Keys) LogValue() slog.Value { return slog.StringValue(k.String()) }
