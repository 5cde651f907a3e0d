package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// instances of each statement that are measured.
const instances = 2

// lab is one schema on the server.
type lab struct {
	srv       *server
	s         *schema
	name      string
	descent   float64    // rows that a descent of an index counts as
	instances [][]string // by statement
	made      map[string]bool
	shown     []string
}

func load(ctx context.Context, srv *server, s *schema, descent float64) (*lab, error) {
	l := &lab{srv: srv, s: s, descent: descent, name: fmt.Sprintf("s%d", s.seed), made: map[string]bool{}}
	setup := []string{"DROP DATABASE IF EXISTS " + l.name, "CREATE DATABASE " + l.name, "USE " + l.name}
	for _, t := range s.tables {
		setup = append(setup, t.ddl()...)
	}
	for _, q := range setup {
		if err := srv.exec(ctx, q); err != nil {
			return nil, err
		}
	}
	for i, st := range s.stmts {
		var list []string
		for k := range instances {
			text, err := l.instance(ctx, st.Form, i, k)
			if err != nil {
				return nil, err
			}
			list = append(list, text)
		}
		l.instances = append(l.instances, list)
	}
	return l, nil
}

func (l *lab) drop(ctx context.Context) { l.srv.exec(ctx, "DROP DATABASE IF EXISTS "+l.name) }

var hole = regexp.MustCompile(`\{(\w+)\.(\w+)#(\d*)(?:\|([^}]*))?\}`)

// instance fills a form's holes with values of a row.
func (l *lab) instance(ctx context.Context, form string, statement, k int) (string, error) {
	var failed error
	text := hole.ReplaceAllStringFunc(form, func(h string) string {
		m := hole.FindStringSubmatch(h)
		t := l.s.table(m[1])
		nth, _ := strconv.Atoi(m[3])
		sum := fnv.New32a()
		fmt.Fprintf(sum, "%d/%d/%d", l.s.seed, statement, k)
		at := (int(sum.Sum32()>>3)+nth*7919)%t.rows + 1
		v, err := l.valueAt(ctx, t, m[2], m[4], at)
		if err != nil {
			failed = err
		}
		return v
	})
	return text, failed
}

func (l *lab) valueAt(ctx context.Context, t *table, name, rest string, at int) (string, error) {
	c := t.column(name)
	e := name
	switch rest {
	case "":
	case "start":
		e = fmt.Sprintf("CONCAT(LEFT(%s, 3), '%%')", name)
	default:
		e += " " + rest
	}
	number := strings.Contains(c.kind, "INT") || strings.HasPrefix(c.kind, "DECIMAL") || strings.HasPrefix(c.kind, "DOUBLE")
	if !number {
		e = "QUOTE(" + e + ")"
	}
	for _, from := range []int{at, 1} {
		rows, err := l.srv.rows(ctx, fmt.Sprintf("SELECT %s FROM %s WHERE %s IS NOT NULL AND id >= %d ORDER BY id LIMIT 1", e, t.name, name, from))
		if err != nil {
			return "", err
		}
		if len(rows) == 1 {
			return rows[0][0], nil
		}
	}
	return "NULL", nil
}

func (s *schema) table(name string) *table {
	return s.tables[slices.IndexFunc(s.tables, func(t *table) bool { return t.name == name })]
}

func (t *table) column(name string) column {
	return t.columns[slices.IndexFunc(t.columns, func(c column) bool { return c.name == name })]
}

// create makes indexes, hidden from the optimizer, and returns the bytes of
// their entries.
func (l *lab) create(ctx context.Context, list []index) (map[string]int64, error) {
	adds := map[string][]string{}
	for _, x := range list {
		if !l.made[x.key()] {
			l.made[x.key()] = true
			adds[x.Table] = append(adds[x.Table], fmt.Sprintf("ADD INDEX `%s` (%s) IGNORED", x.key(), strings.Join(x.Columns, ", ")))
		}
	}
	for _, t := range l.s.tables {
		if len(adds[t.name]) == 0 {
			continue
		}
		for _, q := range []string{"ALTER TABLE " + t.name + " " + strings.Join(adds[t.name], ", "), "ANALYZE TABLE " + t.name} {
			if err := l.srv.exec(ctx, q); err != nil {
				return nil, err
			}
		}
	}
	// All pages of what was just built are in the buffer pool. (Table innodb_index_stats
	// counts whole extents, and one leaf page where all pages were read.)
	rows, err := l.srv.rows(ctx, "SELECT INDEX_NAME, SUM(DATA_SIZE) FROM information_schema.INNODB_BUFFER_PAGE WHERE TABLE_NAME LIKE '`"+l.name+"`.%' GROUP BY INDEX_NAME")
	if err != nil {
		return nil, err
	}
	out := map[string]int64{}
	for _, r := range rows {
		n, _ := strconv.ParseInt(r[1], 10, 64)
		out[r[0]] = n
	}
	for _, x := range list {
		if out[x.key()] == 0 {
			return nil, fmt.Errorf("the server tells no size of %s.%s", l.name, x.key())
		}
	}
	return out, nil
}

// show makes the optimizer see these of the made indexes and no others.
func (l *lab) show(ctx context.Context, set []index) error {
	var want []string
	for _, x := range set {
		want = append(want, x.key())
	}
	words := map[string][]string{}
	change := func(key, word string) {
		table, _, _ := strings.Cut(key, "(")
		words[table] = append(words[table], fmt.Sprintf("ALTER INDEX `%s` %s", key, word))
	}
	for _, key := range l.shown {
		if !slices.Contains(want, key) {
			change(key, "IGNORED")
		}
	}
	for _, key := range want {
		if !slices.Contains(l.shown, key) {
			change(key, "NOT IGNORED")
		}
	}
	for _, t := range l.s.tables {
		if len(words[t.name]) > 0 {
			if err := l.srv.exec(ctx, "ALTER TABLE "+t.name+" "+strings.Join(words[t.name], ", ")); err != nil {
				return err
			}
		}
	}
	l.shown = want
	return nil
}

// reads is the mean of rows read, index entries looked at by a pushed condition among
// them, for one execution. What is written is rolled back. The tables are opened first, as
// the server counts what it reads of its own statistics then.
func (l *lab) reads(ctx context.Context, statement int) (float64, error) {
	sum := 0.0
	for _, q := range l.instances[statement] {
		for _, step := range []string{"EXPLAIN " + q, "FLUSH STATUS", "BEGIN", q} {
			if err := l.srv.exec(ctx, step); err != nil {
				return 0, err
			}
		}
		rows, err := l.srv.rows(ctx, "SHOW SESSION STATUS WHERE Variable_name LIKE 'Handler_read%' OR Variable_name LIKE 'Handler_icp_%'")
		if err != nil {
			return 0, err
		}
		matched := 0.0
		for _, r := range rows {
			n, _ := strconv.ParseFloat(r[1], 64)
			if r[0] == "Handler_read_key" {
				n *= l.descent
			}
			if r[0] == "Handler_icp_match" { // read as well
				matched += n
				n = 0
			}
			sum += n
		}
		sum -= matched
		if err := l.srv.exec(ctx, "ROLLBACK"); err != nil {
			return 0, err
		}
	}
	return sum / float64(len(l.instances[statement])), nil
}
