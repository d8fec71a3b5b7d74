package lab

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

func studySchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "study.schema.json", string(text)+"\n")
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("study.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("study.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func document(t *testing.T, file string) any {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := yaml.YAMLToJSON(data)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(plain))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestSchemaAgreesWithDecoder validates studies that decode, and studies that do not, with the published schema.
func TestSchemaAgreesWithDecoder(t *testing.T) {
	s := studySchema(t)
	for _, pattern := range []string{"testdata/plans/*.yaml", "studies/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files: %v", pattern, err)
		}
		for _, f := range files {
			if err := s.Validate(document(t, f)); err != nil {
				t.Errorf("the schema refuses %s: %v", f, err)
			}
		}
	}
	for _, f := range []string{"units", "text"} {
		if s.Validate(document(t, "testdata/faults/"+f+".yaml")) == nil {
			t.Errorf("the schema accepts %s.yaml, which the decoder refuses", f)
		}
	}
}

// TestSchemaKnowsEveryKey gives each object of the language one key it does not know: both the decoder and the schema
// must refuse, and each key of the schema must be one the decoder offers.
func TestSchemaKnowsEveryKey(t *testing.T) {
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Properties map[string]any `json:"properties"`
		Defs       map[string]struct {
			Properties map[string]any `json:"properties"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	probe := func(paths map[string]string) {
		for def, yaml := range paths {
			_, err := ParseStudy("probe.yaml", []byte(yaml), "", nil)
			if err == nil {
				t.Fatalf("%s: an unknown key is accepted", def)
			}
			keys := doc.Defs[def].Properties
			if def == "study" {
				keys = doc.Properties
			}
			if len(keys) == 0 {
				t.Errorf("the schema has no keys for %s", def)
			}
			for k := range keys {
				// The nearest known key of KEY_ is KEY, so the decoder must name it.
				_, err := ParseStudy("probe.yaml", []byte(strings.ReplaceAll(yaml, "nosuch", k+"_")), "", nil)
				if err == nil || !strings.Contains(err.Error(), `did you mean "`+k+`"?`) {
					t.Errorf("%s: the decoder does not know the schema's key %s: %v", def, k, err)
				}
			}
		}
	}
	probe(map[string]string{
		"study": "nosuch: 1", "machine": "machine: {nosuch: 1}", "disk": "disks: {a: {nosuch: 1}}",
		"limits": "disks: {a: {limits: {nosuch: 1}}}", "latency": "disks: {a: {latency: {nosuch: 1}}}",
		"factors": "factors: {nosuch: 1}", "storage": "factors: {storage: {a: {nosuch: 1}}}",
		"server": "factors: {server: {a: {nosuch: 1}}}", "claim": "claims: [{nosuch: 1}]", "successor": "successors: [{nosuch: 1}]",
	})
}
