package patch

import (
	"slices"
	"strings"
)

// branch is a SELECT that can stand in brackets among the branches of a UNION ALL and
// give there what it gives alone.
type branch struct {
	text   string // without a semicolon at its end
	list   int    // where its list of columns ends
	params int
	inList map[int]bool // placeholders, from 0, that stand among columns, which they may give a type
	tables []string     // that it names behind FROM and JOIN, in their order
	names  []string     // all its words in lower case
	sum    bool         // it gives one row, of aggregates
	exists bool         // it has no FROM of its own
	// ordered: it has an order of its own; limited: a LIMIT of its own.
	ordered, limited bool
}

// pureFunctions give the same whenever they are asked the same: what may stand before a
// bracket, functions and the words of the grammar.
var pureFunctions = wordSet("COUNT SUM MIN MAX AVG COALESCE IFNULL IF NULLIF GREATEST LEAST ABS ROUND FLOOR CEIL CEILING TRUNCATE MOD SIGN " +
	"CONCAT CONCAT_WS LOWER UPPER TRIM LTRIM RTRIM SUBSTR SUBSTRING LEFT RIGHT LENGTH CHAR_LENGTH REPLACE INSTR LOCATE FIELD HEX MD5 SHA1 SHA2 " +
	"DATE YEAR MONTH DAY HOUR MINUTE SECOND DAYOFWEEK DATEDIFF TIMESTAMPDIFF DATE_ADD DATE_SUB DATE_FORMAT CAST " +
	"IN EXISTS AND OR NOT ON USING WHERE HAVING SELECT FROM JOIN BY VALUES DISTINCT WHEN THEN ELSE CASE AS ALL ANY INTERVAL BETWEEN")

// notInBranch are words of statements that lock, that write, that may not stand in a
// UNION, or that give something else the next time.
var notInBranch = wordSet("UNION INTERSECT EXCEPT MINUS INTO PROCEDURE FOR LOCK SHARE HIGH_PRIORITY OVER WINDOW ROLLUP COLLATE PARTITION " +
	"CURRENT_TIMESTAMP CURRENT_DATE CURRENT_TIME CURRENT_USER CURRENT_ROLE LOCALTIME LOCALTIMESTAMP SYSDATE UTC_DATE UTC_TIME UTC_TIMESTAMP NEXT PREVIOUS")

func wordSet(list string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(list) {
		out[w] = true
	}
	return out
}

// parseBranch understands a SELECT; the reason says what it does not.
func parseBranch(text string) (*branch, string) {
	ws, ok := words(text)
	if !ok || len(ws) == 0 {
		return nil, "it has a comment or a string without end"
	}
	if !ws[0].is("SELECT") {
		return nil, "it is no SELECT"
	}
	b := &branch{text: text[:ws[len(ws)-1].to], list: ws[len(ws)-1].to, exists: true}
	b.inList = map[int]bool{}
	b.sum = len(ws) > 2 && aggregates[strings.ToUpper(ws[1].text)] && ws[2].is("(")
	depth := 0
	counts := len(ws) > 5 && ws[1].is("COUNT") && ws[2].is("(") && ws[4].is(")") && ws[5].is("FROM")
	lists := []bool{false} // by depth: between SELECT and FROM
	for i, w := range ws {
		if why := unlikeAlone(ws, i); why != "" {
			return nil, why
		}
		if !w.literal {
			b.names = append(b.names, strings.ToLower(w.text))
		}
		switch {
		case w.is("SELECT"):
			lists[depth] = true
		case w.is("FROM"):
			lists[depth] = false
		}
		switch {
		case w.is("?"):
			b.inList[b.params] = slices.Contains(lists, true) && !counts
			b.params++
		case w.is("("):
			depth++
			lists = append(lists, false)
		case w.is(")"):
			if depth--; depth < 0 {
				return nil, "its brackets do not close"
			}
			lists = lists[:depth+1]
		case depth > 0:
		case w.is("FROM") && b.exists:
			b.list, b.exists = ws[i-1].to, false
		case w.is("ORDER"):
			b.ordered = true
		case w.is("LIMIT"):
			b.limited = true
		case w.is("GROUP"):
			b.sum = false
		}
	}
	if depth != 0 {
		return nil, "its brackets do not close"
	}
	b.tables = tablesOf(ws)
	return b, ""
}

