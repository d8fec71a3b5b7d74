package lab_test

import (
	"encoding/json"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// importRules are the walls of the house. Each names packages that must not appear among the dependencies of
// others, and why.
var importRules = []struct {
	who, not string   // package path prefixes; a trailing "!" means exactly this package
	except   []string // packages the rule does not bind
	why      string
}{
	{"platter/results!", "platter/", nil, "results is the lowest noun: it can be read without knowing the rest"},
	{"platter/images!", "platter/", nil, "images is a noun of its own"},
	{"platter/guest!", "platter/lab", nil, "the guest is told everything by a Job"},
	{"platter/guest!", "platter/images", nil, "the guest knows disks, not how images are made"},
	{"platter/guest/", "platter/lab", nil, "guest code stays small and free of the host"},
	{"platter/guest/", "platter/images", nil, "guest code stays small and free of the host"},
	{"platter/guest/", "github.com/digitalocean/go-libvirt", nil, "guest code stays small"},
	{"platter/guest/", "golang.org/x/crypto/ssh", nil, "guest code stays small"},
	{"platter/guest/", "github.com/urfave/cli", nil, "guest code stays small"},
	{"platter/cmd/platter-guest", "platter/lab", nil, "the guest binary stays small"},
	{"platter/lab!", "platter/lab/", nil, "nouns never import verbs"},
	{"platter/lab!", "platter/images/", nil, "nouns never import verbs"},
	{"platter/lab!", "platter/guest/", nil, "nouns never import verbs"},
	{"platter/lab!", "platter/results/", nil, "nouns never import verbs"},
	{"platter/images/", "platter/lab", nil, "images are built without knowing who boots them"},
	{"platter/images/", "platter/guest", nil, "images are built without knowing what runs in them"},
	{"platter/results/", "platter/lab", nil, "results outlive the lab that made them"},
	{"platter/results/", "platter/guest/", nil, "results outlive the guest that made them"},
	{"platter/", "github.com/digitalocean/go-libvirt", []string{"platter/lab/hypervisor", "platter/lab/runner", "platter/cmd/platter"},
		"libvirt is fenced in lab/hypervisor"},
	{"platter/", "golang.org/x/crypto/ssh", []string{"platter/lab/hypervisor", "platter/lab/remote", "platter/lab/runner", "platter/cmd/platter"},
		"SSH is fenced in lab/remote (go-libvirt links its own dialer)"},
}

// siblings are the verbs that may import verbs of their own folder.
var siblings = map[string]string{
	"platter/lab/runner":      "assembles its folder",
	"platter/guest/agent":     "assembles its folder",
	"platter/results/report":  "prints what results/stats computes from results/store",
	"platter/results/archive": "packs and takes apart what results/store reads and writes",
	"platter/images/cache":    "runs images/build under its lock",
}

// TestImports holds the architecture's walls: which package may depend on which.
func TestImports(t *testing.T) {
	deps := listDeps(t)
	for pkg, imports := range deps {
		for _, rule := range importRules {
			if !matches(pkg, rule.who) || contains(rule.except, pkg) {
				continue
			}
			for _, dep := range imports {
				if dep != pkg && strings.HasPrefix(dep, rule.not) {
					t.Errorf("%s depends on %s: %s", pkg, dep, rule.why)
				}
			}
		}
		checkSiblings(t, pkg, imports)
	}
}

func checkSiblings(t *testing.T, pkg string, imports []string) {
	parts := strings.Split(pkg, "/")
	if len(parts) < 3 || parts[1] == "cmd" || siblings[pkg] != "" {
		return
	}
	folder := strings.Join(parts[:2], "/") + "/"
	for _, dep := range imports {
		if dep != pkg && strings.HasPrefix(dep, folder) && siblings[dep] == "" && !strings.HasPrefix(dep, pkg+"/") && !pureSibling(dep) {
			t.Errorf("%s depends on %s: verbs of one folder do not import each other", pkg, dep)
		}
	}
}

// pureSibling reports packages that are pure functions and so may serve a sibling.
func pureSibling(pkg string) bool {
	return pkg == "platter/lab/domain" || pkg == "platter/images/build" || pkg == "platter/results/schema" || pkg == "platter/results/provenance"
}

func matches(pkg, who string) bool {
	if exact, ok := strings.CutSuffix(who, "!"); ok {
		return pkg == exact
	}
	return strings.HasPrefix(pkg, who)
}

func contains(list []string, pkg string) bool {
	for _, item := range list {
		if item == pkg {
			return true
		}
	}
	return false
}

func listDeps(t *testing.T) map[string][]string {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Deps", "platter/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	deps := map[string][]string{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Deps       []string
		}
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		deps[p.ImportPath] = p.Deps
	}
	if len(deps) == 0 {
		t.Fatal("go list named no package")
	}
	return deps
}
