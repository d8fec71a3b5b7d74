package images

func init() {
	register(Recipe{
		Name:       "mariadb-10.11",
		Kind:       KindServer,
		About:      "MariaDB 10.11 of Debian 12, with RocksDB",
		Suite:      "bookworm",
		Components: []string{"main"},
		SigningKey: "debian-archive-bookworm-automatic.gpg",
		Packages:   []string{"mariadb-server-core", "mariadb-client-core", "mariadb-plugin-rocksdb"},
		Customize:  server(),
	})
}
