package patch

import (
	"slices"
	"strconv"
	"strings"
)

func phpNumber(n int) string { return strconv.Itoa(n) }

// phpIntegers are the types of columns whose rows an integer finds in one way only.
var phpIntegers = []string{"int", "integer", "bigint", "smallint", "tinyint", "mediumint", "serial"}

// understand checks handle, mode and statement.
func (p *php) understand(r *phpRead) *Refusal {
	switch t := p.handleType(r.f, r.handle, 0); {
	case t == "":
		return refuse("handle", "it cannot be shown that %s is a connection of PDO or mysqli", short(r.f.phpText(r.handle)))
	case t != r.api:
		return refuse("handle", "%s is a %s", short(r.f.phpText(r.handle)), t)
	}
	if why := p.modeOf(r); why != nil {
		return why
	}
	return p.readable(r)
}

// readable checks the statement.
func (p *php) readable(r *phpRead) *Refusal {
	if why := p.text.driver; why != nil {
		return why
	}
	if r.list {
		return p.branchable(r)
	}
	sql, why := parseRead(r.text)
	r.sql = sql
	switch {
	case why != "":
		return refuse("statement", "%s", why)
	case sql.params != len(r.args):
		return refuse("statement", "its placeholders and values do not go together one by one")
	case r.mode == "COLUMN" && !sql.sum && (sql.star || len(sql.columns) != 1):
		return refuse("statement", "it reads more columns than the one that is asked for")
	}
	if sql.sum {
		return p.summed(r)
	}
	return nil
}

// modeOf notes the form that a row has.
func (p *php) modeOf(r *phpRead) *Refusal {
	args, plain := ownArgs(r.fetch)
	if !plain {
		return refuse("mode", "it is not known what form the row has")
	}
	r.mode = p.modeName(r, args)
	if name := r.toldMode(); name != "" {
		return refuse("mode", "$%s is told what form rows have", name)
	}
	switch r.mode {
	case "ASSOC", "NUM", "BOTH", "COLUMN":
		return nil
	case "OBJ":
		return refuse("mode", "each turn has an object of its own")
	}
	return refuse("mode", "it is not known what form the row has")
}

// modeName is the form of a row by what a fetch is given, "" if it is not known.
func (p *php) modeName(r *phpRead, args []*phpNode) string {
	if r.ofStatement() {
		return map[string]string{"PDO": p.text.fetchMode, "mysqli": "ASSOC"}[r.api]
	}
	mode := ""
	if len(args) > 0 {
		mode = args[0].Constant()
		if args[0].Is("Expr_ConstFetch") {
			mode = strings.ToUpper(last(args[0].Name()))
		}
	}
	switch name := bareName2(r.fetch); {
	case name == "fetch_assoc" && len(args) == 0:
		return "ASSOC"
	case name == "fetch_row" && len(args) == 0, name == "fetch_all" && len(args) == 0:
		return "NUM"
	case name == "fetch_array" && len(args) == 0:
		return "BOTH"
	case (name == "fetch_array" || name == "fetch_all") && len(args) == 1 && strings.HasPrefix(mode, "MYSQLI_"):
		return strings.TrimPrefix(mode, "MYSQLI_")
	case name == "fetchcolumn" && (len(args) == 0 || len(args) == 1 && args[0].Is("Scalar_LNumber") && args[0].Int("value") == 0):
		return "COLUMN"
	case (name == "fetch" || name == "fetchall") && len(args) == 0:
		return p.text.fetchMode
	case (name == "fetch" || name == "fetchall") && len(args) == 1 && strings.HasPrefix(mode, "PDO::FETCH_"):
		return strings.TrimPrefix(mode, "PDO::FETCH_")
	}
	return ""
}

// toldMode is the variable of the read that is told what form rows have.
func (r *phpRead) toldMode() string {
	for _, name := range r.vars {
		for _, use := range usesOf(phpScope(r.fetch), name) {
			if c := use.Parent; c.Is("Expr_MethodCall") && slices.Contains([]string{"setfetchmode", "bindcolumn", "bind_result"}, calledName(c)) {
				return name
			}
		}
	}
	return ""
}

