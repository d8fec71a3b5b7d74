package main

import (
	"encoding/json"
	"io"

	"platter/lab"
)

// jsonPrinter writes each event as a line of JSON, for programs.
type jsonPrinter struct{ encoder *json.Encoder }

func newJSONPrinter(w io.Writer) jsonPrinter { return jsonPrinter{json.NewEncoder(w)} }

// Tell writes one event. A reader that went away shows up when the report is printed.
func (p jsonPrinter) Tell(e lab.RunEvent) { _ = p.encoder.Encode(e) }

// Close has nothing to end.
func (p jsonPrinter) Close() {}
