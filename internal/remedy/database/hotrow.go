package database

import (
	"fmt"
	"strings"

	"github.com/sqlc-dev/marino/ast"
	"github.com/sqlc-dev/marino/opcode"
	"github.com/sqlc-dev/marino/parser"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// maxCounterRows: a counter table has a row per kind of number. More rows mean
// data, which a transaction must be able to roll back.
const maxCounterRows = 100

// planHotRow gives a counter's table an engine that locks it for the statement
// and not until commit.
func planHotRow(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc, db := in.Stack.Service(f.Service), in.Snapshot.Databases[f.Service]
	if svc == nil || db == nil {
		return nil, fmt.Errorf("the schema of %s is not known", f.Service)
	}
	schema, name := f.Subject["schema"], f.Subject["table"]
	t := tableOf(db, schema, name)
	if t == nil {
		return nil, fmt.Errorf("table %s.%s is not in the snapshot", schema, name)
	}
	if why := keepsEngine(svc, db, t); why != "" {
		return nil, fmt.Errorf("%s.%s keeps its engine, because %s; the source is the place to mend it: IDs made in the application, or AUTO_INCREMENT", schema, name, why)
	}
	if why := counterOnly(in.Evidence.Statements, svc.Name, t); why != "" {
		return nil, fmt.Errorf("%s.%s keeps its engine, because %s", schema, name, why)
	}
	c := change.Change{Kind: change.KindTable, Host: planning.HostOf(svc), Service: svc.Name,
		Table: &change.Table{Schema: schema, Name: name, Engine: "Aria", Before: t.Engine}}
	c.Command = c.SQL()
	c.Why = f.Text + " In Aria the row is free again when the statement ends. What changes: an increment takes effect at once and stays when its transaction is rolled back, as with AUTO_INCREMENT; numbers may become visible in another order than they were given out; backups with --single-transaction read this table as it is at that moment. Each increment waits until Aria's log is on disk (aria_group_commit), so the table itself is safe in a crash, but not together with InnoDB's tables: after one, numbers may be missing; and where the disk is slow to flush, the counter is bound by that. No statement of the run reads the counter back or locks it; a program that was not part of the run must not either."
	return []planning.Plan{{ID: fmt.Sprintf("mariadb.hot-row:%s:%s.%s", svc.Name, schema, name),
		Title:   fmt.Sprintf("Let %s.%s give out numbers without holding its row until commit", schema, name),
		Why:     c.Why,
		Trades:  []regulation.Trade{regulation.Isolation, regulation.Durability},
		Changes: []change.Change{c}}}, nil
}

func tableOf(db *evidence.Database, schema, name string) *evidence.Table {
	for i := range db.Tables {
		if t := &db.Tables[i]; strings.EqualFold(t.Schema, schema) && strings.EqualFold(t.Name, name) {
			return t
		}
	}
	return nil
}

// keepsEngine says what about server or table forbids the change, "" if nothing.
func keepsEngine(svc *stack.Service, db *evidence.Database, t *evidence.Table) string {
	v := func(name string) string { return strings.ToUpper(db.Variables[name]) }
	for i := range db.Tables {
		for _, k := range db.Tables[i].ForeignKeys {
			if strings.EqualFold(k.RefSchema, t.Schema) && strings.EqualFold(k.RefTable, t.Name) {
				return fmt.Sprintf("%s.%s refers to it with a foreign key", db.Tables[i].Schema, db.Tables[i].Name)
			}
		}
	}
	switch {
	case svc.Kind != stack.MariaDB || !db.MariaDB:
		return "MySQL has no engine that locks for the statement only and survives a crash (MyISAM does not)"
	case !strings.EqualFold(t.Engine, "InnoDB"):
		return "it is no InnoDB table but " + t.Engine
	case t.Rows > maxCounterRows:
		return fmt.Sprintf("it has about %d rows, more than the %d of a table of counters", t.Rows, maxCounterRows)
	case len(t.ForeignKeys) > 0:
		return "it has a foreign key"
	case t.Triggers > 0:
		return "it has triggers"
	case v("wsrep_on") == "ON" || v("wsrep_on") == "1":
		return "a Galera cluster replicates InnoDB only"
	case diagnose.On(db.Variables["log_bin"]) && v("binlog_format") == "STATEMENT":
		// MariaDB Knowledge Base, "Unsafe Statements for Statement-based
		// Replication": a transaction over several engines.
		return "the binary log holds statements (binlog_format), which is unsafe for transactions over several engines"
	}
	return ""
}

// counterOnly says which statement of the run forbids the change: every one on
// the table must be an increment that needs no lock beyond itself.
func counterOnly(statements []evidence.Statement, service string, t *evidence.Table) string {
	increments := 0
	for _, s := range statements {
		if s.Service != service || !mentions(s, t) {
			continue
		}
		ok, why := increment(s, t)
		if !ok {
			return fmt.Sprintf("a statement of the run %s: %s", why, s.Fingerprint)
		}
		increments++
	}
	if increments == 0 {
		return "no statement of the run that changes it was recorded"
	}
	return ""
}

// mentions says whether a statement names the table; where it cannot be parsed,
// the word is enough.
func mentions(s evidence.Statement, t *evidence.Table) bool {
	if !strings.Contains(strings.ToLower(s.Fingerprint+" "+s.Example), strings.ToLower(t.Name)) {
		return false
	}
	node, err := parseSQL(s)
	if err != nil {
		return true
	}
	found := tableNames{}
	node.Accept(&found)
	for _, n := range found.names {
		schema := n.Schema.L
		if schema == "" {
			schema = strings.ToLower(s.Schema)
		}
		if n.Name.L == strings.ToLower(t.Name) && (schema == "" || schema == strings.ToLower(t.Schema)) {
			return true
		}
	}
	return false
}

type tableNames struct{ names []*ast.TableName }

func (v *tableNames) Enter(n ast.Node) (ast.Node, bool) {
	if t, ok := n.(*ast.TableName); ok {
		v.names = append(v.names, t)
	}
	return n, false
}

func (v *tableNames) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// parseSQL reads the example, or else the fingerprint. The grammar is fed text
// from logs, so its panics become errors.
func parseSQL(s evidence.Statement) (node ast.StmtNode, err error) {
	defer func() {
		if r := recover(); r != nil {
			node, err = nil, fmt.Errorf("the grammar gave up: %v", r)
		}
	}()
	for _, text := range []string{s.Example, strings.ReplaceAll(s.Fingerprint, "?+", "?")} {
		if text == "" {
			continue
		}
		p := parser.New()
		p.SetMariaDB(true)
		var nodes []ast.StmtNode
		if nodes, _, err = p.ParseSQL(text); err == nil && len(nodes) == 1 {
			return nodes[0], nil
		}
	}
	return nil, fmt.Errorf("it cannot be parsed: %v", err)
}

// increment says whether a statement on the table is right without a lock that
// outlives it: UPDATE t SET a = a + 1, or a = LAST_INSERT_ID(a + 1), whose value
// the session has to itself. What reads the counter and then writes it, or
// increments it and then reads it back, relies on the row being locked.
func increment(s evidence.Statement, t *evidence.Table) (ok bool, why string) {
	node, err := parseSQL(s)
	if err != nil {
		return false, "cannot be parsed"
	}
	u, is := node.(*ast.UpdateStmt)
	if !is {
		return false, "does not only increment"
	}
	found := tableNames{}
	u.Accept(&found)
	if len(found.names) != 1 {
		return false, "joins or reads other tables"
	}
	for _, set := range u.List {
		if !addsTo(set.Column, set.Expr) {
			return false, "sets " + set.Column.Name.O + " to something else than itself plus a number"
		}
	}
	return len(u.List) > 0, "sets nothing"
}

// addsTo says whether e is column + constant, column - constant, or
// LAST_INSERT_ID of that.
func addsTo(column *ast.ColumnName, e ast.ExprNode) bool {
	for {
		p, ok := e.(*ast.ParenthesesExpr)
		if !ok {
			break
		}
		e = p.Expr
	}
	if f, ok := e.(*ast.FuncCallExpr); ok {
		return f.FnName.L == "last_insert_id" && len(f.Args) == 1 && addsTo(column, f.Args[0])
	}
	b, ok := e.(*ast.BinaryOperationExpr)
	if !ok || b.Op != opcode.Plus && b.Op != opcode.Minus {
		return false
	}
	isColumn := func(e ast.ExprNode) bool {
		c, ok := e.(*ast.ColumnNameExpr)
		return ok && c.Name.Name.L == column.Name.L
	}
	isNumber := func(e ast.ExprNode) bool {
		_, literal := e.(ast.ValueExpr)
		_, marker := e.(ast.ParamMarkerExpr)
		return literal || marker
	}
	return isColumn(b.L) && isNumber(b.R) || b.Op == opcode.Plus && isNumber(b.L) && isColumn(b.R)
}
