package patch

import (
	"slices"
	"strings"

	"kasoku/internal/lazyregexp"
)

// checkLayout: there is room for statements before the loop and before the read.
func (w *phpWriter) checkLayout() *Refusal {
	stmt, _, _ := phpStatement(w.at)
	for _, n := range []*phpNode{w.loop.node, stmt} {
		if n == nil || !w.f.room(n) {
			return refuse("layout", "no statement can be put before line %d", n.Line)
		}
	}
	if w.via == nil && !w.f.firstOnLine(stmt) {
		return refuse("layout", "line %d has more than the read", stmt.Line)
	}
	n := w.at
	if w.via == nil {
		n = w.read.fetch
	}
	for loop := n.Around(phpLoops...); loop != nil && loop.Within(w.loop.node); loop = loop.Around(phpLoops...) {
		if loop != w.read.each && headOf(loop, n) && !(loop.Is("Stmt_Foreach") && n.Within(loop.Node("expr"))) {
			return refuse("layout", "the read stands in the head of a loop")
		}
	}
	return nil
}

// headOf: a node stands in a loop, but not in its body.
func headOf(loop, n *phpNode) bool {
	return n.Within(loop) && !slices.ContainsFunc(loop.List("stmts"), n.Within)
}

// room: a statement can be put before one.
func (f *file) room(n *phpNode) bool {
	if strings.HasPrefix(f.phpText(n), "<?") {
		return false
	}
	before := strings.TrimRight(string(f.src[:n.From]), " \t\n")
	return phpRoom.MatchString(before[max(0, len(before)-8):]) || !strings.HasSuffix(before, ")") && len(n.Parent.List("stmts")) > 1
}

var phpRoom = lazyregexp.New(`([{};:]|\*/|<\?php|<\?)$`)

func (f *file) firstOnLine(n *phpNode) bool {
	return strings.TrimSpace(string(f.src[f.lineStart(n.From):n.From])) == ""
}
