package provenance

import (
	"fmt"
	"path"
	"strings"
)

// node is one entity of a crate.
type node = map[string]any

func ref(id string) node { return node{"@id": id} }

// Crate is the folder as an RO-Crate 1.1 (ro-crate-metadata.json): every file of its top, every folder below it, the run
// as the action that made the results, and platter as its instrument.
func Crate(r Run) ([]byte, error) {
	var parts []node
	var entities []node
	seen := map[string]bool{}
	for _, f := range r.Files {
		top, _, below := strings.Cut(f.Name, "/")
		id := top
		if below {
			id += "/"
		}
		if seen[id] {
			continue
		}
		seen[id] = true
		parts = append(parts, ref(id))
		if below {
			entities = append(entities, node{"@id": id, "@type": "Dataset", "name": purposes[id]})
			continue
		}
		entities = append(entities, node{"@id": id, "@type": "File", "name": purposes[id], "sha256": f.SHA256,
			"contentSize": fmt.Sprint(f.Bytes), "encodingFormat": mediaTypes[path.Ext(id)]})
	}
	description := r.Question
	if description == "" {
		description = "A run of the study " + r.Study
	}
	graph := []node{
		{"@id": "ro-crate-metadata.json", "@type": "CreativeWork", "about": ref("./"),
			"conformsTo": ref("https://w3id.org/ro/crate/1.1")},
		{"@id": "./", "@type": "Dataset", "name": r.ID, "description": description, "identifier": r.ID,
			"datePublished": stamp(r.Ended), "license": "not stated; ask whoever gave you this folder",
			"hasPart": parts, "mentions": ref("#run")},
		{"@id": "#run", "@type": "CreateAction", "name": "run of " + r.Study, "startTime": stamp(r.Started), "endTime": stamp(r.Ended),
			"actionStatus": actionStatus(r.Status), "description": strings.Join(r.Command, " "), "error": r.Reason,
			"instrument": ref("#platter"), "object": []node{ref("study/"), ref("plan.json")}, "result": ref("trials/")},
		{"@id": "#platter", "@type": "SoftwareApplication", "name": "platter", "softwareVersion": r.Version},
	}
	return document(node{"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": append(graph, entities...)})
}

func actionStatus(status string) node {
	if status == "done" {
		return ref("http://schema.org/CompletedActionStatus")
	}
	return ref("http://schema.org/FailedActionStatus")
}

// purposes say what lies where, as README.txt does.
var purposes = map[string]string{
	"run.json": "identity and end of the run", "plan.json": "every trial in order, with the seeds",
	"metrics.json": "what each metric means", "journal.jsonl": "what the run did and when", "README.txt": "how to read this folder",
	"study/": "the files of the person who ran this", "env/": "the machine it ran on and the images it used",
	"trials/": "one folder an attempt of a trial", "schema/": "JSON Schemas of these files", "provenance.json": "in-toto statement",
}

var mediaTypes = map[string]string{".json": "application/json", ".jsonl": "application/jsonl", ".txt": "text/plain"}
