package change

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// mayReplace are the plain keys of the table, in their order, if the server might take
// one of them away when the index is created: it makes a key for each foreign key that
// has none, and drops that silently as soon as another key begins with its columns
// (MySQL manual, "FOREIGN KEY Constraints"). nil if it cannot.
func (a *indexAct) mayReplace(ctx context.Context, s *session) ([]string, error) {
	n, err := a.foreignKeys(ctx, s)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, nil
	}
	keys, err := a.plainKeys(ctx, s)
	if err != nil || !slices.ContainsFunc(keys, func(def string) bool { return serves(a.c.Index.Columns, def) }) {
		return nil, err
	}
	return keys, nil
}

// foreignKeys counts the columns of foreign keys that the table has, and of those that
// refer to it.
func (a *indexAct) foreignKeys(ctx context.Context, s *session) (n int, err error) {
	x := a.c.Index
	err = s.conn.QueryRowContext(ctx, `SELECT COUNT(*) FROM information_schema.KEY_COLUMN_USAGE WHERE REFERENCED_TABLE_NAME IS NOT NULL
		AND (TABLE_SCHEMA = ? AND TABLE_NAME = ? OR REFERENCED_TABLE_SCHEMA = ? AND REFERENCED_TABLE_NAME = ?)`,
		x.Schema, x.Table, x.Schema, x.Table).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", a.subject(), unreachable(err))
	}
	return n, nil
}

// keys are the lines of the table's secondary keys in SHOW CREATE TABLE, in their
// order: "KEY `a` (`x`)", "UNIQUE KEY …", "FULLTEXT KEY …", "SPATIAL KEY …".
func (a *indexAct) keys(ctx context.Context, s *session) ([]string, error) {
	var table, text string
	if err := s.conn.QueryRowContext(ctx, "SHOW CREATE TABLE "+tableName(a.c.Index)).Scan(&table, &text); err != nil {
		return nil, fmt.Errorf("read the definition of %s: %w", a.subject(), unreachable(err))
	}
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(strings.TrimSpace(line), ",")
		kind, _, ok := strings.Cut(line, "KEY ")
		if ok && slices.Contains([]string{"", "UNIQUE ", "FULLTEXT ", "SPATIAL "}, kind) {
			out = append(out, line)
		}
	}
	return out, nil
}

// plainKeys are those of keys that are neither unique nor of words or places: what the
// server makes for a foreign key is one.
func (a *indexAct) plainKeys(ctx context.Context, s *session) ([]string, error) {
	all, err := a.keys(ctx, s)
	return slices.DeleteFunc(all, func(def string) bool { return !strings.HasPrefix(def, "KEY ") }), err
}

// keyOf is the index of the same table that a line of SHOW CREATE TABLE defines.
func keyOf(x *Index, def string) *Index {
	_, rest, _ := strings.Cut(def, "KEY ")
	name, _, _ := strings.Cut(rest, " (")
	of := *x
	of.Columns = nil
	of.Name = strings.ReplaceAll(strings.Trim(name, "`"), "``", "`")
	_, list, _ := strings.Cut(rest, " (")
	depth, quoted, begin := 0, false, 0
	for i, c := range list {
		switch {
		case c == '`':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')' && depth > 0:
			depth--
		case c == ',' || c == ')':
			of.Columns = append(of.Columns, list[begin:i])
			if begin = i + 1; c == ')' {
				return &of
			}
		}
	}
	return &of
}

// serves reports whether an index on the columns begins with those of a key.
func serves(columns []string, def string) bool {
	of := keyOf(&Index{}, def).Columns
	return len(of) <= len(columns) && sameColumns(columns[:len(of)], unquoted(of))
}

func unquoted(columns []string) []string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = strings.ReplaceAll(c, "`", "")
	}
	return out
}

// replaced makes the keys again that the server took away for the index, each in its
// place: keys that stand after one are made again behind it, and meanwhile another of
// the same columns stands in for each, for the foreign keys. The index itself goes
// last, so that an undo that was killed begins anew and finds its way from wherever it
// was left. CREATE INDEX and DROP INDEX need no more than the INDEX privilege.
func (a *indexAct) replaced(ctx context.Context, s *session, do func(statement string) error) error {
	now, err := a.plainKeys(ctx, s)
	if err != nil {
		return err
	}
	names := func(lines []string) []string {
		out := make([]string, len(lines))
		for i, def := range lines {
			out[i] = strings.ToLower(keyOf(a.c.Index, def).Name)
		}
		return out
	}
	there := names(now)
	has := func(name string) bool { return slices.Contains(there, strings.ToLower(name)) }
	standIn := func(i int) *Index {
		x := keyOf(a.c.Index, a.c.IndexKeys[i])
		x.Name = fmt.Sprintf("kasoku_for_%d", i)
		return x
	}
	first, tail := -1, []int(nil) // numbers of keys, from the first that is gone, or on its way
	for i, def := range a.c.IndexKeys {
		gone, under := !has(keyOf(a.c.Index, def).Name), has(standIn(i).Name)
		if first < 0 && (under || gone && serves(a.c.Index.Columns, def)) {
			first = i
		}
		if first >= 0 && (!gone || under || serves(a.c.Index.Columns, def)) { // else somebody dropped it
			tail = append(tail, i)
		}
	}
	if first < 0 {
		return nil
	}
	for _, i := range tail { // out of the way
		key, other := keyOf(a.c.Index, a.c.IndexKeys[i]), standIn(i)
		if !has(key.Name) {
			continue
		}
		if !has(other.Name) {
			if err := do("CREATE INDEX " + quoteName(other.Name) + " ON " + tableName(other) + " (" + strings.Join(other.Columns, ", ") + ")"); err != nil {
				return err
			}
			if now, err = a.plainKeys(ctx, s); err != nil {
				return err
			}
			there = names(now) // the server may have taken the key away for it
		}
		if has(key.Name) {
			if err := do(dropIndex(key)); err != nil {
				return err
			}
		}
	}
	for _, i := range tail {
		def := a.c.IndexKeys[i]
		if err := do(indexAgain(keyOf(a.c.Index, def), def)); err != nil {
			return err
		}
	}
	if now, err = a.plainKeys(ctx, s); err != nil {
		return err
	}
	there = names(now)
	for _, i := range tail {
		if other := standIn(i); has(other.Name) {
			if err := do(dropIndex(other)); err != nil {
				return err
			}
		}
	}
	return nil
}
