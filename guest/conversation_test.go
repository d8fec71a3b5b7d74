package guest_test

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"platter/guest"
	"platter/results"
)

// The conversation in the package's documentation is a recorded one, and this code still reads it.
func TestTheRecordedConversation(t *testing.T) {
	recorded, err := os.ReadFile("testdata/conversation.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	job, err := os.ReadFile("testdata/job.json")
	if err != nil {
		t.Fatal(err)
	}
	asked, err := guest.DecodeJob(bytes.NewReader(job))
	if err != nil {
		t.Fatal(err)
	}
	dec := guest.NewDecoder(bytes.NewReader(recorded), asked.Build)
	var storage *results.StorageFacts
	var done *guest.Done
	for {
		ev, err := dec.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if ev.Measurement != nil && ev.Measurement.Storage != nil {
			storage = ev.Measurement.Storage
		}
		done = ev.Done
	}
	if done == nil || done.Status != results.StatusOK || storage == nil || storage.Filesystem != asked.Storage.Filesystem {
		t.Errorf("done %+v, storage %+v", done, storage)
	}
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for line := range strings.Lines(string(doc)) {
		if event, ok := strings.CutPrefix(line, "//\t{"); ok {
			shown++
			if !bytes.Contains(recorded, []byte("{"+event)) {
				t.Errorf("doc.go shows a line that was not recorded: {%s", event)
			}
		}
	}
	if shown < 10 {
		t.Errorf("doc.go shows %d events", shown)
	}
}
