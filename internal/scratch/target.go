package scratch

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sqlc-dev/marino/ast"
	"github.com/sqlc-dev/marino/format"
	"github.com/sqlc-dev/marino/parser"
)

// target is a statement that reads copies.
type target struct {
	// text reads the tables of the schema that is in use, and names no other.
	text string
	// tables that it names: schema and name.
	tables [][2]string
	// runs: it may be run, not only explained; why says why not.
	runs bool
	why  string
}

// aim takes a statement for one that reads the tables of scratch: names with a schema
// get that schema. Names without one are looked up in the schema that is in use.
func aim(sql, schema, scratch string) (t target, err error) {
	node, err := parseOne(sql)
	if err != nil {
		return t, err
	}
	v := &names{schema: schema, ctes: map[string]bool{}}
	node.Accept(v)
	if v.err != nil {
		return t, v.err
	}
	switch n := node.(type) {
	case *ast.SelectStmt, *ast.SetOprStmt:
		t.runs, t.why = true, ""
	case *ast.UpdateStmt:
		if n.MultipleTable || n.TableRefs != nil && n.TableRefs.TableRefs != nil && n.TableRefs.TableRefs.Right != nil {
			return t, errors.New("it changes several tables")
		}
		t.why = "it writes, so it is explained only"
	case *ast.DeleteStmt:
		if n.IsMultiTable {
			return t, errors.New("it deletes from several tables")
		}
		t.why = "it writes, so it is explained only"
	default:
		return t, errors.New("it is none of SELECT, UPDATE and DELETE")
	}
	if v.impure != "" && t.runs {
		t.runs, t.why = false, fmt.Sprintf("it calls %s, which may do more than compute, so it is explained only", v.impure)
	}
	t.tables = v.tables
	t.text = strings.TrimRight(strings.TrimSpace(sql), "; \t\r\n") + "\n" // a comment at the end ends here
	if !v.qualified {
		return t, nil
	}
	node.Accept(&renamer{scratch: scratch})
	var b strings.Builder
	flags := format.DefaultRestoreFlags | format.RestoreStringEscapeBackslash | format.RestoreStringWithoutCharset
	if err := node.Restore(format.NewRestoreCtx(flags, &b)); err != nil {
		return t, fmt.Errorf("it cannot be written for the copies: %w", err)
	}
	t.text = b.String()
	return t, only(t.text, scratch)
}

// only reports an error unless every table that a statement names with a schema is one of
// scratch.
func only(sql, scratch string) error {
	node, err := parseOne(sql)
	if err != nil {
		return fmt.Errorf("it cannot be written for the copies: %w", err)
	}
	v := &names{schema: scratch, ctes: map[string]bool{}}
	node.Accept(v)
	if v.err != nil {
		return v.err
	}
	for _, t := range v.tables {
		if !strings.EqualFold(t[0], scratch) {
			return fmt.Errorf("it still names %s.%s", t[0], t[1])
		}
	}
	return nil
}

// parseOne statement. The library's panics become errors.
func parseOne(sql string) (node ast.StmtNode, err error) {
	defer func() {
		if r := recover(); r != nil {
			node, err = nil, fmt.Errorf("the grammar gave up: %v", r)
		}
	}()
	p := parser.New()
	p.SetMariaDB(true)
	nodes, _, err := p.ParseSQL(sql)
	if err != nil {
		return nil, fmt.Errorf("it cannot be parsed: %w", err)
	}
	if len(nodes) != 1 {
		return nil, fmt.Errorf("it is %d statements", len(nodes))
	}
	return nodes[0], nil
}

// names collects the tables that a statement names.
type names struct {
	schema    string
	ctes      map[string]bool
	tables    [][2]string
	qualified bool   // a name has its schema
	impure    string // a function that is not known to only compute
	err       error
}

// Enter implements ast.Visitor.
func (v *names) Enter(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.CommonTableExpression:
		v.ctes[x.Name.L] = true
	case *ast.WithClause:
		for _, c := range x.CTEs {
			v.ctes[c.Name.L] = true
		}
	case *ast.ColumnName:
		v.qualified = v.qualified || x.Schema.O != ""
	case *ast.FuncCallExpr:
		if v.impure == "" && (x.Schema.O != "" || !pure[x.FnName.L]) {
			v.impure = x.FnName.O
		}
	case *ast.TableName:
		v.table(x)
	}
	return n, false
}

func (v *names) table(x *ast.TableName) {
	if v.ctes[x.Name.L] && x.Schema.O == "" {
		return
	}
	schema := x.Schema.O
	if schema != "" {
		v.qualified = true
	} else if schema = v.schema; schema == "" {
		v.err = fmt.Errorf("the schema of %s is not known", x.Name.O)
	}
	for _, t := range v.tables {
		switch {
		case strings.EqualFold(t[1], x.Name.O) && strings.EqualFold(t[0], schema):
			return
		case strings.EqualFold(t[1], x.Name.O):
			v.err = fmt.Errorf("it reads two tables called %s", x.Name.O)
		}
	}
	v.tables = append(v.tables, [2]string{schema, x.Name.O})
}

// Leave implements ast.Visitor.
func (v *names) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// renamer gives names with a schema another one.
type renamer struct{ scratch string }

// Enter implements ast.Visitor.
func (v *renamer) Enter(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.ColumnName:
		if x.Schema.O != "" {
			x.Schema = ast.NewCIStr(v.scratch)
		}
	case *ast.TableName:
		if x.Schema.O != "" {
			x.Schema = ast.NewCIStr(v.scratch)
		}
	}
	return n, false
}

// Leave implements ast.Visitor.
func (v *renamer) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// pure are functions that only compute. A statement with any other, which may be one of
// the application's own or one that waits or locks, is not run.
var pure = func() map[string]bool {
	out := map[string]bool{}
	for _, name := range strings.Fields(`abs acos adddate addtime ascii asin atan atan2 avg bin bit_length cast ceil ceiling char
		char_length character_length coalesce concat concat_ws conv convert cos cot crc32 curdate current_date
		current_time current_timestamp curtime database date date_add date_format date_sub datediff day dayname
		dayofmonth dayofweek dayofyear degrees elt exp extract field find_in_set floor format from_base64 from_days
		from_unixtime greatest hex hour if ifnull inet_aton inet_ntoa inet6_aton inet6_ntoa insert_func instr interval
		isnull json_contains json_contains_path json_extract json_keys json_length json_quote json_search json_type
		json_unquote json_valid json_value last_day lcase least left length ln localtime localtimestamp locate log log10
		log2 lower lpad ltrim makedate maketime md5 microsecond mid minute mod month monthname now nullif oct ord
		period_add period_diff pi position pow power quarter quote radians regexp_instr regexp_like regexp_replace
		regexp_substr repeat replace reverse right round rpad rtrim schema sec_to_time second sha sha1 sha2 sign sin
		soundex space sqrt strcmp str_to_date subdate substr substring substring_index subtime sysdate tan time
		time_format time_to_sec timediff timestamp timestampadd timestampdiff to_base64 to_days to_seconds trim truncate
		ucase unhex unix_timestamp upper utc_date utc_time utc_timestamp uuid week weekday weekofyear weight_string year
		yearweek st_distance st_distance_sphere st_contains st_within st_x st_y point`) {
		out[name] = true
	}
	return out
}()
