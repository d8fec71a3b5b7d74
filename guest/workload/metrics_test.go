package workload

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"platter/results"
)

// TestMetricsAreRegistered finds every metric the workloads name in their source and wants it in the registry with the unit
// its name says: a number without unit and direction could not be printed or judged.
func TestMetricsAreRegistered(t *testing.T) {
	names := namesInSource(t)
	for _, p := range percentilesWith(99.5) {
		names[p.name] = true
	}
	for name := range names {
		if _, known := results.LookupMetric(name); !known {
			t.Errorf("%s is not in results/registry.go", name)
		}
	}
	if len(names) < 45 {
		t.Errorf("only %d names found: the test looks in the wrong places", len(names))
	}
}

// TestNoToolsOutputIsParsed (K11, dialects of load generators): the loads are ours and hand their numbers over as numbers.
// This package starts no program, so no tool's text is read, in whatever dialect.
func TestNoToolsOutputIsParsed(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			if i.Path.Value == `"os/exec"` {
				t.Errorf("%s starts programs", name)
			}
		}
	}
}

// namesInSource are all string constants of this package's source that are shaped like a metric's name and are used as one:
// passed to add, missing or rate of metrics, listed for a loop over them, or given as the Name of a results.Metric. Names of
// the per-second series are none.
func namesInSource(t *testing.T) map[string]bool {
	t.Helper()
	source := func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }
	packages, err := parser.ParseDir(token.NewFileSet(), ".", source, 0) //nolint:staticcheck // one package without build tags
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	collect := func(e ast.Expr) {
		ast.Inspect(e, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if name, err := strconv.Unquote(lit.Value); err == nil && results.CheckMetricName(name) == nil {
					names[name] = true
				}
			}
			return true
		})
	}
	for _, p := range packages {
		ast.Inspect(p, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && (f.Sel.Name == "add" || f.Sel.Name == "missing" || f.Sel.Name == "rate") && len(n.Args) > 1 {
					collect(n.Args[0])
				}
			case *ast.RangeStmt:
				collect(n.X)
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Name" {
					collect(n.Value)
				}
			}
			return true
		})
	}
	return names
}
