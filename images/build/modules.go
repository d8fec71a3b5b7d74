package build

import (
	"fmt"
	"path"
	"strings"
)

// loadOrder returns the files of the wanted kernel modules and of all they
// depend on, as modules.dep names them, each after its dependencies. A module
// built into the kernel needs no file.
func loadOrder(modulesDep, modulesBuiltin string, wanted []string) ([]string, error) {
	files := map[string]string{}          // module name → file
	dependencies := map[string][]string{} // file → files
	for line := range strings.Lines(modulesDep) {
		file, after, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			return nil, fmt.Errorf("modules.dep has the line %q, want \"file: files\"", line)
		}
		files[moduleName(file)] = file
		dependencies[file] = strings.Fields(after)
	}
	builtin := map[string]bool{}
	for line := range strings.Lines(modulesBuiltin) {
		builtin[moduleName(strings.TrimSpace(line))] = true
	}

	var order []string
	seen := map[string]bool{}
	var visit func(file string)
	visit = func(file string) {
		if seen[file] {
			return
		}
		seen[file] = true
		// modules.dep lists a module's dependencies with the last to load first.
		needs := dependencies[file]
		for i := len(needs) - 1; i >= 0; i-- {
			visit(needs[i])
		}
		order = append(order, file)
	}
	for _, name := range wanted {
		file, ok := files[moduleName(name)]
		switch {
		case ok:
			visit(file)
		case !builtin[moduleName(name)]:
			return nil, fmt.Errorf("the kernel has no module %s", name)
		}
	}
	return order, nil
}

// moduleName returns the kernel's name of a module file: "-" counts as "_".
func moduleName(file string) string {
	name, _, _ := strings.Cut(path.Base(file), ".ko")
	return strings.ReplaceAll(name, "-", "_")
}
