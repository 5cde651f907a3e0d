package main

import (
	"fmt"
	"strings"
)

func newestForm(s *schema, t *table) (statement, bool) {
	c, ok := s.some(t, 1+s.rnd.IntN(2), roleRef, roleClass)
	o, ok2 := s.some(t, 1, roleTime, roleNumber)
	if !ok || !ok2 {
		return statement{}, false
	}
	var where, names []string
	for _, x := range c {
		where, names = append(where, equal(t, x)), append(names, x.name)
	}
	if s.rnd.Float64() < 0.25 {
		where = append(where, s.between(t, o[0]))
	}
	st := s.simple(t, strings.Join(where, " AND "), append(names, o[0].name))
	st.Form += fmt.Sprintf(" ORDER BY %s%s LIMIT %d", o[0].name, pick(s.rnd, "", " DESC"), 1+s.rnd.IntN(30))
	return st, true
}

func topForm(s *schema, t *table) (statement, bool) {
	o, ok := s.some(t, 1, roleTime, roleNumber)
	if !ok {
		return statement{}, false
	}
	list, reads := s.output(t)
	return statement{Form: fmt.Sprintf("SELECT %s FROM %s ORDER BY %s%s LIMIT %d", list, t.name, o[0].name, pick(s.rnd, "", " DESC"), 1+s.rnd.IntN(30)), Names: one(t, []string{o[0].name}), Reads: one(t, reads)}, true
}

func mixedForm(s *schema, t *table) (statement, bool) {
	o, ok := s.some(t, 2, roleTime, roleNumber, roleClass)
	if !ok || o[0].nullable || o[1].nullable {
		return statement{}, false
	}
	where, names := "", []string{}
	if c, ok := s.some(t, 1, roleRef); ok && s.rnd.Float64() < 0.6 {
		where, names = " WHERE "+equal(t, c[0]), []string{c[0].name}
	}
	return statement{Form: fmt.Sprintf("SELECT * FROM %s%s ORDER BY %s DESC, %s LIMIT %d", t.name, where, o[0].name, o[1].name, 1+s.rnd.IntN(20)),
		Names: one(t, append(names, o[0].name, o[1].name)), Reads: one(t, nil), Desc: map[string]bool{o[0].name: true}}, true
}

func likeForm(s *schema, t *table) (statement, bool) {
	c, ok := s.some(t, 1, roleText)
	if !ok {
		return statement{}, false
	}
	return s.simple(t, fmt.Sprintf("%s LIKE {%s.%s#|start}", c[0].name, t.name, c[0].name), []string{c[0].name}), true
}

func sumForm(s *schema, t *table) (statement, bool) {
	c, ok := s.some(t, 1, roleRef, roleClass)
	n, ok2 := s.some(t, 1, roleNumber)
	if !ok || !ok2 {
		return statement{}, false
	}
	return statement{Form: fmt.Sprintf("SELECT SUM(%s) FROM %s WHERE %s", n[0].name, t.name, equal(t, c[0])), Names: one(t, []string{c[0].name}), Reads: one(t, []string{n[0].name})}, true
}

func distinctForm(s *schema, t *table) (statement, bool) {
	c, ok := s.some(t, 2, roleRef, roleClass)
	if !ok {
		return statement{}, false
	}
	return statement{Form: fmt.Sprintf("SELECT DISTINCT %s FROM %s WHERE %s", c[1].name, t.name, equal(t, c[0])), Names: one(t, []string{c[0].name, c[1].name}), Reads: one(t, nil)}, true
}

func countForm(s *schema, t *table) (statement, bool) {
	c, ok := s.some(t, 1+s.rnd.IntN(2), roleRef, roleClass)
	if !ok {
		return statement{}, false
	}
	var where, names []string
	for _, x := range c {
		where, names = append(where, equal(t, x)), append(names, x.name)
	}
	return statement{Form: fmt.Sprintf("SELECT COUNT(*) FROM %s WHERE %s", t.name, strings.Join(where, " AND ")), Names: one(t, names), Reads: one(t, nil)}, true
}

func inQueryForm(s *schema, t *table) (statement, bool) {
	if t.parent == nil {
		return statement{}, false
	}
	filter := t.parent.of(roleRef, roleClass, roleText)
	if len(filter) == 0 {
		return statement{}, false
	}
	c := pick(s.rnd, filter...)
	return statement{Form: fmt.Sprintf("SELECT * FROM %s WHERE %s IN (SELECT id FROM %s WHERE %s)", t.name, t.refers, t.parent.name, equal(t.parent, c)),
		Names: map[string][]string{t.name: {t.refers}, t.parent.name: {c.name}}, Reads: map[string][]string{}}, true
}

