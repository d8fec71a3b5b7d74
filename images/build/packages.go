package build

import (
	"fmt"
	"slices"
	"strings"

	"platter/images"
)

// parsePackages reads dpkg's status file for what is installed and the records
// of the package index for the digests of the .debs.
func parsePackages(status, index string) ([]images.Package, error) {
	digests := map[images.Package]string{}
	for _, record := range records(index) {
		digests[identity(record)] = record["SHA256"]
	}
	var packages []images.Package
	for _, record := range records(status) {
		if !strings.HasSuffix(record["Status"], " installed") {
			continue
		}
		p := identity(record)
		p.SHA256 = digests[p]
		packages = append(packages, p)
	}
	if len(packages) == 0 {
		return nil, fmt.Errorf("dpkg's status file lists no installed package")
	}
	slices.SortFunc(packages, func(a, b images.Package) int {
		return strings.Compare(a.Name+":"+a.Architecture, b.Name+":"+b.Architecture)
	})
	return packages, nil
}

func identity(record map[string]string) images.Package {
	return images.Package{Name: record["Package"], Version: record["Version"], Architecture: record["Architecture"]}
}

// records splits control data into records. A record starts with "Package:",
// since the index went through a filter that also dropped the empty lines.
func records(text string) []map[string]string {
	var list []map[string]string
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		if !ok || strings.HasPrefix(line, " ") {
			continue
		}
		if key == "Package" {
			list = append(list, map[string]string{})
		}
		if len(list) > 0 {
			list[len(list)-1][key] = value
		}
	}
	return list
}
