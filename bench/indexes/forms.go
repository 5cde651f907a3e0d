package main

import (
	"fmt"
	"strings"
)

// statement is a class of a workload.
type statement struct {
	Count int64 // executions in the window
	// Form has {table.column#row} where a value of that row comes; a row with NULL
	// there is passed over. {table.column#row|rest} is the value of the column and the rest.
	Form string
	// Names are the columns by table that it restricts, joins, sorts or groups by, in
	// this order; Reads those that it only reads besides.
	Names, Reads map[string][]string
	// Arms are the columns that the arms of an OR begin with.
	Arms []string
	// Desc are columns that a mixed order has descending.
	Desc  map[string]bool
	Write bool // it writes
}

// form draws a statement on a table; ok is false where the table lacks what it needs.
type form struct {
	name   string
	weight int
	make   func(s *schema, t *table) (statement, bool)
}

var forms = []form{
	{"point", 10, pointForm}, {"two", 8, twoForm}, {"range", 8, rangeForm}, {"narrow", 4, narrowForm},
	{"list", 5, listForm}, {"or", 5, orForm}, {"or of and", 3, orAndForm}, {"join", 9, joinForm},
	{"group", 6, groupForm}, {"newest", 8, newestForm}, {"top", 4, topForm}, {"mixed", 3, mixedForm},
	{"like", 4, likeForm}, {"sum", 4, sumForm}, {"distinct", 4, distinctForm}, {"count", 5, countForm},
	{"in query", 4, inQueryForm}, {"exists", 3, existsForm}, {"latest", 3, latestForm}, {"null", 3, nullForm},
	{"update", 5, updateForm}, {"delete", 4, deleteForm}, {"insert", 6, insertForm},
}

func (s *schema) drawStatements() {
	total := 0
	for _, f := range forms {
		total += f.weight
	}
	want := 1 + s.rnd.IntN(6)
	for tries := 0; len(s.stmts) < want && tries < 200; tries++ {
		n := s.rnd.IntN(total)
		i := 0
		for ; n >= forms[i].weight; i++ {
			n -= forms[i].weight
		}
		t := s.tables[s.rnd.IntN(len(s.tables))]
		st, ok := forms[i].make(s, t)
		if !ok || st.Write && len(s.stmts) == 0 && forms[i].name == "insert" {
			continue
		}
		st.Count = int64(20 << s.rnd.IntN(7))
		if st.Write {
			st.Count /= 2
		}
		s.stmts = append(s.stmts, st)
	}
}

// value of the column in a row that is not told yet: instances draw it.
func value(t *table, c column) string { return fmt.Sprintf("{%s.%s#}", t.name, c.name) }

func equal(t *table, c column) string { return c.name + " = " + value(t, c) }

// output is what a statement on t gives out: everything, or a few columns.
func (s *schema) output(t *table) (list string, reads []string) {
	if s.rnd.Float64() < 0.6 {
		return "*", nil
	}
	reads = []string{"id", pick(s.rnd, t.columns[1:]...).name}
	return strings.Join(reads, ", "), reads
}

func one(t *table, names []string) map[string][]string { return map[string][]string{t.name: names} }

// some draws n different columns of the roles.
func (s *schema) some(t *table, n int, roles ...role) ([]column, bool) {
	all := t.of(roles...)
	if len(all) < n {
		return nil, false
	}
	s.rnd.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:n], true
}

func (s *schema) simple(t *table, where string, names []string) statement {
	list, reads := s.output(t)
	return statement{Form: fmt.Sprintf("SELECT %s FROM %s WHERE %s", list, t.name, where), Names: one(t, names), Reads: one(t, reads)}
}

func pointForm(s *schema, t *table) (statement, bool) {
	c, ok := s.some(t, 1, roleKey, roleRef, roleRef, roleText)
	if !ok {
		return statement{}, false
	}
	return s.simple(t, equal(t, c[0]), []string{c[0].name}), true
}

func twoForm(s *schema, t *table) (statement, bool) {
	c, ok := s.some(t, 2+s.rnd.IntN(2), roleRef, roleClass, roleNumber)
	if !ok {
		return statement{}, false
	}
	var where, names []string
	for _, x := range c {
		where, names = append(where, equal(t, x)), append(names, x.name)
	}
	return s.simple(t, strings.Join(where, " AND "), names), true
}

// between is a range on a column of time or number that begins at a row's value.
func (s *schema) between(t *table, c column) string {
	rest := fmt.Sprintf("+ %d", 5+s.rnd.IntN(200))
	if c.role == roleTime {
		rest = fmt.Sprintf("+ INTERVAL %d HOUR", 2+s.rnd.IntN(200))
	}
	if s.rnd.Float64() < 0.3 {
		return fmt.Sprintf("%s %s %s", c.name, pick(s.rnd, ">", ">=", "<"), value(t, c))
	}
	return fmt.Sprintf("%s BETWEEN %s AND {%s.%s#|%s}", c.name, value(t, c), t.name, c.name, rest)
}

func rangeForm(s *schema, t *table) (statement, bool) {
	c, ok := s.some(t, 1, roleRef, roleClass)
	r, ok2 := s.some(t, 1, roleTime, roleNumber)
	if !ok || !ok2 {
		return statement{}, false
	}
	return s.simple(t, equal(t, c[0])+" AND "+s.between(t, r[0]), []string{c[0].name, r[0].name}), true
}

