package domain

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	diskElement = regexp.MustCompile(`(?s)<disk .*?</disk>`)
	declared    = regexp.MustCompile(`<driver name="qemu" type="(raw|qcow2)"`)
	driveArg    = regexp.MustCompile(`value="(if=none[^"]*)"`)
)

// TestFormatIsDeclared is B24: whatever kind a disk is, its format is written down, so that QEMU never probes an image whose
// content a guest has written, and that no file lies behind it.
func TestFormatIsDeclared(t *testing.T) {
	files, err := filepath.Glob("testdata/*.xml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d golden files, %v", len(files), err)
	}
	disks := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, element := range diskElement.FindAllString(string(text), -1) {
			disks++
			if !declared.MatchString(element) || !strings.Contains(element, "<backingStore></backingStore>") {
				t.Errorf("%s: a disk without a declared format, or over another file:\n%s", name, element)
			}
		}
		for _, m := range driveArg.FindAllStringSubmatch(string(text), -1) {
			disks++
			if !strings.Contains(m[1], "format=raw") && !strings.Contains(m[1], "format=qcow2") {
				t.Errorf("%s: a drive without a declared format: %s", name, m[1])
			}
		}
	}
	if disks < 100 {
		t.Errorf("%d disks in all golden files", disks)
	}
}
