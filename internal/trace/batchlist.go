package trace

import (
	"strings"

	"github.com/sqlc-dev/marino/ast"
	"github.com/sqlc-dev/marino/opcode"
)

// listForm is one SELECT for all keys of a loop. Its rows carry the key, so
// that the code can tell whose they are.
func listForm(text string, keys []string) Form {
	n, ok := parseSQL(text).(*ast.SelectStmt)
	if !ok || n.From == nil || n.Fields == nil || n.LockInfo != nil || len(n.WindowSpecs) > 0 {
		return Form{}
	}
	where, found := listed(n.Where, keys)
	if len(found) == 0 {
		return Form{}
	}
	n.Where = where
	grouped := n.GroupBy != nil || aggregates(n.Fields)
	notes := []string{withKey(n, found)}
	switch {
	case grouped && n.Limit != nil && n.GroupBy != nil:
		return Form{} // the best groups of each key: too far from the statement
	case grouped:
		n.Limit = nil // an aggregate has one row
		groupBy(n, found)
		notes = append(notes, "a key without rows is not in the answer: its count is 0")
	case n.Limit != nil && n.OrderBy != nil:
		return rankedForm(n, text, found)
	case n.Limit != nil:
		n.Limit = nil
		notes = append(notes, "LIMIT held for each key: where a key has several rows, take as many of them")
	}
	return noted(printSQL(n, text), append(notes, "put the rows in a map by the key")...)
}

// withKey adds the keys that the statement does not select and says so; "" if
// it has them all.
func withKey(n *ast.SelectStmt, keys []*ast.ColumnNameExpr) string {
	var added []string
	var fields []*ast.SelectField
	for _, k := range keys {
		if !selects(n.Fields, k) {
			fields = append(fields, &ast.SelectField{Expr: k})
			added = append(added, columnName(k))
		}
	}
	if len(added) == 0 {
		return ""
	}
	n.Fields = &ast.FieldList{Fields: append(fields, n.Fields.Fields...)}
	return strings.Join(added, ", ") + " is selected too, to tell the rows apart"
}

// selects says whether the list has the column, by itself or by *.
func selects(l *ast.FieldList, k *ast.ColumnNameExpr) bool {
	for _, f := range l.Fields {
		if w := f.WildCard; w != nil && (w.Table.O == "" || k.Name.Table.O == "" || strings.EqualFold(w.Table.O, k.Name.Table.O)) {
			return true
		}
		if c, ok := f.Expr.(*ast.ColumnNameExpr); ok && isOneOf(columnName(c), []string{columnName(k)}) && f.AsName.O == "" {
			return true
		}
	}
	return false
}

// groupBy makes one group of each key and of what was a group before.
func groupBy(n *ast.SelectStmt, keys []*ast.ColumnNameExpr) {
	items := byItems(keys)
	if n.GroupBy != nil {
		items = append(items, n.GroupBy.Items...)
	}
	n.GroupBy = &ast.GroupByClause{Items: items}
}

func byItems(keys []*ast.ColumnNameExpr) []*ast.ByItem {
	var out []*ast.ByItem
	for _, k := range keys {
		out = append(out, &ast.ByItem{Expr: k, NullOrder: true})
	}
	return out
}

// The names of what rankedForm adds.
const (
	rankName = "row_of_key"
	rankedBy = "ranked"
)

// rankedForm keeps a LIMIT of each key by numbering its rows: window functions,
// MariaDB since 10.2 and MySQL since 8.0.
func rankedForm(n *ast.SelectStmt, text string, keys []*ast.ColumnNameExpr) Form {
	limit := n.Limit.Count
	number := &ast.WindowFuncExpr{Name: "ROW_NUMBER", Spec: ast.WindowSpec{
		PartitionBy: &ast.PartitionByClause{Items: byItems(keys)}, OrderBy: n.OrderBy}}
	withKey(n, keys)
	n.Fields = &ast.FieldList{Fields: append(n.Fields.Fields, &ast.SelectField{Expr: number, AsName: ast.NewCIStr(rankName)})}
	n.OrderBy, n.Limit = nil, nil
	source := &ast.TableSource{Source: n, AsName: ast.NewCIStr(rankedBy)}
	outer := &ast.SelectStmt{SelectStmtOpts: &ast.SelectStmtOpts{SQLCache: true},
		Fields: &ast.FieldList{Fields: []*ast.SelectField{{WildCard: &ast.WildCardField{}}}},
		From:   &ast.TableRefsClause{TableRefs: &ast.Join{Left: source}},
		Where:  &ast.BinaryOperationExpr{Op: opcode.LE, L: name(rankName), R: limit}}
	return noted(printSQL(outer, text), "the first rows of each key; window functions need MariaDB 10.2 or MySQL 8.0", "put the rows in a map by the key")
}

// aggregates says whether a SELECT makes one row of many.
func aggregates(l *ast.FieldList) bool {
	f := &aggregateFinder{}
	for _, x := range l.Fields {
		if x.Expr != nil {
			x.Expr.Accept(f)
		}
	}
	return f.found
}

// aggregateFinder looks for COUNT, SUM, … outside of subqueries.
type aggregateFinder struct{ found bool }

func (f *aggregateFinder) Enter(n ast.Node) (ast.Node, bool) {
	switch n.(type) {
	case *ast.AggregateFuncExpr:
		f.found = true
	case *ast.SubqueryExpr:
		return n, true
	}
	return n, f.found
}

func (f *aggregateFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }
