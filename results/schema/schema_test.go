package schema

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"platter/results"
)

func full() results.Result {
	number := 1.5
	whole, yes, text := int64(4096), true, "x"
	digest := "sha256:" + strings.Repeat("a", 64)
	return results.Result{
		Schema: results.Schema, RunID: "r", Study: "s", Scale: "smoke", Trial: "t", TrialID: "000-a/1", Round: 1, Attempt: 1,
		Factors: map[string]string{"storage": "ext4"}, CellID: digest, EnvID: digest, SoftwareID: digest, PrecededBy: "000-b/1",
		Status: results.StatusOK, Flags: []results.Flag{{Name: "f", Detail: "d"}}, StartedAt: time.Unix(0, 0).UTC(),
		WallSeconds: &number, BootSeconds: &number, GuestSeconds: &number, OverheadSeconds: &number,
		Accel: "tcg", Durability: "full", Guest: &results.GuestFacts{Tools: map[string]string{"mkfs": "1"}},
		Images: []results.ImageRef{{Name: "root"}},
		Disks: []results.DiskFacts{{Name: "d", LogicalBlockBytes: &whole, Rotational: &yes,
			Passport: &results.Passport{Serial: "s", WWN: "w", Model: "m", Firmware: "f", SizeBytes: 1, Transport: "loop", NUMANode: new(int), PCIAddress: "p", IOMMUGroup: new(int),
				Namespace: 1, Rotational: &yes, Backing: &results.Backing{Path: "/f"}}}},
		Storage: &results.StorageFacts{Filesystem: "ext4", Commands: [][]string{{"mkfs"}}, Facts: map[string]string{"a": "b"},
			Quiesced: &yes, CannotDo: []string{"links"}},
		Server:     &results.ServerFacts{Variables: map[string]string{"a": "b"}, Engines: map[string]string{"InnoDB": "DEFAULT"}, InitSeconds: &number},
		Settings:   []results.Setting{{Subject: "server", Name: "x", Asked: &text}},
		Steps:      []results.StepResult{{Name: "run", Seconds: &number, Error: "e"}},
		Metrics:    []results.Metric{{Name: "run_seconds", Step: "run", Labels: map[string]string{"clients": "1"}, Value: &number}, {Name: "x_total", Reason: "why"}},
		Histograms: []results.Histogram{{Operation: "all", Kind: "service", Encoded: "HIST"}},
		Probes:     []results.Probe{{Name: "noise", When: "before", Values: map[string]*float64{"a_seconds": nil}}},
		Files:      []string{"events.jsonl"},
	}
}

func TestResultPasses(t *testing.T) {
	document, err := json.Marshal(full())
	if err != nil {
		t.Fatal(err)
	}
	if err := Validate("result", document); err != nil {
		t.Error(err)
	}
}

// TestUnknownFieldsPass: minor versions only add fields, and readers ignore what they do not know.
func TestUnknownFieldsPass(t *testing.T) {
	document, _ := json.Marshal(full())
	document = append([]byte(`{"invented_later":{"x":1},`), document[1:]...)
	if err := Validate("result", document); err != nil {
		t.Error(err)
	}
}

func TestResultRefused(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`"platter.result/1"`, `"platter.result/2"`, "/schema:"},
		{`"round":1`, `"round":0`, "/round:"},
		{`"round":1`, `"round":1.5`, "/round:"},
		{`"status":"ok"`, `"status":"fine"`, "/status:"},
		{`"status":"ok"`, `"status":"failed"`, "reason"},
		{`"boot_seconds":1.5`, `"boot_seconds":null`, "/boot_seconds:"},
		{`"boot_seconds":1.5`, `"boot_seconds":-1`, "/boot_seconds:"},
		{`"name":"run_seconds"`, `"name":"run_ms"`, "/metrics/0/name:"},
		{`"reason":"why"`, `"reason":""`, "/metrics/1/reason:"},
		{`"started_at":"1970`, `"started_at":"0970-13`, "/started_at:"},
		{`"accel":"tcg"`, `"accel":""`, "/accel:"},
		{`"cell_id":"sha256:`, `"cell_id":"md5:`, "/cell_id:"},
		{`"storage":"ext4"`, `"storage":4`, "/factors/storage:"},
	} {
		document, _ := json.Marshal(full())
		spoilt := strings.Replace(string(document), c.old, c.new, 1)
		if spoilt == string(document) {
			t.Fatalf("%s is not in the document", c.old)
		}
		if err := Validate("result", []byte(spoilt)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s → %s: got %v, want a fault with %q", c.old, c.new, err, c.want)
		}
	}
}

