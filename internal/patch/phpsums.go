package patch

import (
	"slices"
	"strings"
)

// phpExact are the types of columns whose sums do not depend on the order of rows.
var phpExact = append([]string{"decimal", "dec", "numeric", "fixed"}, phpIntegers...)

// phpOrdered are those of which two that are equal are the same.
var phpOrdered = append([]string{"date", "datetime", "timestamp", "time"}, phpExact...)

// isSum: a statement begins with an aggregate.
func isSum(text string) bool {
	ws, ok := words(text)
	return ok && len(ws) > 2 && ws[0].is("SELECT") && aggregates[strings.ToUpper(ws[1].text)] && ws[2].is("(")
}

// summed checks the column that an aggregate is of: it gives the same whatever the order in
// which the server reads the rows.
func (p *php) summed(r *phpRead) *Refusal {
	ws, _ := words(r.text)
	of := ws[3:]
	if of[0].is("DISTINCT") {
		of = of[1:]
	}
	if of[1].is(".") {
		of = of[2:]
	}
	exact := phpExact
	switch {
	case ws[1].is("COUNT"), of[0].literal:
		return nil
	case ws[1].is("MIN"), ws[1].is("MAX"):
		exact = phpOrdered
	}
	t, _, _ := strings.Cut(p.program.schema.typeOf(r.sql.table, of[0].text), "(")
	switch {
	case t == "":
		return refuse("statement", "neither a .sql file nor a run shows the type of %s.%s", r.sql.table, of[0].text)
	case !slices.Contains(exact, t):
		return refuse("statement", "%s.%s is of type %s: its %s may depend on the order of the rows", r.sql.table, of[0].text, t, strings.ToUpper(ws[1].text))
	}
	return nil
}

// wrapped: what is read may be null, so that each stands in an array of its own.
func (r *phpRead) wrapped() bool {
	return !r.list && r.sql.sum && !r.sql.count && r.mode == "COLUMN"
}

// withNone is what follows the list of keys of an aggregate: a row for each, and one of what
// a key without rows gets.
func (r *phpRead) withNone(full, as string) string {
	text := r.sql.text
	ws, _ := words(text)
	from, where := 0, 0
	for _, w := range ws {
		switch {
		case w.is("FROM") && from == 0:
			from = w.from
		case w.is("WHERE") && where == 0:
			where = w.from
		}
	}
	columns := "NULL, " + strings.TrimSpace(text[r.sql.list:from])
	if as != "" {
		columns = strings.TrimSpace(text[r.sql.list:from]) + ", NULL"
	}
	return " GROUP BY " + full + " UNION ALL SELECT " + columns + " " + strings.TrimSpace(text[from:where]) + " WHERE 1 = 0"
}

// sums writes what gives the keys without rows theirs.
func (b *phpBody) sums(rows, some string) {
	b.line(2, rows+" += array_fill_keys("+some+", "+rows+"['']); // of the row without a key")
}
