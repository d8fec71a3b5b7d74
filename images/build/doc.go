// Package build turns an images.Recipe into the files of an image: mmdebstrap
// installs Debian packages into a temporary root and writes it as a tar
// stream; the stream is filtered and completed here and goes on to mksquashfs;
// kernel and initramfs are taken from the result. No loop device and no mount
// of ours is involved, and as an ordinary user mmdebstrap works in a user
// namespace, so root is not needed.
//
// It decides neither when to build nor where the result stays: images/cache
// does, and calls Build.
package build