// unlikeAlone says why a word keeps a statement from being a branch.
func unlikeAlone(ws []word, i int) string {
	w, next := ws[i], word{}
	if i+1 < len(ws) {
		next = ws[i+1]
	}
	switch upper := strings.ToUpper(w.text); {
	case w.quoted:
		return ""
	case strings.HasPrefix(w.text, "@"), w.is(":="):
		return "it has a variable of the server"
	case w.is(";"):
		return "it is more than one statement"
	case strings.HasPrefix(upper, "SQL_"):
		return "it has " + upper
	case (w.is("FOR") || w.is("LOCK")) && (next.is("UPDATE") || next.is("SHARE") || next.is("IN")):
		return "it locks"
	case notInBranch[upper] && (i == 0 || !ws[i-1].is(".")):
		return "it has " + upper
	case next.is("(") && isWordByte(w.text[0]) && !pureFunctions[upper]:
		return "it calls " + upper + "(), which is not known to give the same each time"
	}
	return ""
}

// tablesOf are the names behind FROM and JOIN, without their databases.
func tablesOf(ws []word) []string {
	var out []string
	for i := 0; i < len(ws); i++ {
		if !ws[i].is("FROM") && !ws[i].is("JOIN") && !ws[i].is("STRAIGHT_JOIN") {
			continue
		}
		for rest := ws[i+1:]; len(rest) > 0 && rest[0].isName(); {
			var name string
			if name, rest = tableAt(rest); !slices.Contains(out, name) {
				out = append(out, name)
			}
			if len(rest) > 0 && rest[0].is(",") {
				rest = rest[1:]
			}
		}
	}
	return out
}

// tableAt is a table with its alias, and what follows.
func tableAt(ws []word) (string, []word) {
	if len(ws) > 2 && ws[1].is(".") {
		ws = ws[2:]
	}
	name := ws[0].text
	ws = ws[1:]
	if len(ws) > 0 && ws[0].is("AS") {
		ws = ws[1:]
	}
	if len(ws) > 0 && ws[0].isName() {
		ws = ws[1:]
	}
	return name, ws
}

// withNumber is the branch in two parts, between which the number of the branch stands.
// An order without a LIMIT would be dropped in a UNION.
func (b *branch) withNumber(column string) (head, tail string) {
	tail = " AS " + column + b.text[b.list:]
	if b.ordered && !b.limited {
		tail += " LIMIT 18446744073709551615"
	}
	return "(" + b.text[:b.list] + ", ", tail + ")"
}

// named is what the only column is called then: by its own name behind AS, or by the one
// that it gets; "" if it has several columns, or a name without AS.
func (b *branch) named(name string) string {
	ws, _ := words(b.text[:b.list])
	depth := 0
	for _, w := range ws {
		switch {
		case w.is("("):
			depth++
		case w.is(")"):
			depth--
		case depth == 0 && (w.is(",") || w.is("*") || w.is("DISTINCT")):
			return ""
		}
	}
	last, before := ws[len(ws)-1], ws[len(ws)-2]
	switch {
	case before.is("AS"):
		return last.text
	case last.is(")"), before.is("SELECT") && last.isName(), before.is("."):
		text := b.text[:b.list] + " AS " + name
		b.text, b.list = text+b.text[b.list:], len(text)
		return name
	}
	return ""
}

// numberColumn is a name for the number of the branch that nothing in the statement has.
func (b *branch) numberColumn(s *schema) string {
	for _, name := range []string{"branch_no", "number_of_branch", "union_branch_no"} {
		taken := slices.Contains(b.names, name)
		for _, t := range b.tables {
			taken = taken || s.typeOf(t, name) != ""
		}
		if !taken {
			return name
		}
	}
	return ""
}
