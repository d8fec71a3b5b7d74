// Package remote reaches a guest over SSH: it waits until the guest is ready,
// logs in, uploads files, runs commands, fetches files and follows a stream of
// lines across dropped connections.
//
// It owns the SSH keys of a run, the pinned host key, the token that tells one
// machine from another, keepalives, and the naming of what went wrong. It is
// the only importer of golang.org/x/crypto/ssh and github.com/pkg/sftp.
//
// It does not own machines, consoles or addresses: a [Target] carries a dial
// function, so a forwarded port, a vsock or a connection tunnelled through
// another host all look the same. It knows nothing of jobs and events; it moves
// their bytes. The user's own ssh files are neither read nor written.
//
// lab/runner calls it: [NewKeys] before the machine is defined, [Await] with
// [Alive], [Marker] and [Login.Requirements] while it boots, then
// [Client.Upload] and [Client.Run], and [Session.Follow] for the results.
package remote