func existsForm(s *schema, t *table) (statement, bool) {
	if t.parent == nil {
		return statement{}, false
	}
	a, b := t.parent.of(roleRef, roleClass), t.of(roleClass, roleTime)
	if len(a) == 0 || len(b) == 0 {
		return statement{}, false
	}
	c, d := pick(s.rnd, a...), pick(s.rnd, b...)
	op := " = "
	if d.role == roleTime {
		op = " > "
	}
	return statement{Form: fmt.Sprintf("SELECT p.id FROM %s p WHERE p.%s AND EXISTS (SELECT 1 FROM %s c WHERE c.%s = p.id AND c.%s%s%s)", t.parent.name, equal(t.parent, c), t.name, t.refers, d.name, op, value(t, d)),
		Names: map[string][]string{t.parent.name: {c.name}, t.name: {t.refers, d.name}}, Reads: map[string][]string{t.parent.name: {"id"}}}, true
}

func latestForm(s *schema, t *table) (statement, bool) {
	c, ok := s.some(t, 1, roleRef, roleClass)
	o, ok2 := s.some(t, 1, roleTime, roleNumber)
	if !ok || !ok2 {
		return statement{}, false
	}
	return statement{Form: fmt.Sprintf("SELECT %s(%s) FROM %s WHERE %s", pick(s.rnd, "MAX", "MIN"), o[0].name, t.name, equal(t, c[0])), Names: one(t, []string{c[0].name, o[0].name}), Reads: one(t, nil)}, true
}

func nullForm(s *schema, t *table) (statement, bool) {
	for _, n := range t.of(roleTime) {
		if c, ok := s.some(t, 1, roleRef, roleClass); ok && n.nullable {
			return s.simple(t, equal(t, c[0])+" AND "+n.name+" IS NULL", []string{c[0].name, n.name}), true
		}
	}
	return statement{}, false
}

// changed is a column that an UPDATE sets: one that no foreign key needs.
func (s *schema) changed(t *table) (column, bool) {
	c, ok := s.some(t, 1, roleClass, roleNumber, roleTime)
	if !ok {
		return column{}, false
	}
	return c[0], true
}

func updateForm(s *schema, t *table) (statement, bool) {
	c, ok := s.some(t, 1+s.rnd.IntN(2), roleKey, roleRef)
	set, ok2 := s.changed(t)
	if !ok || !ok2 {
		return statement{}, false
	}
	var where, names []string
	for _, x := range c {
		where, names = append(where, equal(t, x)), append(names, x.name)
	}
	return statement{Form: fmt.Sprintf("UPDATE %s SET %s = {%s.%s#3} WHERE %s", t.name, set.name, t.name, set.name, strings.Join(where, " AND ")), Names: one(t, names), Reads: one(t, nil), Write: true}, true
}

// deleteForm asks for a key's rows: deleting members that others refer to would fail.
func deleteForm(s *schema, t *table) (statement, bool) {
	for _, o := range s.tables {
		if o.foreign && o.parent == t {
			return statement{}, false
		}
	}
	c, ok := s.some(t, 1, roleKey, roleRef)
	if !ok {
		return statement{}, false
	}
	where, names := equal(t, c[0]), []string{c[0].name}
	if r, ok := s.some(t, 1, roleTime); ok && s.rnd.Float64() < 0.4 && r[0].name != c[0].name {
		where, names = where+fmt.Sprintf(" AND %s < %s", r[0].name, value(t, r[0])), append(names, r[0].name)
	}
	return statement{Form: fmt.Sprintf("DELETE FROM %s WHERE %s", t.name, where), Names: one(t, names), Reads: one(t, nil), Write: true}, true
}

func insertForm(s *schema, t *table) (statement, bool) {
	var names, values []string
	for i, c := range t.columns[1:] {
		names = append(names, c.name)
		values = append(values, fmt.Sprintf("{%s.%s#%d}", t.name, c.name, i))
	}
	return statement{Form: fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", t.name, strings.Join(names, ", "), strings.Join(values, ", ")), Names: map[string][]string{}, Reads: map[string][]string{}, Write: true}, true
}
