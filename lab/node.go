package lab

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// kind tells what a node holds.
type kind string

// The kinds of a node, named as a message names them.
const (
	isMapping  kind = "a mapping"
	isSequence kind = "a list"
	isText     kind = "text"
	isInteger  kind = "a whole number"
	isFloat    kind = "a number"
	isBool     kind = "true or false"
	isNull     kind = "nothing"
)

// node is one value of a study as written, and where. The tree is our own so that a scale or a --set can replace
// any part of it before decoding, and each part still knows who said it.
type node struct {
	kind  kind
	where Where
	text  string // scalars: as written, without quotes
	keys  []entry
	items []*node
}

// entry is one key of a mapping, in the order written.
type entry struct {
	key   string
	where Where
	value *node
}

// get returns the value of a key, or nil.
func (n *node) get(key string) *node {
	for _, e := range n.keys {
		if e.key == key {
			return e.value
		}
	}
	return nil
}

// names returns the keys in the order written.
func (n *node) names() []string {
	names := make([]string, len(n.keys))
	for i, e := range n.keys {
		names[i] = e.key
	}
	return names
}

// reader turns YAML into nodes and collects what is wrong with it.
type reader struct {
	at     Where // file or --set that is read
	faults Faults
}

// parse reads one YAML document. A syntax error is the only fault then, since nothing behind it can be trusted.
func (r *reader) parse(data []byte) *node {
	file, err := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		r.syntax(err)
		return nil
	}
	var body ast.Node
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if body != nil {
			r.fault(r.place(doc.Body), "", "a second document; a study is one document")
			return nil
		}
		body = doc.Body
	}
	if body == nil {
		return &node{kind: isNull, where: r.at}
	}
	return r.convert(body, "")
}

func (r *reader) syntax(err error) {
	where, problem := r.at, err.Error()
	var positioned yaml.Error
	if errors.As(err, &positioned) {
		problem = positioned.GetMessage()
		if tok := positioned.GetToken(); tok != nil && where.Set == "" {
			where.Line, where.Column = tok.Position.Line, tok.Position.Column
		}
	}
	r.fault(where, "", "not valid YAML: "+problem)
}

func (r *reader) fault(where Where, path, problem string) {
	r.faults = append(r.faults, Fault{Where: where, Path: path, Problem: problem})
}

// place is where a node of the YAML tree stands. A mapping's own token is the colon of its first key, so the key counts.
func (r *reader) place(n ast.Node) Where {
	where := r.at
	if where.Set != "" {
		return where
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return r.place(n.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return r.place(n.Key)
	}
	if tok := n.GetToken(); tok != nil {
		where.Line, where.Column = tok.Position.Line, tok.Position.Column
	}
	return where
}

func (r *reader) convert(n ast.Node, path string) *node {
	out := &node{where: r.place(n)}
	switch n := n.(type) {
	case *ast.MappingNode:
		return r.mapping(out, n.Values, path)
	case *ast.MappingValueNode:
		return r.mapping(out, []*ast.MappingValueNode{n}, path)
	case *ast.SequenceNode:
		out.kind = isSequence
		for i, item := range n.Values {
			out.items = append(out.items, r.convert(item, join(path, fmt.Sprint(i))))
		}
	case *ast.StringNode:
		out.kind, out.text = isText, n.Value
	case *ast.LiteralNode:
		out.kind, out.text = isText, n.Value.Value
	case *ast.IntegerNode:
		out.kind, out.text = isInteger, n.Token.Value
	case *ast.FloatNode:
		out.kind, out.text = isFloat, n.Token.Value
	case *ast.BoolNode:
		out.kind, out.text = isBool, n.Token.Value
	case *ast.NullNode:
		out.kind = isNull
	default:
		// Anchors, aliases, tags and merge keys let one line mean another; a study says everything where it stands.
		r.fault(out.where, path, fmt.Sprintf("YAML %s is not part of the study language", strings.ToLower(n.Type().String())))
		out.kind = isNull
	}
	return out
}

func (r *reader) mapping(out *node, values []*ast.MappingValueNode, path string) *node {
	out.kind = isMapping
	seen := map[string]Where{}
	for _, v := range values {
		where := r.place(v.Key)
		scalar, ok := v.Key.(ast.ScalarNode)
		if !ok || v.Key.IsMergeKey() {
			r.fault(where, path, "a key must be plain text; merge keys and nested keys are not part of the study language")
			continue
		}
		key := scalar.GetToken().Value
		at := join(path, key)
		if first, twice := seen[key]; twice {
			r.fault(where, at, fmt.Sprintf("key given twice, first in line %d", first.Line))
			continue
		}
		seen[key] = where
		out.keys = append(out.keys, entry{key: key, where: where, value: r.convert(v.Value, at)})
	}
	return out
}

// join appends a key to a path.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
