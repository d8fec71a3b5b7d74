package report

import (
	"encoding/json"
	"io"
)

var _ = register(Format{Name: "json", Extension: ".json", Help: "the model that every other format prints", write: writeJSON})

func writeJSON(w io.Writer, m *Model, _ Style) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(m)
}
