package report

import (
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/html"
)

var vm = flag.Bool("vm", false, "run the tests that open pages in Chromium")

// shapes lists every element of a page with its attributes' names, once, and returns the text of the embedded report.
func shapes(t *testing.T, page string) (map[string]bool, string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	embedded := ""
	for node := range root.Descendants() {
		if node.Type != html.ElementNode {
			continue
		}
		var attributes []string
		for _, a := range node.Attr {
			attributes = append(attributes, a.Key)
			if a.Key == "id" && a.Val == "report" {
				embedded = node.FirstChild.Data
			}
		}
		slices.Sort(attributes)
		found[node.Data+" "+strings.Join(attributes, " ")] = true
	}
	return found, embedded
}

// TestHostileTextAddsNothing: whatever a guest writes, the page has no element and no attribute that a page of a good
// run lacks.
func TestHostileTextAddsNothing(t *testing.T) {
	good := map[string]bool{}
	for name, m := range models(t) {
		if name == "hostile" {
			continue
		}
		found, _ := shapes(t, printed(t, m, "html"))
		for shape := range found {
			good[shape] = true
		}
	}
	found, _ := shapes(t, printed(t, models(t)["hostile"], "html"))
	if len(found) < 20 {
		t.Fatalf("only %d shapes: the page was not read", len(found))
	}
	for shape := range found {
		if !good[shape] {
			t.Errorf("only the hostile page has <%s>", shape)
		}
	}
}

// TestPageCarriesItsNumbers: the page holds report.json, byte for byte what json.Marshal makes of the model.
func TestPageCarriesItsNumbers(t *testing.T) {
	for name, m := range models(t) {
		_, embedded := shapes(t, printed(t, m, "html"))
		want, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if embedded != string(want) {
			t.Errorf("%s: the embedded report is not the model", name)
		}
	}
}

// TestPageIsAlone: nothing in the page points outside it.
func TestPageIsAlone(t *testing.T) {
	outside := regexp.MustCompile(`(?i)(src|href|action|data)\s*=\s*["']?(?:[a-z]+:|//)|@import|url\(`)
	for name, m := range models(t) {
		page, _, _ := strings.Cut(printed(t, m, "html"), `<script type="application/json"`)
		if at := outside.FindString(page); at != "" {
			t.Errorf("%s: the page points outside with %q", name, at)
		}
	}
}

// TestBrowser opens pages in a real browser, from disk, in two widths: nothing is asked of the network, the console is
// silent, and every headline median is in what a reader sees.
func TestBrowser(t *testing.T) {
	if !*vm {
		t.Skip("needs -vm: opens pages in Chromium")
	}
	for _, name := range []string{"rich", "hostile"} {
		m := models(t)[name]
		path := filepath.Join(t.TempDir(), "report.html")
		if err := os.WriteFile(path, []byte(printed(t, m, "html")), 0o644); err != nil {
			t.Fatal(err)
		}
		dom, console, asked := browse(t, "--dump-dom", "file://"+path)
		if asked != 0 {
			t.Errorf("%s: %d requests to the network", name, asked)
		}
		if strings.Contains(console, "CONSOLE") {
			t.Errorf("%s: the console says\n%s", name, console)
		}
		for _, table := range m.Tables {
			for _, row := range table.Rows {
				for _, e := range row.Entries {
					if want := html.EscapeString(medianText(e, scale(table))); table.Headline && !strings.Contains(dom, want) {
						t.Errorf("%s: %s is not in the page as the browser has it", name, want)
					}
				}
			}
		}
		if name == "hostile" {
			continue // it is no sight
		}
		for _, width := range []int{390, 1280} {
			image := filepath.Join(t.TempDir(), fmt.Sprintf("%d.png", width))
			browse(t, fmt.Sprintf("--window-size=%d,2000", width), "--screenshot="+image, "file://"+path)
			if info, err := os.Stat(image); err != nil || info.Size() < 20_000 {
				t.Errorf("%s at %d: no picture worth the name: %v", name, width, err)
			}
		}
	}
}

// browse runs Chromium with a proxy that counts what it is asked for, and returns its output and its console.
func browse(t *testing.T, arguments ...string) (out, console string, asked int64) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var count atomic.Int64
	proxy := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isChromiumsOwn(r.Host) {
			t.Logf("asked for %s %s", r.Method, r.URL)
			count.Add(1)
		}
		http.Error(w, "no", http.StatusForbidden)
	})}
	go proxy.Serve(listener)
	defer proxy.Close()
	command := exec.Command("chromium", append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr",
		"--disable-background-networking", "--disable-component-update", "--user-data-dir=" + t.TempDir(),
		"--proxy-server=http://" + listener.Addr().String()}, arguments...)...)
	var stdout, stderr strings.Builder
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		t.Fatalf("chromium: %v\n%s", err, stderr.String())
	}
	return stdout.String(), stderr.String(), count.Load()
}

// isChromiumsOwn tells the browser's calls home, which come with any page, from what a page asks for.
func isChromiumsOwn(host string) bool {
	name, _, _ := strings.Cut(host, ":")
	return strings.HasSuffix(name, ".google.com") || strings.HasSuffix(name, ".googleapis.com") || strings.HasSuffix(name, ".gvt1.com")
}
