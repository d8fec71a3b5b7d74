package images

import (
	"fmt"
	"slices"
	"strings"
)

var catalogue = map[string]Recipe{}

// register adds a row to the catalogue. Each row calls it from the init of its
// own file, so a new image is one new file.
func register(r Recipe) {
	if _, taken := catalogue[r.Name]; taken {
		panic("two images are named " + r.Name)
	}
	catalogue[r.Name] = r
}

// Catalogue returns all recipes, ordered by name.
func Catalogue() []Recipe {
	rows := make([]Recipe, 0, len(catalogue))
	for _, r := range catalogue {
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b Recipe) int { return strings.Compare(a.Name, b.Name) })
	return rows
}

// Lookup returns the recipe of a name. The error lists the names that exist.
func Lookup(name string) (Recipe, error) {
	if r, ok := catalogue[name]; ok {
		return r, nil
	}
	names := make([]string, 0, len(catalogue))
	for _, r := range Catalogue() {
		names = append(names, r.Name)
	}
	return Recipe{}, fmt.Errorf("no image is named %q; there are %s", name, strings.Join(names, ", "))
}
