package images

func init() {
	register(Recipe{
		Name:       "mysql-9.7",
		Kind:       KindServer,
		About:      "MySQL 9.7 of Debian unstable",
		Suite:      "sid",
		Components: []string{"main"},
		SigningKey: "debian-archive-trixie-automatic.gpg",
		Packages:   []string{"mysql-server-core", "mysql-client-core"},
		// A mirror that lags, or a snapshot, is past its Valid-Until date; the signature still counts.
		AptOptions: []string{`Acquire::Check-Valid-Until "false"`},
		Customize:  server(),
	})
}
