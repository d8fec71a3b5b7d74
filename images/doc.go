// Package images holds the nouns of the images a trial boots from: Recipe
// (what goes in), Image (the files that came out), Manifest (what exactly they
// hold) and the catalogue, one row an image, each row in its own file.
//
// Everything here is pure: no process is started and nothing is read from the
// host. images/build turns a Recipe into an Image, images/cache keeps the
// result; lab/runner and cmd/platter call both.
//
// Three kinds of image exist:
//
//   - a root image boots: kernel, initramfs and a read-only root filesystem
//     with the filesystem tools and sshd, and no database;
//   - a server image holds one database server and runs in its own root, so
//     that it depends neither on the kernel nor on the libraries of the root;
//   - an add-on image holds a few files stacked over a root image.
//
// None of them runs an init system: there is no systemd, cron or timer that
// could wake up in the middle of a measurement, so nothing has to be masked.
// PID 1 is files/init, which starts sshd and waits.
package images
