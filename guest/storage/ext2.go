package storage

func init() {
	registerFilesystem(extfs("ext2", false, 1<<20, 2<<40,
		"it has no journal: after a crash it needs fsck and may lose files",
		"it cannot preallocate (fallocate): files grow by writing"))
}
