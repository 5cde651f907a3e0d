package stack

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"kasoku/internal/foreign"
)

// maxProblems bounds how many problems one error lists: enough to mend a file
// in one go, few enough to read.
const maxProblems = 10

// problem is one thing that is wrong in kasoku.yaml.
type problem struct {
	line, column int
	text         string
}

// document knows where each key of a YAML file stands, so that every problem
// can be told with its place.
type document struct {
	file     string
	at       map[string]*token.Token // by path, e.g. "services[0].kind"
	problems []problem
}

// report adds a problem at the path, or at its nearest parent that is written.
func (d *document) report(path, format string, args ...any) {
	p := problem{text: fmt.Sprintf(format, args...)}
	if path != "" {
		p.text = path + ": " + p.text
	}
	for {
		if t := d.at[path]; t != nil && t.Position != nil {
			p.line, p.column = t.Position.Line, t.Position.Column
			break
		}
		i := strings.LastIndexAny(path, ".[")
		if i < 0 {
			p.line, p.column = 1, 1
			break
		}
		path = path[:i]
	}
	d.problems = append(d.problems, p)
}

// err joins the problems, in the order of the file; nil if there are none.
func (d *document) err() error {
	if len(d.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(d.problems, func(a, b problem) int {
		if a.line != b.line {
			return a.line - b.line
		}
		return a.column - b.column
	})
	var lines []string
	for i, p := range d.problems {
		if i == maxProblems {
			lines = append(lines, fmt.Sprintf("%s: and %d more problems", d.file, len(d.problems)-i))
			break
		}
		lines = append(lines, fmt.Sprintf("%s:%d:%d: %s", d.file, p.line, p.column, p.text))
	}
	return errors.New(strings.Join(lines, "\n"))
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	resetType    = reflect.TypeFor[Reset]()
	commandType  = reflect.TypeFor[foreign.Command]()
	argvType     = reflect.TypeFor[foreign.Argv]()
)

// isText reports whether a node is a text, on one line or several.
func isText(n ast.Node) bool { return n.Type() == ast.StringType || n.Type() == ast.LiteralType }

// textOf is the text that a node is.
func textOf(n ast.Node) string {
	switch v := n.(type) {
	case *ast.StringNode:
		return v.Value
	case *ast.LiteralNode:
		return v.Value.Value
	}
	return ""
}

func isList(n ast.Node) bool {
	_, ok := n.(*ast.SequenceNode)
	return ok
}

// walk compares a node with the Go type it is for: unknown keys, wrong types
// and bad durations become problems; the place of every key is kept.
func (d *document) walk(n ast.Node, t reflect.Type, path string) {
	if n == nil {
		return
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch v := n.(type) {
	case *ast.AnchorNode:
		d.walk(v.Value, t, path)
		return
	case *ast.TagNode:
		d.walk(v.Value, t, path)
		return
	case *ast.NullNode:
		return
	case *ast.AliasNode:
		d.report(path, "YAML aliases are not read here; write the value out")
		return
	}
	switch {
	case t == durationType:
		d.walkDuration(n, path)
	case t == commandType && isList(n):
		d.walk(n, reflect.TypeFor[[]string](), path)
	case (t == commandType || t == argvType || t == resetType) && isText(n):
		if _, err := foreign.SplitWords(textOf(n)); err != nil {
			d.report(path, "%v", err)
		}
	case t.Kind() == reflect.Struct:
		d.walkStruct(n, t, path)
	case t.Kind() == reflect.Map:
		d.walkMap(n, path, func(string) (reflect.Type, bool) { return t.Elem(), true })
	case t.Kind() == reflect.Slice:
		seq, ok := n.(*ast.SequenceNode)
		if !ok {
			d.report(path, "must be a list; write [%s] or one \"- …\" line for each", short(n))
			return
		}
		for i, e := range seq.Values {
			p := fmt.Sprintf("%s[%d]", path, i)
			d.keep(p, e)
			d.walk(e, t.Elem(), p)
		}
	default:
		d.walkScalar(n, t, path)
	}
}

func (d *document) walkDuration(n ast.Node, path string) {
	s, ok := n.(*ast.StringNode)
	if !ok {
		d.report(path, "%s is not a duration; write a number with its unit, e.g. 30s, 500ms or 2m", short(n))
		return
	}
	v, err := time.ParseDuration(s.Value)
	if err != nil || v < 0 {
		d.report(path, "%q is not a duration; write a number with its unit, e.g. 30s, 500ms or 2m", s.Value)
	}
}

func (d *document) walkScalar(n ast.Node, t reflect.Type, path string) {
	ok, want := false, ""
	switch t.Kind() {
	case reflect.String:
		_, isString := n.(*ast.StringNode)
		_, isLiteral := n.(*ast.LiteralNode)
		ok, want = isString || isLiteral, "text; put it in quotes"
	case reflect.Int:
		_, ok = n.(*ast.IntegerNode)
		want = "a whole number"
	case reflect.Float64:
		_, isInt := n.(*ast.IntegerNode)
		_, isFloat := n.(*ast.FloatNode)
		ok, want = isInt || isFloat, "a number, e.g. 0.01"
	case reflect.Bool:
		_, ok = n.(*ast.BoolNode)
		want = "true or false"
	}
	if !ok {
		d.report(path, "%s must be %s", short(n), want)
	}
}

func (d *document) walkStruct(n ast.Node, t reflect.Type, path string) {
	fields := map[string]reflect.Type{}
	var names []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		if name != "" && name != "-" {
			fields[name] = t.Field(i).Type
			names = append(names, name)
		}
	}
	d.walkMap(n, path, func(key string) (reflect.Type, bool) {
		ft, ok := fields[key]
		if !ok {
			d.report(join(path, key), "unknown key; %s", unknownKey(path, key, names))
		}
		return ft, ok
	})
}

// walkMap visits the values of a mapping whose types typeOf tells.
func (d *document) walkMap(n ast.Node, path string, typeOf func(key string) (reflect.Type, bool)) {
	m, ok := n.(ast.MapNode)
	if !ok {
		d.report(path, "must be a section of \"key: value\" lines, not %s", short(n))
		return
	}
	for it := m.MapRange(); it.Next(); {
		if _, merge := it.Key().(*ast.MergeKeyNode); merge {
			d.keep(join(path, "<<"), it.Key())
			d.report(join(path, "<<"), "YAML merge keys are not read here; write the values out")
			continue
		}
		key := it.Key().GetToken().Value
		p := join(path, key)
		d.keep(p, it.Key())
		if t, ok := typeOf(key); ok {
			d.walk(it.Value(), t, p)
		}
	}
}

func (d *document) keep(path string, n ast.Node) {
	if n != nil && n.GetToken() != nil {
		d.at[path] = n.GetToken()
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// short is a node's text, cut to what fits in a message.
func short(n ast.Node) string {
	s := strings.Join(strings.Fields(n.String()), " ")
	if len(s) > 40 {
		s = strings.ToValidUTF8(s[:40], "") + "…"
	}
	return s
}

// unknownKey says what to write instead of an unknown key.
func unknownKey(path, key string, known []string) string {
	if strings.HasSuffix(path, "login") && key == "password" {
		return "the password itself is never written in kasoku.yaml: use password_file, password_env or defaults_file"
	}
	if best := nearest(key, known); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return "known here: " + strings.Join(known, ", ")
}

// nearest returns the known word that differs from s by at most two letters
// (a third of them in short words), "" if none does.
func nearest(s string, known []string) string {
	best, limit := "", min(2, max(1, len(s)/3))+1
	for _, k := range known {
		if n := editDistance(s, k); n < limit {
			best, limit = k, n
		}
	}
	return best
}

// editDistance is Levenshtein's (1965): insertions, deletions, substitutions.
func editDistance(a, b string) int {
	if len(a) > 64 {
		return len(a)
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