func narrowForm(s *schema, t *table) (statement, bool) {
	r, ok := s.some(t, 1, roleTime, roleNumber)
	if !ok {
		return statement{}, false
	}
	rest := "+ 2"
	if r[0].role == roleTime {
		rest = "+ INTERVAL 3 HOUR"
	}
	return s.simple(t, fmt.Sprintf("%s BETWEEN %s AND {%s.%s#|%s}", r[0].name, value(t, r[0]), t.name, r[0].name, rest), []string{r[0].name}), true
}

// list of values of a column.
func (s *schema) list(t *table, c column) string {
	var values []string
	for i := range 2 + s.rnd.IntN(5) {
		values = append(values, fmt.Sprintf("{%s.%s#%d}", t.name, c.name, i))
	}
	return fmt.Sprintf("%s IN (%s)", c.name, strings.Join(values, ", "))
}

func listForm(s *schema, t *table) (statement, bool) {
	c, ok := s.some(t, 1, roleKey, roleRef)
	if !ok {
		return statement{}, false
	}
	where, names := s.list(t, c[0]), []string{c[0].name}
	if d, ok := s.some(t, 1, roleClass); ok && s.rnd.Float64() < 0.5 {
		where, names = where+" AND "+equal(t, d[0]), append(names, d[0].name)
	}
	return s.simple(t, where, names), true
}

func orForm(s *schema, t *table) (statement, bool) {
	c, ok := s.some(t, 2, roleKey, roleRef, roleRef, roleText)
	if !ok {
		return statement{}, false
	}
	where, names := fmt.Sprintf("(%s OR %s)", equal(t, c[0]), equal(t, c[1])), []string{c[0].name, c[1].name}
	if d, ok := s.some(t, 1, roleClass); ok && s.rnd.Float64() < 0.3 {
		where, names = where+" AND "+equal(t, d[0]), append(names, d[0].name)
	}
	st := s.simple(t, where, names)
	if o, ok := s.some(t, 1, roleTime); ok && s.rnd.Float64() < 0.4 {
		st.Form += fmt.Sprintf(" ORDER BY %s DESC", o[0].name)
	}
	st.Arms = []string{c[0].name, c[1].name}
	return st, true
}

func orAndForm(s *schema, t *table) (statement, bool) {
	c, ok := s.some(t, 2, roleRef, roleRef)
	d, ok2 := s.some(t, 1, roleClass, roleTime)
	if !ok || !ok2 {
		return statement{}, false
	}
	a, b, names := equal(t, c[1]), fmt.Sprintf("%s = {%s.%s#1}", c[1].name, t.name, c[1].name), []string{c[0].name, c[1].name}
	if s.rnd.Float64() < 0.5 {
		a, b, names = equal(t, d[0]), fmt.Sprintf("%s = {%s.%s#1}", d[0].name, t.name, d[0].name), append(names, d[0].name)
		st := s.simple(t, fmt.Sprintf("(%s AND %s) OR (%s AND %s)", equal(t, c[0]), a, equal(t, c[1]), b), names)
		st.Arms = []string{c[0].name, c[1].name}
		return st, true
	}
	st := s.simple(t, fmt.Sprintf("(%s AND %s) OR (%s = {%s.%s#1} AND %s)", equal(t, c[0]), a, c[0].name, t.name, c[0].name, b), names)
	st.Arms = names
	return st, true
}

func joinForm(s *schema, t *table) (statement, bool) {
	if t.parent == nil {
		return statement{}, false
	}
	at, filter := t, t.of(roleRef, roleClass, roleKey)
	if s.rnd.Float64() < 0.6 {
		at, filter = t.parent, t.parent.of(roleRef, roleClass, roleKey, roleText)
	}
	if len(filter) == 0 {
		return statement{}, false
	}
	c := pick(s.rnd, filter...)
	out := t.name + ".*"
	reads := map[string][]string{}
	if s.rnd.Float64() < 0.5 {
		out = fmt.Sprintf("%s.id, %s.%s", t.name, t.parent.name, t.parent.columns[1].name)
		reads = map[string][]string{t.name: {"id"}, t.parent.name: {t.parent.columns[1].name}}
	}
	st := statement{Form: fmt.Sprintf("SELECT %s FROM %s %s %s ON %s.%s = %s.id WHERE %s.%s = %s", out, t.parent.name, "JOIN", t.name, t.name, t.refers, t.parent.name, at.name, c.name, value(at, c)),
		Names: map[string][]string{t.name: {t.refers}}, Reads: reads}
	if at == t {
		st.Names[t.name] = []string{c.name, t.refers}
	} else {
		st.Names[at.name] = []string{c.name}
	}
	return st, true
}

func groupForm(s *schema, t *table) (statement, bool) {
	c, ok := s.some(t, 1, roleRef, roleClass)
	g, ok2 := s.some(t, 1, roleClass, roleRef)
	if !ok || !ok2 || c[0].name == g[0].name {
		return statement{}, false
	}
	names := []string{c[0].name, g[0].name}
	what, reads := "COUNT(*)", []string(nil)
	if n, ok := s.some(t, 1, roleNumber, roleTime); ok && s.rnd.Float64() < 0.5 {
		what, reads = "MAX("+n[0].name+")", []string{n[0].name}
	}
	return statement{Form: fmt.Sprintf("SELECT %s, %s FROM %s WHERE %s GROUP BY %s", g[0].name, what, t.name, equal(t, c[0]), g[0].name), Names: one(t, names), Reads: one(t, reads)}, true
}
