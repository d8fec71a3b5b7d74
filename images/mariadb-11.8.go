package images

func init() {
	register(Recipe{
		Name:       "mariadb-11.8",
		Kind:       KindServer,
		About:      "MariaDB 11.8 of Debian 13, with RocksDB",
		Suite:      "trixie",
		Components: []string{"main"},
		SigningKey: "debian-archive-trixie-automatic.gpg",
		// The core packages: mariadb-server itself would add perl, galera and a data directory of 145 MB. It also holds the
		// plugins of ARCHIVE, BLACKHOLE, FEDERATED and SPHINX, which no study of storage needs; who does makes a tarball.
		Packages:  []string{"mariadb-server-core", "mariadb-client-core", "mariadb-plugin-rocksdb"},
		Customize: server(),
	})
}
