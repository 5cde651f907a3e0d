package trace

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/sqlc-dev/marino/ast"
	"github.com/sqlc-dev/marino/format"
	"github.com/sqlc-dev/marino/opcode"
	"github.com/sqlc-dev/marino/parser"
)

// Names that stand in the tree for what no grammar knows: further values,
// further rows.
const (
	moreValues = "kasoku_more_values"
	moreRows   = "kasoku_more_rows"
	moreCases  = "kasoku_more_cases"
)

// parseSQL reads one statement with MariaDB's and MySQL's grammar; nil if it
// cannot. The library is fed text from logs, so its panics are caught.
func parseSQL(text string) (node ast.StmtNode) {
	defer func() {
		if recover() != nil {
			node = nil
		}
	}()
	p := parser.New()
	p.SetMariaDB(true)
	nodes, _, err := p.ParseSQL(text)
	if err != nil || len(nodes) != 1 {
		return nil
	}
	return nodes[0]
}

var reQuoted = regexp.MustCompile("`([^`]+)`")

// printSQL writes a tree; names are quoted where the statement had them so.
func printSQL(node ast.Node, from ...string) (text string) {
	defer func() {
		if recover() != nil {
			text = ""
		}
	}()
	var b strings.Builder
	flags := format.DefaultRestoreFlags | format.RestoreSpacesAroundBinaryOperation | format.RestoreStringWithoutDefaultCharset
	if err := node.Restore(format.NewRestoreCtx(flags, &b)); err != nil {
		return ""
	}
	all := strings.Join(from, "\n")
	text = reQuoted.ReplaceAllStringFunc(b.String(), func(q string) string {
		if strings.Contains(all, q) {
			return q
		}
		return q[1 : len(q)-1]
	})
	text = strings.ReplaceAll(text, "("+moreRows+")", "…")
	text = strings.ReplaceAll(text, " WHEN "+moreCases+" THEN "+moreCases, " …")
	text = strings.ReplaceAll(text, moreValues, "…")
	return tidy(text, all)
}

var (
	reComma  = regexp.MustCompile(`, *`)
	reAssign = regexp.MustCompile("([\\w)`])=([\\w?(`])")
)

// tidy writes what the library's printer writes otherwise as people do: it
// leaves out spaces, writes COUNT(*) as COUNT(1) and names rows.
func tidy(text, from string) string {
	text = reAssign.ReplaceAllString(reComma.ReplaceAllString(text, ", "), "$1 = $2")
	if !strings.Contains(from, "ROW(") {
		text = strings.ReplaceAll(text, "ROW(", "(")
	}
	if strings.Contains(strings.ToUpper(from), "COUNT(*)") {
		text = strings.ReplaceAll(text, "COUNT(1)", "COUNT(*)")
	}
	return text
}

func name(s string) *ast.ColumnNameExpr {
	return &ast.ColumnNameExpr{Name: &ast.ColumnName{Name: ast.NewCIStr(s)}}
}

func value() ast.ExprNode { return ast.NewParamMarkerExpr(0) }

// conjuncts are the conditions joined by AND.
func conjuncts(e ast.ExprNode) []ast.ExprNode {
	for {
		p, ok := e.(*ast.ParenthesesExpr)
		if !ok {
			break
		}
		e = p.Expr
	}
	if n, ok := e.(*ast.BinaryOperationExpr); ok && n.Op == opcode.LogicAnd {
		return append(conjuncts(n.L), conjuncts(n.R)...)
	}
	return []ast.ExprNode{e}
}

// isValue: a placeholder or a literal.
func isValue(e ast.ExprNode) bool {
	_, ok := e.(ast.ValueExpr)
	return ok
}

// columnName as written: "u.id".
func columnName(c *ast.ColumnNameExpr) string {
	if c.Name.Table.O != "" {
		return c.Name.Table.O + "." + c.Name.Name.O
	}
	return c.Name.Name.O
}

// isOneOf compares names as SQL does, without quotes, and without the table
// where one side has none.
func isOneOf(column string, names []string) bool {
	for _, n := range names {
		n = strings.ReplaceAll(n, "`", "")
		if strings.EqualFold(n, column) || strings.EqualFold(bare(n), bare(column)) && (!strings.Contains(n, ".") || !strings.Contains(column, ".")) {
			return true
		}
	}
	return false
}

