package lab

import "encoding/json"

// Schema returns the JSON Schema of the study language, for editors. It is made of the same declarations that decode
// studies, so the two know the same keys.
func Schema() ([]byte, error) {
	defs := map[string]schema{}
	for k, v := range language.defs {
		if k != "study" {
			defs[k] = v
		}
	}
	out := schema{
		"$schema":     "https://json-schema.org/draft/2020-12/schema",
		"$id":         "urn:platter:schema:study:1",
		"title":       "platter study",
		"description": "What a study may say. Sizes are " + SizeUnits + "; durations are " + DurationUnits + ".",
		"$defs":       defs,
	}
	for k, v := range language.defs["study"] {
		out[k] = v
	}
	return json.MarshalIndent(out, "", "  ")
}
