package storage

func init() {
	registerFilesystem(extfs("ext4", true, 8<<20, 16<<40))
}