// listed replaces the equalities of the keys among the conditions by one list.
// Without known keys it is the first equality, or one of a column named id. It
// returns the new condition and the keys; none if there are none.
func listed(where ast.ExprNode, keys []string) (ast.ExprNode, []*ast.ColumnNameExpr) {
	if where == nil {
		return nil, nil
	}
	all := conjuncts(where)
	equal := func(e ast.ExprNode) *ast.ColumnNameExpr {
		n, ok := e.(*ast.BinaryOperationExpr)
		if !ok || n.Op != opcode.EQ {
			return nil
		}
		l, r := n.L, n.R
		if isValue(l) {
			l, r = r, l
		}
		c, ok := l.(*ast.ColumnNameExpr)
		if !ok || !isValue(r) {
			return nil
		}
		return c
	}
	if len(keys) == 0 {
		for _, e := range all {
			if c := equal(e); c != nil && (len(keys) == 0 || strings.EqualFold(c.Name.Name.O, "id")) {
				keys = []string{columnName(c)}
			}
		}
	}
	var found []*ast.ColumnNameExpr
	var rest []ast.ExprNode
	at := -1
	for _, e := range all {
		if c := equal(e); c != nil && isOneOf(columnName(c), keys) {
			if at < 0 {
				at = len(rest)
				rest = append(rest, nil)
			}
			found = append(found, c)
			continue
		}
		rest = append(rest, e)
	}
	if len(found) == 0 {
		return nil, nil
	}
	rest[at] = inExpr(found)
	out := rest[0]
	for _, e := range rest[1:] {
		out = &ast.BinaryOperationExpr{Op: opcode.LogicAnd, L: out, R: e}
	}
	return out, found
}

// inExpr is "key IN (?, ?, …)", or "(a, b) IN ((?, ?), (?, ?), …)".
func inExpr(keys []*ast.ColumnNameExpr) ast.ExprNode {
	if len(keys) == 1 {
		return &ast.PatternInExpr{Expr: keys[0], List: []ast.ExprNode{value(), value(), name(moreValues)}}
	}
	row, values := &ast.RowExpr{}, &ast.RowExpr{}
	for _, k := range keys {
		row.Values = append(row.Values, k)
		values.Values = append(values.Values, value())
	}
	return &ast.PatternInExpr{Expr: row, List: []ast.ExprNode{values, values, name(moreValues)}}
}

// bulkForm is one write for all rows.
func bulkForm(text string, keys []string) Form {
	switch n := parseSQL(text).(type) {
	case *ast.InsertStmt:
		if len(n.Lists) == 0 {
			return Form{}
		}
		n.Setlist = false
		n.Lists = [][]ast.ExprNode{n.Lists[0], n.Lists[0], {name(moreRows)}}
		return noted(printSQL(n, text), "rows in the order of the primary key, so that two requests lock alike; one statement stays below max_allowed_packet")
	case *ast.DeleteStmt:
		where, found := listed(n.Where, keys)
		if len(found) == 0 || n.Limit != nil || n.IsMultiTable {
			return Form{}
		}
		n.Where = where
		return noted(printSQL(n, text), "")
	case *ast.UpdateStmt:
		return updateForm(n, text, keys)
	}
	return Form{}
}

// updateForm picks each row's values by CASE; values that are literals are the
// same in fingerprints as placeholders, so each ? gets a CASE.
func updateForm(n *ast.UpdateStmt, text string, keys []string) Form {
	where, found := listed(n.Where, keys)
	if len(found) != 1 || n.Limit != nil || n.MultipleTable {
		return Form{}
	}
	n.Where = where
	note := ""
	for _, a := range n.List {
		if !hasValue(a.Expr) {
			continue
		}
		when := func(v, r ast.ExprNode) *ast.WhenClause { return &ast.WhenClause{Expr: v, Result: r} }
		a.Expr = &ast.CaseExpr{Value: found[0], WhenClauses: []*ast.WhenClause{when(value(), a.Expr), when(value(), a.Expr), when(name(moreCases), name(moreCases))}}
		note = "a column that gets the same value in all rows needs no CASE"
	}
	return noted(printSQL(n, text), note)
}

func hasValue(e ast.ExprNode) bool {
	f := &valueFinder{}
	e.Accept(f)
	return f.found
}

// valueFinder looks for a placeholder or literal.
type valueFinder struct{ found bool }

func (f *valueFinder) Enter(n ast.Node) (ast.Node, bool) {
	if e, ok := n.(ast.ExprNode); ok && isValue(e) {
		f.found = true
	}
	return n, f.found
}

func (f *valueFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func noted(text string, notes ...string) Form {
	if text == "" {
		return Form{}
	}
	out := Form{Text: text}
	for _, n := range notes {
		if n != "" {
			out.Notes = append(out.Notes, n)
		}
	}
	return out
}

// mergedForm is one SELECT with the columns of all; they have the same table
// and condition.
func mergedForm(statements []string) Form {
	var first *ast.SelectStmt
	seen := map[string]bool{}
	var fields []*ast.SelectField
	for _, text := range statements {
		n, ok := parseSQL(text).(*ast.SelectStmt)
		if !ok || n.Fields == nil || n.From == nil {
			return Form{}
		}
		if first == nil {
			first = n
		}
		for _, f := range n.Fields.Fields {
			if f.WildCard != nil {
				first.Fields = &ast.FieldList{Fields: []*ast.SelectField{f}}
				return noted(printSQL(first, statements...), "one of them reads all columns already: take the others' from its row")
			}
			if key := fmt.Sprint(printSQL(f, statements...)); !seen[key] {
				seen[key] = true
				fields = append(fields, f)
			}
		}
	}
	if len(statements) < 2 || first == nil {
		return Form{}
	}
	first.Fields = &ast.FieldList{Fields: fields}
	return noted(printSQL(first, statements...), "")
}
