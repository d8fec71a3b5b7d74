// Package archive packs run folders into one file that lasts, and takes such files apart again without trusting them.
//
// It owns the form of a packed file: a BagIt bag (RFC 8493) in a tar in zstd, the same bytes for the same folders, with
// an index at its end that finds and names a single flipped bit. It does not know what a run means: results/store says
// whether the folder that comes out is whole. cmd/platter packs, verifies, unpacks and imports through it.
//
// # The form
//
//	<bag>/bagit.txt bag-info.txt README.txt    what this is; the latter is for people without platter
//	<bag>/manifest-sha256.txt                  digest and name of every file below data/
//	<bag>/tagmanifest-sha256.txt               the same of the files above
//	<bag>/data/<run>/…                         run folders, without what can be made again (derived/, report/)
//
// Members are sorted, their owner, mode and time are fixed. The stream is cut into zstd frames at the borders of
// members, so damage stays local. A last frame, which zstd and tar skip, lists the digest of each frame and its first
// member. Everything is readable with zstd, tar and sha256sum alone.
//
// # Reading
//
// A packed file is hostile until proven otherwise. First every byte is held against the index; then the tar is read with
// limits on size, number and ratio; links, devices, escapes, duplicates (also by letter case or Unicode form), members
// that the manifest does not name, and data behind the end are refused. Files are written through os.Root below a
// temporary directory, which takes its place by one rename when all is proven.
package archive
