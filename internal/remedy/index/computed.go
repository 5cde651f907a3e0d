package index

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/sqlc-dev/marino/ast"
	"github.com/sqlc-dev/marino/format"

	"kasoku/internal/evidence"
)

// name of the table in a statement.
func (t *table) name() string {
	return evidence.QuoteName(t.Schema) + "." + evidence.QuoteName(t.Name)
}

// wildcard notes what would serve a LIKE '%…%', and what that changes.
func (b *builder) wildcard(t *table, column string) {
	text := "LIKE with a leading wildcard: no B-tree index helps; a FULLTEXT index does, but only for MATCH … AGAINST, so the statement is to be rewritten and answers otherwise: " +
		"it finds words, not parts of words (MySQL's parser ngram: pieces of two letters and more, in an index several times as large; MariaDB has none), leaves out stop words and words of less than three letters, and is filled at commit, which makes writes slower; " +
		"where any part of a word must be found, a search service with trigrams beside the database"
	ddl := fmt.Sprintf("ALTER TABLE %s ADD FULLTEXT INDEX (%s)", t.name(), evidence.QuoteName(t.spelling(column)))
	if b.catalog.opts.MySQL {
		ddl += " WITH PARSER ngram"
	}
	b.noteDDL(t, []string{column}, text, ddl)
}

// wrapped notes a column inside a function or arithmetic.
func (b *builder) wrapped(sc *scope, e ast.ExprNode) {
	what, function := "", ""
	switch n := e.(type) {
	case *ast.FuncCallExpr:
		function = n.FnName.L
		what = strings.ToUpper(function) + "(…)"
	case *ast.FuncCastExpr:
		what, function = "CAST", "cast"
	case *ast.BinaryOperationExpr:
		what, function = "arithmetic", "+"
	case *ast.UnaryOperationExpr:
		what, function = "a sign or negation", "+"
	default:
		return
	}
	v := &columnFinder{b: b, sc: sc}
	e.Accept(v)
	if len(v.found) == 0 || v.access.table == nil {
		return
	}
	how, ddl := b.generated(v.access.table, v.found, function, e)
	hint := "compare the bare column with a computed value instead, or " + how
	switch function {
	case "json_extract", "json_unquote", "json_value":
		hint = how
		if ddl != "" {
			hint += "; what is computed is a text, so write the value as a string: compared with a number, the index is not used"
		}
	case "date", "year", "month", "date_format", "unix_timestamp", "to_days":
		hint = "compare the bare column with a range of times (col >= … AND col < …)"
		if function != "month" {
			ddl = "" // a range serves it, and no column is to be kept up
		} else {
			hint += ", or where the month of any year is asked for " + how
		}
	case "lower", "upper", "lcase", "ucase":
		hint = "use a case-insensitive collation (_ci) and compare the bare column, or " + how
	}
	b.noteDDL(v.access.table, v.found, fmt.Sprintf("a condition puts %s inside %s: no index on it can be used; %s", strings.Join(v.found, ", "), what, hint), ddl)
}

