package lab

import (
	"fmt"

	"platter/guest"
)

// fakeRegistry knows a little of each kind, so that planning is tested without the packages that do the work.
type fakeRegistry struct{}

func (fakeRegistry) Storage(s guest.Storage, _ []guest.Disk) []error {
	names := []string{"ext3", "ext4", "xfs", "gfs2", "vfat", "zfs"}
	for _, n := range names {
		if n == s.Filesystem {
			return nil
		}
	}
	return []error{fmt.Errorf("%s", unknown("filesystem", s.Filesystem, names))}
}

func (fakeRegistry) Commands(s guest.Storage, disks []guest.Disk) [][]string {
	return [][]string{{"mkfs." + s.Filesystem, "<" + disks[0].Name + ">"}}
}

func (fakeRegistry) Images(s guest.Storage) (string, []string) {
	if s.Filesystem == "zfs" {
		return "root", []string{"zfs"}
	}
	return "root", nil
}

func (fakeRegistry) Cautions(s guest.Storage) []string {
	if s.Filesystem == "vfat" {
		return []string{"files over 4 GiB"}
	}
	return nil
}

func (fakeRegistry) Server(image string) error {
	if image != "mariadb-11.8" && image != "mysql-9.7" {
		return fmt.Errorf("%s", unknown("server image", image, []string{"mariadb-11.8", "mysql-9.7"}))
	}
	return nil
}

func (fakeRegistry) Config(s guest.Server, _ int64) (errs []error) {
	if s.Profile != "" && s.Profile != "default" && s.Profile != "o-direct" {
		errs = append(errs, fmt.Errorf("%s", unknown("profile", s.Profile, []string{"default", "o-direct"})))
	}
	return errs
}

func (fakeRegistry) EngineOption(workload string) string {
	if workload == "oltp_legacy" {
		return "mysql_table_engine"
	}
	return "engine"
}

func (fakeRegistry) Verbs(workload string) ([]string, error) {
	switch workload {
	case "mysqlslap":
		return []string{"run"}, nil
	case "oltp_legacy":
		return []string{"prepare", "run"}, nil
	}
	return nil, fmt.Errorf("%s", unknown("workload", workload, []string{"mysqlslap", "oltp_legacy"}))
}

func (r fakeRegistry) Step(st guest.Step, _ Site) []error {
	if _, err := r.Verbs(st.Workload); err != nil {
		return []error{err}
	}
	return nil
}

func (fakeRegistry) Score(_, name string) error {
	if name == "transaction" {
		return fmt.Errorf("it prints no score transaction")
	}
	return nil
}

func (fakeRegistry) Metric(name string) error {
	if name == "nonsense" {
		return fmt.Errorf("unknown metric")
	}
	return nil
}
