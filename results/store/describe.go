package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"platter/results/provenance"
)

const (
	imagePrefix = "image-" // env/image-<name>.json: the manifest of an image the run used
	sbomPrefix  = "sbom-"  // env/sbom-<name>.spdx.json: its packages
	sbomSuffix  = ".spdx.json"
)

// describe writes what others' tools read: an SPDX document for each image, an RO-Crate and an in-toto statement.
func (r *Run) describe() error {
	images, err := r.describeImages()
	facts, factsErr := r.facts(images)
	if err := errors.Join(err, factsErr); err != nil {
		return fmt.Errorf("describe the run: %w", err)
	}
	for name, write := range map[string]func(provenance.Run) ([]byte, error){
		CrateFile: provenance.Crate, ProvenanceFile: provenance.Statement,
	} {
		data, err := write(facts)
		if err == nil {
			err = writeBytes(r.file(name), data)
		}
		if err != nil {
			return fmt.Errorf("describe the run: %w", err)
		}
	}
	return nil
}

// facts gathers what the folder holds by now.
func (r *Run) facts(images []provenance.Image) (provenance.Run, error) {
	m := r.meta
	facts := provenance.Run{ID: m.ID, Study: m.Study, Status: string(m.Status), Reason: m.Reason, PlanDigest: m.PlanDigest,
		Version: m.PlatterVersion, Command: m.Command, Started: m.StartedAt, Images: images}
	if m.EndedAt != nil {
		facts.Ended = *m.EndedAt
	}
	data, err := r.Plan()
	if err != nil {
		return facts, err
	}
	var plan struct {
		Question string `json:"question"`
	}
	if err := json.Unmarshal(data, &plan); err != nil {
		return facts, err
	}
	facts.Question = plan.Question
	err = r.walk(func(name string) error {
		if name == CrateFile || name == ProvenanceFile {
			return nil
		}
		digest, err := digestFile(r.file(name))
		if err != nil {
			return err
		}
		info, err := os.Lstat(r.file(name))
		if err == nil {
			facts.Files = append(facts.Files, provenance.File{Name: name, SHA256: digest, Bytes: info.Size()})
		}
		return err
	})
	return facts, err
}

// imageDocument is what the runner keeps of an image: the parts that are told on.
type imageDocument struct {
	Name     string `json:"name"`
	Digest   string `json:"digest"`
	Manifest struct {
		Recipe struct {
			Distribution *struct {
				SHA256 string `json:"sha256"`
			} `json:"distribution"`
		} `json:"recipe"`
		Packages []struct {
			Name         string `json:"name"`
			Version      string `json:"version"`
			Architecture string `json:"architecture"`
			SHA256       string `json:"sha256"`
		} `json:"packages"`
		Outputs map[string]struct {
			SHA256 string `json:"sha256"`
		} `json:"outputs"`
		Mirror  string    `json:"mirror"`
		BuiltAt time.Time `json:"built_at"`
		Tarball *struct {
			Source string `json:"source"`
		} `json:"tarball"`
	} `json:"manifest"`
}

// describeImages writes the package list of each image the run used, once.
func (r *Run) describeImages() ([]provenance.Image, error) {
	entries, err := os.ReadDir(r.file(EnvDir))
	if err != nil {
		return nil, err
	}
	var images []provenance.Image
	for _, entry := range entries {
		stem, ok := strings.CutPrefix(strings.TrimSuffix(entry.Name(), ".json"), imagePrefix)
		if !ok || path.Ext(entry.Name()) != ".json" {
			continue
		}
		data, problem := readFile(r.path, filepath.Join(EnvDir, entry.Name()), planLimitBytes)
		if problem != nil {
			return nil, problem
		}
		var document imageDocument
		if err := json.Unmarshal(data, &document); err != nil {
			return nil, &Problem{EnvDir + "/" + entry.Name(), Broken, err}
		}
		image := document.image(stem)
		images = append(images, image)
		sbom, err := provenance.SBOM(image)
		if err == nil {
			err = writeBytes(r.file(EnvDir+"/"+sbomPrefix+stem+sbomSuffix), sbom)
		}
		if err != nil {
			return nil, err
		}
	}
	return images, nil
}

func (d imageDocument) image(name string) provenance.Image {
	m := d.Manifest
	image := provenance.Image{Name: name, RecipeDigest: d.Digest, Mirror: m.Mirror, BuiltAt: m.BuiltAt}
	for _, p := range m.Packages {
		image.Packages = append(image.Packages, provenance.Package{Name: p.Name, Version: p.Version, Architecture: p.Architecture, SHA256: p.SHA256})
	}
	for _, file := range slices.Sorted(maps.Keys(m.Outputs)) {
		image.Outputs = append(image.Outputs, provenance.Output{Name: file, SHA256: m.Outputs[file].SHA256})
	}
	if m.Tarball != nil && m.Recipe.Distribution != nil {
		image.Distribution = &provenance.Output{Name: m.Tarball.Source, SHA256: m.Recipe.Distribution.SHA256}
	}
	return image
}
