package source

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// guess finds where mappers of objects may make a class: calls with its table, or with the
// class of objects that is named after it, near the names of the columns that it asks for.
// Such a place is never sure.
func (x *Index) guess(class []string) []Place {
	table, columns := subject(class)
	if table == "" || len(table) < 3 {
		return nil
	}
	names := models(table)
	var out []scored
	for i, name := range x.names {
		src, err := x.content(i)
		if err != nil || !slices.ContainsFunc(names, func(n string) bool { return bytes.Contains(src, []byte(n)) }) {
			continue
		}
		out = append(out, guesses(i, languageOf(name), src, guessed{table, names, columns, kindOf(class)})...)
	}
	slices.SortStableFunc(out, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	var places []Place
	for _, s := range out {
		if s.score < out[0].score || len(places) == mostPlaces {
			break
		}
		places = append(places, Place{File: x.names[s.file], Line: s.line, Function: s.function,
			Why: "calls with its table or model and " + s.why})
	}
	return places
}

// scored is a place with how much speaks for it.
type scored struct {
	file, line    int
	function, why string
	score         int
}

// guessed is what is looked for.
type guessed struct {
	table   string
	names   []string
	columns []string
	calls   map[string]bool
}

// leastScore: the table or model in a call, and a call of the right kind or a column.
const leastScore = 3

// near is how many tokens after a model's name belong to its call.
const near = 60

func guesses(file int, l *lang, src []byte, g guessed) []scored {
	toks := lex(l, src)
	in := functions(l, toks)
	best := map[string]scored{}
	for i, t := range toks {
		if !g.about(toks, i) {
			continue
		}
		score, why := 2, []string{}
		chain := toks[i:min(i+near, len(toks))]
		for k, c := range chain {
			if c.kind == word && g.calls[strings.ToLower(c.s)] && (k == 0 || called(chain[k-1].s)) {
				score, why = score+1, append(why, c.s)
				break
			}
		}
		for _, column := range g.columns {
			if slices.ContainsFunc(chain, func(c token) bool { return names(c, column) }) {
				score, why = score+1, append(why, column)
			}
		}
		if score >= leastScore && score > best[in[i]].score {
			best[in[i]] = scored{file, t.line, in[i], strings.Join(why, ", "), score}
		}
	}
	out := make([]scored, 0, len(best))
	for _, s := range best {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b scored) int { return a.line - b.line })
	return out
}

// called reports whether a sign is one by which something of a value is called.
func called(s string) bool { return s == "." || s == "::" || s == "->" || s == "?" }

// tableCalls are names of calls that are given a table's name.
var tableCalls = set("table from into knex collection model select insert update delete query db with join leftjoin innerjoin repository getrepository createquerybuilder tablename insertinto")

// mappers are names of values whose parts are models.
var mappers = set("prisma db models orm client tx em database $db")

// about reports whether token i is the table, as a text that a call is given, or a model,
// of which something is called.
func (g guessed) about(toks []token, i int) bool {
	t := toks[i]
	if t.kind == text {
		return t.s == g.table && i > 1 && toks[i-1].s == "(" && tableCalls[strings.ToLower(toks[i-2].s)]
	}
	name := strings.TrimPrefix(t.s, "$")
	if t.kind != word || !slices.Contains(g.names, name) || i+1 >= len(toks) {
		return false
	}
	if !upper(name[0]) && (i < 2 || !called(toks[i-1].s) || !mappers[strings.ToLower(toks[i-2].s)]) {
		return false // a variable; a model only as one of the mapper's, prisma.user
	}
	switch next := toks[i+1].s; {
	case called(next):
		return true
	case next == "{", next == ")": // gorm's Model(&User{}), JPA's find(User.class)
		return i > 1 && (toks[i-1].s == "&" || toks[i-1].s == "(")
	}
	return false
}

// names reports whether a token names a column: as a word or text, or as the beginning of
// one (name__gt, "name = ?", :name).
func names(t token, column string) bool {
	s := strings.ToLower(strings.Trim(t.s, ":$ "))
	if t.kind == sign {
		return false
	}
	rest, ok := strings.CutPrefix(strings.ReplaceAll(s, "`", ""), column)
	if !ok {
		rest, ok = strings.CutPrefix(s, strings.ReplaceAll(column, "_", "")) // camel case
	}
	return ok && (rest == "" || strings.HasPrefix(rest, "__") || !isWord(rest[0]))
}

// subject is the table that a class is about and the columns that it compares.
func subject(class []string) (table string, columns []string) {
	if class[0] == "insert" || class[0] == "replace" {
		columns = inserted(class)
	}
	for i, w := range class {
		if (w == "from" || w == "into" || w == "update" || w == "join") && table == "" && i+1 < len(class) && isName(class[i+1]) {
			table = class[i+1]
			if i+3 < len(class) && class[i+2] == "." && isName(class[i+3]) {
				table = class[i+3] // after its database
			}
		}
		if i > 0 && isName(class[i-1]) && (w == "=" || w == "<" || w == ">" || w == "in" || w == "like" || w == "between") && !slices.Contains(columns, class[i-1]) {
			columns = append(columns, class[i-1])
		}
	}
	return table, columns
}

// inserted are the columns that an INSERT names.
func inserted(class []string) []string {
	var out []string
	begin := slices.Index(class, "(")
	for i := begin + 1; begin >= 0 && i < len(class) && class[i] != ")"; i++ {
		if isName(class[i]) {
			out = append(out, class[i])
		}
	}
	return out
}

// models are names of classes of objects that mappers keep in a table: in the singular and
// in camel case, also without what applications put before their tables' names.
func models(table string) []string {
	out := []string{table}
	for rest := table; ; {
		for _, one := range []string{singular(rest), rest} {
			if name := camel(one); len(name) > 2 && !slices.Contains(out, name) {
				out = append(out, name, strings.ToLower(name[:1])+name[1:])
			}
		}
		_, after, ok := strings.Cut(rest, "_")
		if !ok {
			return out
		}
		rest = after
	}
}

func camel(s string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(s, "_") {
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

func singular(s string) string {
	switch {
	case strings.HasSuffix(s, "ies"):
		return strings.TrimSuffix(s, "ies") + "y"
	case strings.HasSuffix(s, "sses") || strings.HasSuffix(s, "ches") || strings.HasSuffix(s, "xes"):
		return strings.TrimSuffix(s, "es")
	case strings.HasSuffix(s, "s") && !strings.HasSuffix(s, "ss"):
		return strings.TrimSuffix(s, "s")
	}
	return s
}

// kindOf are names of calls that make statements of a class's kind.
func kindOf(class []string) map[string]bool {
	switch class[0] {
	case "insert", "replace":
		return set("create insert save bulk_create insertall insert_all upsert firstorcreate store persist build insertgetid insertone")
	case "update":
		return set("update save set increment decrement update_all update_columns updateorcreate touch merge bulk_update")
	case "delete":
		return set("delete destroy remove delete_all destroy_all deleteall deletemany truncate")
	}
	return set("where find filter get first all select count find_by findone findall findmany query exclude take pluck order orderby includes with joins exists paginate get_or_create findbyid findbypk values list load search last limit")
}
