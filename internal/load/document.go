package load

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

const (
	// maxErrors shown at once; more help nobody.
	maxErrors = 20
	// maxVisits bounds the nodes read, so that aliases of aliases cannot make
	// a small file endless. The largest real scenario needs some thousands.
	maxVisits = 200_000
	// maxNesting of values.
	maxNesting = 64
	// maxOpen brackets at a place of the file: the YAML library needs time
	// that grows with the square of the nesting.
	maxOpen = 1000
)

// document reads values from a YAML file and collects what is wrong with
// them. Each error is "file:line:column: what; what to do".
type document struct {
	name    string
	anchors map[string]ast.Node
	visits  int
	errs    []error
	files   []string // that it names and that were read
}

// reads notes a file that the document names.
func (d *document) reads(path string) {
	if !slices.Contains(d.files, path) {
		d.files = append(d.files, path)
	}
}

// pair is one key of a mapping. at is the key's place.
type pair struct {
	key   string
	at    ast.Node
	value ast.Node
}

// openDocument parses src. The YAML library is foreign code on foreign input:
// a panic in it becomes an error about the file.
func openDocument(name string, src []byte) (d *document, root ast.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			d, root, err = nil, nil, fmt.Errorf("%s:1:1: cannot be read as YAML (%v)", name, r)
		}
	}()
	if tooNested(src) {
		return nil, nil, fmt.Errorf("%s:1:1: has more than %d brackets that are not closed; this is no scenario", name, maxOpen)
	}
	file, err := parser.ParseBytes(src, 0)
	if err != nil {
		return nil, nil, yamlError(name, err)
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nil, nil, fmt.Errorf("%s:1:1: is empty; docs/reference/scenario.md shows a complete scenario", name)
	}
	if len(file.Docs) > 1 {
		return nil, nil, fmt.Errorf("%s:1:1: has %d YAML documents; write one, without --- lines in between", name, len(file.Docs))
	}
	d = &document{name: name, anchors: map[string]ast.Node{}}
	ast.Walk(anchorVisitor{d}, file.Docs[0].Body)
	return d, file.Docs[0].Body, nil
}

// tooNested counts brackets without regard to quotes: no real file comes near
// the bound either way.
func tooNested(src []byte) bool {
	open := 0
	for _, c := range src {
		switch c {
		case '[', '{':
			if open++; open > maxOpen {
				return true
			}
		case ']', '}':
			open = max(open-1, 0)
		}
	}
	return false
}

// yamlError makes the library's error one line with the place in front.
func yamlError(name string, err error) error {
	var y yaml.Error
	if !errors.As(err, &y) || y.GetToken() == nil || y.GetToken().Position == nil {
		return fmt.Errorf("%s:1:1: not valid YAML: %w", name, err)
	}
	p := y.GetToken().Position
	return fmt.Errorf("%s:%d:%d: not valid YAML: %s", name, p.Line, p.Column, y.GetMessage())
}

// anchorVisitor collects &anchors, so that *aliases can be followed.
type anchorVisitor struct{ d *document }

func (v anchorVisitor) Visit(n ast.Node) ast.Visitor {
	if a, ok := n.(*ast.AnchorNode); ok && a.Name != nil {
		v.d.anchors[a.Name.GetToken().Value] = a.Value
	}
	return v
}

// fail notes an error at a node.
func (d *document) fail(n ast.Node, format string, args ...any) {
	line, column := 1, 1
	if n != nil {
		if t := place(n).GetToken(); t != nil && t.Position != nil {
			line, column = t.Position.Line, t.Position.Column
		}
	}
	d.errs = append(d.errs, fmt.Errorf("%s:%d:%d: %s", d.name, line, column, fmt.Sprintf(format, args...)))
}

// place is the node whose token is where a reader would look: a mapping's own
// token is its first colon.
func place(n ast.Node) ast.Node {
	switch m := n.(type) {
	case *ast.MappingNode:
		if !m.IsFlowStyle && len(m.Values) > 0 {
			return m.Values[0].Key
		}
	case *ast.MappingValueNode:
		return m.Key
	}
	return n
}

// err joins what was collected, in the order of the file.
func (d *document) err() error {
	if len(d.errs) <= maxErrors {
		return errors.Join(d.errs...)
	}
	more := fmt.Errorf("%s: and %d more", d.name, len(d.errs)-maxErrors)
	return errors.Join(append(slices.Clone(d.errs[:maxErrors]), more)...)
}

