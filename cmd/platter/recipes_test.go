package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// TestRecipes: every command line in a recipe is one that this platter understands, and the YAML is YAML.
func TestRecipes(t *testing.T) {
	line := regexp.MustCompile(`(?m)(?:ExecStart\w*=\S*/|run: |- )platter (\w+)(.*)$`)
	app := newApp(streams{})
	for name, file := range recipeFiles() {
		text, err := recipes.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, ".yaml") {
			var any map[string]any
			if err := yaml.Unmarshal(text, &any); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		commands := line.FindAllStringSubmatch(string(text), -1)
		if len(commands) != 2 && name != "systemd.timer" {
			t.Errorf("%s has %d commands of platter, want clean and nightly", name, len(commands))
		}
		for _, found := range commands {
			command := app.Command(found[1])
			if command == nil {
				t.Errorf("%s: no command %q", name, found[1])
				continue
			}
			for _, word := range strings.Fields(found[2]) {
				if strings.HasPrefix(word, "--") && !isFlag(command.Flags, word) {
					t.Errorf("%s: platter %s has no flag %s", name, found[1], word)
				}
			}
		}
	}
}
