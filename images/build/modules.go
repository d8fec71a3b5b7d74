package build

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
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

func isModule(header *tar.Header, name string) bool {
	return header.Typeflag == tar.TypeReg && strings.HasPrefix(name, "/usr/lib/modules/") && strings.HasSuffix(name, ".ko")
}

// signatureMark ends a signed module. Before it stand 12 bytes of which the
// last four are the length of the signature before them (the kernel's
// include/linux/module_signature.h).
var signatureMark = []byte("~Module signature appended~\n")

// withoutSignature returns a module without its signature. Checking one costs
// an emulated CPU about a third of a second for each module that is loaded;
// here the digest of the whole image takes its place. The kernel notes
// unsigned modules as the taint E, which changes nothing else.
func withoutSignature(module []byte) []byte {
	rest, ok := bytes.CutSuffix(module, signatureMark)
	if !ok || len(rest) < 12 {
		return module
	}
	length := int64(binary.BigEndian.Uint32(rest[len(rest)-4:]))
	if end := int64(len(rest)) - 12 - length; end >= 0 {
		return module[:end]
	}
	return module
}