func TestValidateNotJSON(t *testing.T) {
	for _, document := range []string{"", "{", "\ufeff{}", "{} {}"} {
		if err := Validate("run", []byte(document)); err == nil || !strings.Contains(err.Error(), "not one JSON document") {
			t.Errorf("%q: got %v", document, err)
		}
	}
	if err := Validate("nonsense", []byte("{}")); err == nil || !strings.Contains(err.Error(), "known are event, host") {
		t.Errorf("unknown schema: got %v", err)
	}
}

func TestEvent(t *testing.T) {
	good := `{"type":"log","seq":1,"seconds":0.5,"time":"2026-01-31T02:15:00Z","log":{"level":"info","message":"x"}}`
	if err := Validate("event", []byte(good)); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{
		strings.Replace(good, `"type":"log"`, `"type":"done"`, 1),
		strings.Replace(good, `"seq":1`, `"seq":0`, 1),
		strings.Replace(good, `,"log":{"level":"info","message":"x"}`, "", 1),
		strings.Replace(good, `"log":{`, `"done":{"status":"ok","guest_seconds":1},"log":{`, 1),
	} {
		if Validate("event", []byte(bad)) == nil {
			t.Errorf("accepted: %s", bad)
		}
	}
}

// TestSchemaCoversEveryField walks the Go type beside the schema, so that a new field cannot be forgotten.
func TestSchemaCoversEveryField(t *testing.T) {
	var root map[string]any
	if err := json.Unmarshal(Text("result"), &root); err != nil {
		t.Fatal(err)
	}
	defs := root["$defs"].(map[string]any)
	cover(t, "", reflect.TypeFor[results.Result](), root, defs)
	var host map[string]any
	if err := json.Unmarshal(Text("host"), &host); err != nil {
		t.Fatal(err)
	}
	cover(t, "host", reflect.TypeFor[results.HostFacts](), host, nil)
	for _, key := range []string{"required", "properties"} {
		if !reflect.DeepEqual(host[key], defs["host"].(map[string]any)[key]) {
			t.Errorf("%s of a host differ between env/host.json and result.json", key)
		}
	}
}

func TestImage(t *testing.T) {
	good := `{"digest":"sha256:` + strings.Repeat("a", 64) + `","manifest":{"schema":"platter.image/1","format":2,"recipe":{"name":"root"},"recipe_digest":"sha256:x",` +
		`"packages":[{"name":"kmod","version":"1","architecture":"amd64"}],"outputs":{"vmlinuz":{"sha256":"sha256:` + strings.Repeat("b", 64) + `","size_bytes":1}},` +
		`"mirror":"","apt_options":null,"arch":"amd64","built_at":"2026-01-31T02:15:00Z","later":1}}`
	if err := Validate("image", []byte(good)); err != nil {
		t.Error(err)
	}
	for old, new := range map[string]string{
		"platter.image/1": "platter.image/2", `"size_bytes":1`: `"size_bytes":-1`, `"name":"kmod",`: "", `"sha256:bb`: `"b`, "2026-01-31T": "yesterday", `"digest":"sha256:a`: `"digest":"md5:a`,
	} {
		if bad := strings.Replace(good, old, new, 1); bad == good || Validate("image", []byte(bad)) == nil {
			t.Errorf("%s for %s: accepted", new, old)
		}
	}
}

func cover(t *testing.T, at string, typ reflect.Type, schema, defs map[string]any) {
	t.Helper()
	schema = resolve(schema, defs)
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
		if items, ok := schema["items"].(map[string]any); ok {
			schema = resolve(items, defs)
		}
	}
	if typ.Kind() != reflect.Struct || typ == reflect.TypeFor[time.Time]() {
		return
	}
	properties, _ := schema["properties"].(map[string]any)
	for i := range typ.NumField() {
		name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		property, ok := properties[name].(map[string]any)
		if !ok {
			t.Errorf("%s/%s: is in the Go type and not in the schema", at, name)
			continue
		}
		cover(t, at+"/"+name, typ.Field(i).Type, property, defs)
	}
	if len(properties) != typ.NumField() {
		t.Errorf("%s: the schema has %d properties, the Go type %d fields", at, len(properties), typ.NumField())
	}
}

// resolve follows a $ref, also inside a "null or this".
func resolve(schema, defs map[string]any) map[string]any {
	if either, ok := schema["oneOf"].([]any); ok {
		schema = either[len(either)-1].(map[string]any)
	}
	if ref, ok := schema["$ref"].(string); ok {
		return defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
	}
	return schema
}
