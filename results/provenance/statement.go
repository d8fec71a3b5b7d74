package provenance

import (
	"encoding/json"
	"path"
	"strings"
	"time"
)

// The types of the in-toto attestation framework that a statement names.
const (
	statementType = "https://in-toto.io/Statement/v1"
	predicateType = "https://slsa.dev/provenance/v1"
	buildType     = "urn:x-platter:run:1"
	builderID     = "urn:x-platter:host"
)

// resource is in-toto's ResourceDescriptor.
type resource struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

func sha256Of(name, digest string) resource {
	return resource{name, map[string]string{"sha256": strings.TrimPrefix(digest, "sha256:")}}
}

// Statement is the run's provenance as an unsigned in-toto statement: its subjects are the results, its materials the
// study, the plan and the files of the images.
func Statement(r Run) ([]byte, error) {
	subjects, materials := []resource{}, []resource{}
	for _, f := range r.Files {
		switch {
		case path.Base(f.Name) == "result.json":
			subjects = append(subjects, sha256Of(f.Name, f.SHA256))
		case f.Name == "plan.json" || strings.HasPrefix(f.Name, "study/"):
			materials = append(materials, sha256Of(f.Name, f.SHA256))
		}
	}
	for _, image := range r.Images {
		for _, output := range image.Outputs {
			materials = append(materials, sha256Of("image/"+image.Name+"/"+output.Name, output.SHA256))
		}
	}
	type object = map[string]any
	return document(object{
		"_type":         statementType,
		"subject":       subjects,
		"predicateType": predicateType,
		"predicate": object{
			"buildDefinition": object{
				"buildType":            buildType,
				"externalParameters":   object{"study": r.Study, "command": orEmpty(r.Command)},
				"internalParameters":   object{"plan_digest": r.PlanDigest},
				"resolvedDependencies": materials,
			},
			"runDetails": object{
				"builder":  object{"id": builderID, "version": map[string]string{"platter": r.Version}},
				"metadata": object{"invocationId": r.ID, "startedOn": stamp(r.Started), "finishedOn": stamp(r.Ended)},
			},
		},
	})
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// document is JSON for people, with a line end.
func document(value any) ([]byte, error) {
	data, err := json.MarshalIndent(value, "", "  ")
	return append(data, '\n'), err
}