// bareName2 is the name of a fetch, as its method is called.
func bareName2(call *phpNode) string { return strings.TrimPrefix(calledName(call), "mysqli_") }

// find notes which value is compared with the key: the only one that varies.
func (r *phpRead) find(varies func(*phpNode) bool) *Refusal {
	at := -1
	for i, a := range r.args {
		if !varies(a) {
			continue
		}
		if at >= 0 {
			return refuse("key", "two of its values are other ones in each turn")
		}
		at = i
	}
	if at < 0 {
		return refuse("key", "none of its values is another one in each turn")
	}
	if r.list {
		return r.findInBranch(at)
	}
	i := slices.IndexFunc(r.sql.equal, func(e equality) bool { return e.param == at })
	if i < 0 {
		return refuse("statement", "the loop's value is not compared by `column = ?`")
	}
	r.key, r.keyArg = r.sql.equal[i], r.args[at]
	if slices.ContainsFunc(r.numbers, func(n *phpNode) bool { return n != r.keyArg }) {
		return refuse("statement", "a value beside the key is bound as a number, which a text is compared with otherwise")
	}
	return nil
}

// column checks the column of the key by the schema.
func (p *php) column(r *phpRead) *Refusal {
	if r.list {
		return nil // each branch compares as its statement did
	}
	s, table, column := p.program.schema, r.sql.table, r.key.column
	t := s.typeOf(table, column)
	if i := strings.IndexByte(t, '('); i >= 0 {
		t = t[:i]
	}
	switch {
	case t == "":
		return refuse("key", "neither a .sql file nor a run shows the type of %s.%s", table, column)
	case !slices.Contains(phpIntegers, t):
		return refuse("key", "%s.%s is of type %s: what is equal to a value is the server's to say", table, column, t)
	case !r.sql.sum && !s.isUnique(table, column):
		return refuse("key", "neither a .sql file nor a run shows that %s.%s is unique", table, column)
	case s.tables[strings.ToLower(table)].filled != "":
		return refuse("key", "%s has a column that is filled with zeros", table)
	}
	return nil
}

// rowKey is a name for the key beside the columns that are read.
func (p *php) rowKey(r *phpRead) string {
	taken := map[string]bool{}
	for _, c := range r.sql.columns {
		taken[strings.ToLower(c.result)] = true
	}
	if t := p.program.schema.tables[strings.ToLower(r.sql.table)]; t != nil {
		for c := range t.columns {
			taken[c] = true
		}
	}
	name := "row_key"
	for taken[name] {
		name = "_" + name
	}
	return name
}

// inTexts are the statement with IN, before and behind the list; the key comes first, or
// last under a name.
func (r *phpRead) inTexts(as string) (before, after string) {
	text := r.sql.text
	of := r.sql.alias
	if of == "" {
		ws, _ := words(text)
		for i, w := range ws {
			if w.is("FROM") {
				of = text[ws[i+1].from:ws[i+1].to]
				break
			}
		}
	}
	full := r.key.full
	if !strings.Contains(full, ".") {
		full = of + "." + full
	}
	ws, _ := words(text)
	listEnd := 0
	var columns strings.Builder
	from := r.sql.list
	for i, w := range ws {
		if w.is("FROM") {
			listEnd = w.from
			break
		}
		if w.is("*") && !ws[i-1].is(".") && !ws[i-1].is("(") {
			columns.WriteString(text[from:w.from] + of + ".*")
			from = w.to
		}
	}
	columns.WriteString(text[from:listEnd])
	list := columns.String()
	if as == "" {
		list = full + ", " + list
	} else {
		rest := strings.TrimRight(list, " \t\r\n")
		list = rest + ", " + full + " AS " + as + list[len(rest):]
	}
	middle := text[listEnd:r.key.from]
	if !strings.HasSuffix(middle, " ") && !strings.HasSuffix(middle, "\n") {
		middle += " "
	}
	after = ")" + text[r.key.to:r.sql.end]
	if r.sql.sum {
		after += r.withNone(full, as)
	}
	return text[:r.sql.list] + list + middle + "IN (", after
}
