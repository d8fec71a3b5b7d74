// Package server runs one MySQL or MariaDB: it finds the binaries, checks the asked options against the server's own list,
// initialises a data directory on the filesystem under test, starts, watches, describes and stops the server.
//
// The server runs out of its own root (a server image mounted read-only, entered by chroot) or, for tests and for people
// without images, out of this machine's installation. Product and version come from the server itself, never from a name.
// Nothing but the data directory lies on the filesystem under test: option file, socket, pid file, log and temporary files
// live in RunDir. guest/agent calls it; guest/workload only gets a way to connect. It mounts no filesystem under test,
// makes no disks and runs no load.
package server
