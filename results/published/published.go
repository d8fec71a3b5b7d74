// Package published owns the figures that the published studies printed, with their source, and the scores one of them
// made of its figures.
//
// The figures are data: one JSON file a study. A figure names the metric and step of ours that measure the same, so that
// results/report can put both side by side. Which study runs how is the business of lab/studies.
package published

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
)

//go:embed *.json
var files embed.FS

// Study is what one write-up printed.
type Study struct {
	Schema     string               `json:"schema"`
	Study      string               `json:"study"` // name of the shipped study that replays it
	Source     string               `json:"source"`
	Year       int                  `json:"year"`
	Machine    string               `json:"machine"`
	Software   string               `json:"software"`
	Factor     string               `json:"factor"` // whose levels are the columns
	Levels     []string             `json:"levels"` // as the write-up orders them
	Successors map[string]Successor `json:"successors,omitempty"`
	Era        []string             `json:"era"` // what is different today
	Figures    []Figure             `json:"figures"`
	Scores     []Score              `json:"scores,omitempty"`
}

// Successor is the level that runs today for one that no longer exists.
type Successor struct {
	Level  string `json:"level"`
	Reason string `json:"reason"`
}

// Figure is one printed row.
type Figure struct {
	ID     string             `json:"id"`
	Title  string             `json:"title"`
	Unit   string             `json:"unit"` // of results.Unit
	Metric string             `json:"metric"`
	Step   string             `json:"step"`
	Labels map[string]string  `json:"labels,omitempty"` // that the metric must have; others are free
	Where  map[string]string  `json:"where,omitempty"`  // levels of other factors
	Score  string             `json:"score,omitempty"`  // the score it counts in: write or transaction
	Values map[string]float64 `json:"values"`           // level → printed value, in base units
}

// Score is a printed score, in per cent of the average.
type Score struct {
	ID     string             `json:"id"`
	Title  string             `json:"title"`
	Values map[string]float64 `json:"values"`
}

// Lookup returns the figures that a study replays.
func Lookup(study string) (Study, bool) {
	for _, s := range All() {
		if s.Study == study {
			return s, true
		}
	}
	return Study{}, false
}

// All returns every published study, sorted by name.
func All() []Study {
	paths, err := fs.Glob(files, "*.json")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	var all []Study
	for _, path := range paths {
		data, err := files.ReadFile(path)
		if err != nil {
			panic(err) // the file is embedded
		}
		s, err := decode(data)
		if err != nil {
			panic(fmt.Sprintf("%s: %v", path, err)) // a test reads every file
		}
		all = append(all, s)
	}
	return all
}

func decode(data []byte) (Study, error) {
	var s Study
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&s)
	return s, err
}

// Today returns the level that runs for a printed one.
func (s Study) Today(level string) string {
	if successor, ok := s.Successors[level]; ok {
		return successor.Level
	}
	return strings.ToLower(level)
}
