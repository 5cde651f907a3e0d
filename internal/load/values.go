package load

import (
	"strconv"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// text reads a scalar as written: 1, true and "1" are all texts.
func (d *document) text(n ast.Node, what string) (string, bool) {
	switch s := d.resolve(n).(type) {
	case *ast.StringNode:
		return s.Value, true
	case *ast.LiteralNode:
		return s.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return s.GetToken().Value, true
	case nil:
		return "", false
	default:
		d.fail(n, "%s must be a text, not %s", what, kindOf(s))
		return "", false
	}
}

// texts reads one text or a list of them.
func (d *document) texts(n ast.Node, what string) []pair {
	if n == nil {
		return nil
	}
	nodes := []ast.Node{n}
	if _, ok := d.resolve(n).(*ast.SequenceNode); ok {
		nodes = d.list(n, what)
	}
	var out []pair
	for _, e := range nodes {
		if s, ok := d.text(e, what); ok {
			out = append(out, pair{key: s, at: e})
		}
	}
	return out
}

// integer reads a whole number in low…high; absent (nil) leaves *to alone.
func (d *document) integer(n ast.Node, what string, low, high int64, to *int64) {
	if n == nil {
		return
	}
	s := d.resolve(n)
	if s == nil {
		return
	}
	i, ok := s.(*ast.IntegerNode)
	if !ok {
		d.fail(n, "%s must be a whole number, not %s", what, kindOf(s))
		return
	}
	v, err := strconv.ParseInt(i.GetToken().Value, 10, 64)
	if err != nil || v < low || v > high {
		d.fail(n, "%s is %s; write a whole number from %d to %d", what, i.GetToken().Value, low, high)
		return
	}
	*to = v
}

// number reads a number in low…high.
func (d *document) number(n ast.Node, what string, low, high float64, to *float64) {
	if n == nil {
		return
	}
	s := d.resolve(n)
	switch s.(type) {
	case nil:
		return
	case *ast.IntegerNode, *ast.FloatNode:
	default:
		d.fail(n, "%s must be a number, not %s", what, kindOf(s))
		return
	}
	v, err := strconv.ParseFloat(s.GetToken().Value, 64)
	if err != nil || !(v >= low && v <= high) {
		d.fail(n, "%s is %s; write a number from %g to %g", what, s.GetToken().Value, low, high)
		return
	}
	*to = v
}

// duration reads a text like 1.5s in low…high.
func (d *document) duration(n ast.Node, what string, low, high time.Duration, to *time.Duration) {
	if n == nil {
		return
	}
	s, ok := d.text(n, what)
	if !ok {
		return
	}
	v, err := time.ParseDuration(s)
	if err != nil {
		d.fail(n, "%s is %q; write a duration with a unit, for example 500ms, 5s or 1m", what, s)
		return
	}
	if v < low || v > high {
		d.fail(n, "%s is %s; write a duration from %s to %s", what, v, low, high)
		return
	}
	*to = v
}

// boolean reads true or false.
func (d *document) boolean(n ast.Node, what string, to *bool) {
	if n == nil {
		return
	}
	s := d.resolve(n)
	b, ok := s.(*ast.BoolNode)
	if s != nil && !ok {
		d.fail(n, "%s must be true or false, not %s", what, kindOf(s))
	}
	if ok {
		*to = b.Value
	}
}
