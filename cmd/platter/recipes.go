package main

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// recipes are files that start a night by itself, to copy and change.
//
//go:embed recipes
var recipes embed.FS

// recipeFiles are the recipes by the name they are asked for.
func recipeFiles() map[string]string {
	entries, err := recipes.ReadDir("recipes")
	if err != nil {
		panic(err) // embedded
	}
	files := map[string]string{}
	for _, entry := range entries {
		files[strings.TrimSuffix(entry.Name(), ".yaml")] = path.Join("recipes", entry.Name())
	}
	return files
}

func recipeNames() string {
	var names []string
	for name := range recipeFiles() {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func printRecipe(c *cli.Context) error {
	file, ok := recipeFiles()[c.String("recipe")]
	if !ok {
		return &usageError{fmt.Errorf("--recipe %q: there are %s", c.String("recipe"), recipeNames())}
	}
	text, err := recipes.ReadFile(file)
	if err != nil {
		return err
	}
	_, err = c.App.Writer.Write(text)
	return err
}
