package main

import (
	"errors"
	"fmt"
	"os"

	"platter/guest/server"
	"platter/images"
	"platter/lab"
)

// checkOptions holds the plan's configurations of a server image against the list of options that its server printed
// when the image was built, so that a misspelt one costs no machine. An image without the list leaves it to the guest.
func (s imageStore) checkOptions(image images.Image) error {
	path := image.Options()
	if path == "" {
		return nil
	}
	help, err := os.ReadFile(path)
	if err != nil {
		return &lab.InfraError{What: "read the options of image " + image.Name, Err: err}
	}
	var faults []error
	seen := map[string]bool{}
	for _, t := range s.plan.Trials {
		if t.Server != image.Name || seen[t.Factors["config"]] {
			continue
		}
		seen[t.Factors["config"]] = true
		if err := server.CheckKnown(string(help), t.Job.Server.Profile, t.Job.Server.Options, t.Machine.MemoryBytes); err != nil {
			faults = append(faults, fmt.Errorf("factors.config.%s on %s: %w (checked against the server's own list before the run)", t.Factors["config"], image.Name, err))
		}
	}
	if len(faults) == 0 {
		return nil
	}
	return &lab.InputError{Err: errors.Join(faults...)}
}

// checkCached is checkOptions for every image of the plan that the cache has already.
func (s imageStore) checkCached() error {
	var faults []error
	for _, name := range s.plan.Images {
		recipe, err := s.recipe(name)
		if err != nil {
			return err
		}
		if image, ok := s.cache.Lookup(recipe, s.options); ok {
			faults = append(faults, s.checkOptions(image))
		}
	}
	return errors.Join(faults...)
}