// resolve follows anchors and aliases.
func (d *document) resolve(n ast.Node) ast.Node {
	for range maxNesting {
		if d.visits++; d.visits > maxVisits {
			if d.visits == maxVisits+1 {
				d.fail(n, "the aliases unfold to more than %d values; write fewer", maxVisits)
			}
			return nil
		}
		switch v := n.(type) {
		case *ast.AnchorNode:
			n = v.Value
		case *ast.AliasNode:
			to, ok := d.anchors[v.Value.GetToken().Value]
			if !ok {
				d.fail(n, "*%s names no anchor", v.Value.GetToken().Value)
				return nil
			}
			n = to
		default:
			return n
		}
	}
	d.fail(n, "the alias leads to itself")
	return nil
}

// pairs of a mapping in the order of the file. what names it in errors.
func (d *document) pairs(n ast.Node, what string) []pair {
	n = d.resolve(n)
	var values []*ast.MappingValueNode
	switch m := n.(type) {
	case nil:
		return nil
	case *ast.MappingNode:
		values = m.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{m}
	default:
		d.fail(n, "%s must be keys with values, not %s", what, kindOf(n))
		return nil
	}
	var out []pair
	seen := map[string]bool{}
	for _, v := range values {
		if v.Key == nil || v.Key.IsMergeKey() || v.Key.GetToken() == nil {
			d.fail(n, "%s: merge keys (<<) are not supported; repeat the keys", what)
			continue
		}
		if _, odd := v.Key.(*ast.MappingKeyNode); odd {
			d.fail(v.Key, "%s: write keys as `key: value`", what)
			continue
		}
		key := v.Key.GetToken().Value
		if seen[key] {
			d.fail(v.Key, "%s: %q stands twice; keep one", what, key)
			continue
		}
		seen[key] = true
		out = append(out, pair{key: key, at: v.Key, value: v.Value})
	}
	return out
}

// object reads a mapping whose keys are known; others are errors.
func (d *document) object(n ast.Node, what string, known ...string) map[string]ast.Node {
	out := map[string]ast.Node{}
	for _, p := range d.pairs(n, what) {
		if !slices.Contains(known, p.key) {
			d.fail(p.at, "%s: unknown key %q; %s", what, p.key, suggest(p.key, known))
			continue
		}
		if isNull(d.resolve(p.value)) {
			d.fail(p.at, "%s: %s has no value; give one or remove the key", what, p.key)
			continue
		}
		out[p.key] = p.value
	}
	return out
}

func isNull(n ast.Node) bool {
	_, null := n.(*ast.NullNode)
	return n == nil || null
}

// list reads a sequence.
func (d *document) list(n ast.Node, what string) []ast.Node {
	if n == nil {
		return nil
	}
	switch s := d.resolve(n).(type) {
	case *ast.SequenceNode:
		return s.Values
	case nil:
	default:
		d.fail(n, "%s must be a list, not %s", what, kindOf(s))
	}
	return nil
}

// kindOf names a node's type for people.
func kindOf(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "keys with values"
	case *ast.SequenceNode:
		return "a list"
	case *ast.IntegerNode, *ast.FloatNode:
		return fmt.Sprintf("the number %s", n.GetToken().Value)
	case *ast.BoolNode:
		return n.GetToken().Value
	case *ast.NullNode:
		return "nothing"
	case *ast.StringNode, *ast.LiteralNode:
		return fmt.Sprintf("the text %q", shorten(n.GetToken().Value, 40))
	default:
		return "a YAML " + strings.ToLower(n.Type().String())
	}
}

// suggest names the known word closest to a wrong one, or all.
func suggest(wrong string, known []string) string {
	best, least := "", len(wrong)/2+1
	for _, k := range known {
		if n := editDistance(strings.ToLower(wrong), k); n < least {
			best, least = k, n
		}
	}
	if best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	if len(known) == 0 {
		return "none is known here"
	}
	all := slices.Clone(known)
	sort.Strings(all)
	return "known are " + strings.Join(all, ", ")
}

// editDistance is Levenshtein's, in bytes; for short words.
func editDistance(a, b string) int {
	if len(a) > maxNesting || len(b) > maxNesting {
		return max(len(a), len(b))
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// shorten cuts a text to at most n bytes for a message.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
