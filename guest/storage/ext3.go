package storage

func init() {
	registerFilesystem(extfs("ext3", true, 8<<20, 2<<40,
		"it cannot preallocate (fallocate): files grow by writing",
		"it is mounted by the ext4 driver, not by the ext3 of old kernels"))
}