// generated says how an expression gets an index, and the statement that makes it; "" where
// the type of what is computed is not known.
func (b *builder) generated(t *table, columns []string, function string, e ast.ExprNode) (how, ddl string) {
	how = "index a generated column that computes this, and compare that column"
	text := bare(e)
	kind := t.resultType(function, columns[0], text)
	if kind == "" {
		return how, ""
	}
	name := computedName(function, columns)
	if b.catalog.opts.Functional {
		// An expression of texts has the type LONGTEXT there, which no index takes.
		if strings.HasPrefix(kind, "VARCHAR") || strings.HasPrefix(kind, "CHAR") {
			text = fmt.Sprintf("CAST(%s AS CHAR(%s))", text, digits.FindString(kind))
			return "an index on the expression, which the condition must then have to the letter (CAST and all)",
				fmt.Sprintf("CREATE INDEX %s ON %s ((%s))", evidence.QuoteName("kasoku_"+name), t.name(), text)
		}
		return "an index on the expression, which the server finds without a change of the statement",
			fmt.Sprintf("CREATE INDEX %s ON %s ((%s))", evidence.QuoteName("kasoku_"+name), t.name(), text)
	}
	how = "index a generated column that computes this, and compare that column; it takes no space in the rows, its index an entry for each row written"
	if b.catalog.opts.Finds {
		how = "index a generated column that computes this: this server finds it by the expression, without a change of the statement"
	}
	column := evidence.QuoteName(name)
	hidden := " INVISIBLE" // SELECT * and INSERT without a list of columns stay as they are
	if b.catalog.opts.MySQL {
		hidden = ""
	}
	return how, fmt.Sprintf("ALTER TABLE %s ADD COLUMN %s %s AS (%s) VIRTUAL%s, ADD INDEX %s (%s)", t.name(), column, kind, text, hidden, evidence.QuoteName("kasoku_"+name), column)
}

var digits = regexp.MustCompile(`[0-9]+`)

// bare is an expression as it is written, its columns without table and schema.
func bare(e ast.ExprNode) string {
	var out strings.Builder
	flags := format.DefaultRestoreFlags | format.RestoreStringEscapeBackslash | format.RestoreStringWithoutCharset | format.RestoreWithoutSchemaName | format.RestoreWithoutTableName
	if e.Restore(format.NewRestoreCtx(flags, &out)) != nil {
		return ""
	}
	return out.String()
}

var castTo = regexp.MustCompile(`(?i) AS (DATE|DATETIME|TIME|SIGNED|UNSIGNED|DECIMAL(?:\(\d+(?:,\s*\d+)?\))?|CHAR(?:\(\d+\))?)\b[^)]*\)$`)

// resultType of a function of a column, "" if it is not known.
func (t *table) resultType(function, column, text string) string {
	if text == "" {
		return ""
	}
	base, size := columnType(t.columns[column])
	switch function {
	case "lower", "upper", "lcase", "ucase", "trim", "ltrim", "rtrim", "reverse", "left", "right", "substr", "substring", "mid", "substring_index", "replace":
		if strings.HasSuffix(base, "char") && size > 0 {
			return fmt.Sprintf("VARCHAR(%d)", min(size, evidence.MaxWhole))
		}
	case "json_extract", "json_unquote", "json_value", "concat", "concat_ws", "coalesce", "ifnull":
		if textual(base) || base == "json" {
			return fmt.Sprintf("VARCHAR(%d)", evidence.MaxWhole)
		}
	case "date":
		return "DATE"
	case "year", "month", "day", "dayofmonth", "dayofweek", "dayofyear", "hour", "minute", "week", "weekday", "quarter":
		return "SMALLINT"
	case "length", "char_length", "character_length", "to_days", "crc32":
		return "BIGINT"
	case "md5":
		return "CHAR(32)"
	case "sha", "sha1":
		return "CHAR(40)"
	case "+", "abs", "mod", "floor", "ceil", "ceiling", "round":
		switch base {
		case "tinyint", "smallint", "mediumint", "int", "integer", "bigint":
			if !strings.Contains(text, "/") && !strings.Contains(text, ".") {
				return "BIGINT"
			}
		}
	case "cast":
		if m := castTo.FindStringSubmatch(text); m != nil {
			switch kind := strings.ToUpper(m[1]); {
			case kind == "SIGNED":
				return "BIGINT"
			case kind == "UNSIGNED":
				return "BIGINT UNSIGNED"
			case kind == "CHAR":
				return fmt.Sprintf("VARCHAR(%d)", evidence.MaxWhole)
			default:
				return kind
			}
		}
	}
	return ""
}

// computedName is a column's name for a function of columns.
func computedName(function string, columns []string) string {
	if function == "+" {
		function = "computed"
	}
	name := strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, strings.Join(columns, "_")+"_"+function)
	return name[:min(len(name), maxName-len("kasoku_"))]
}
