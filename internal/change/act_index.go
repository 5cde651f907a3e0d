package change

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// indexAct creates or drops one secondary index.
type indexAct struct{ work }

// indexColumn is "col", "col(10)", or either with DESC behind it.
var indexColumn = regexp.MustCompile("^`?([^`()]+?)`?(?:\\(([0-9]+)\\))?( DESC)?$")

func (a *indexAct) prepare(ctx context.Context) ([][]byte, error) {
	c := a.c
	x := c.Index
	if x == nil || c.Service == "" || x.Schema == "" || x.Table == "" || x.Name == "" || len(x.Columns) == 0 {
		return nil, fmt.Errorf("%s: it needs a service, schema, table, name and columns", c.Title())
	}
	if strings.EqualFold(x.Name, "PRIMARY") {
		return nil, fmt.Errorf("%s: a primary key is not changed", c.Title())
	}
	for _, col := range x.Columns {
		if !indexColumn.MatchString(col) {
			return nil, fmt.Errorf("%s: column %q is not of the form col, col(10) or col DESC", c.Title(), col)
		}
	}
	s, err := a.x.session(ctx, c.Service)
	if err != nil {
		return nil, err
	}
	defer s.close()
	c.Reported, c.IndexDef, c.IndexAfter, c.IndexKeys = "", "", nil, nil
	have, err := a.columns(ctx, s)
	if err != nil {
		return nil, err
	}
	switch {
	case !c.Drop && sameColumns(x.Columns, have):
		return nil, fmt.Errorf("%s: %w: this very index is there already", a.subject(), ErrChanged)
	case !c.Drop && have != nil:
		return nil, fmt.Errorf("%s: %w: an index of that name is there, on (%s)", a.subject(), ErrChanged, strings.Join(have, ", "))
	case !c.Drop:
		if err := a.tableExists(ctx, s); err != nil {
			return nil, err
		}
		c.IndexKeys, err = a.mayReplace(ctx, s)
		return nil, err
	case have == nil:
		return nil, fmt.Errorf("%s: %w: there is no such index to drop", a.subject(), ErrChanged)
	case !sameColumns(x.Columns, have):
		return nil, fmt.Errorf("%s: %w: it is on (%s), the plan saw (%s)", a.subject(), ErrChanged, strings.Join(have, ", "), strings.Join(x.Columns, ", "))
	}
	if c.IndexDef, c.IndexAfter, err = a.definition(ctx, s); err != nil {
		return nil, err
	}
	c.IndexAfter = slices.DeleteFunc(c.IndexAfter, a.droppedBefore)
	return nil, a.canStandAgain(ctx, s)
}

// droppedBefore reports whether an earlier change of the plan drops the key with this
// definition: undo goes backwards, so that key stands after this one again without having been made anew.
func (a *indexAct) droppedBefore(def string) bool {
	key := keyOf(a.c.Index, def)
	return slices.ContainsFunc(a.t.Changes[:a.i], func(o Change) bool {
		return o.Kind == KindIndex && o.Drop && o.Service == a.c.Service && o.Index != nil &&
			o.Index.Schema == key.Schema && o.Index.Table == key.Table && strings.EqualFold(o.Index.Name, key.Name)
	})
}

// canStandAgain is an error if undo could not put a dropped index back before those
// that stand after it now: the server adds a key behind all others of its sort, so
// they must be made anew, which takes time on a large table, and must not be where
// they keep rows unique or a foreign key needs them.
func (a *indexAct) canStandAgain(ctx context.Context, s *session) error {
	if len(a.c.IndexAfter) == 0 {
		return nil
	}
	const why = "keys stand after it, and undo would have to make them anew to put it back in its place"
	if strings.HasPrefix(a.c.IndexDef, "UNIQUE ") {
		return fmt.Errorf("%s: other unique %s; they must not be gone for a moment", a.subject(), why)
	}
	n, err := a.foreignKeys(ctx, s)
	if err != nil {
		return err
	}
	if n > 0 {
		return fmt.Errorf("%s: %w: %s, which the table's foreign keys do not allow", a.subject(), ErrHeld, why)
	}
	if err := a.largeToLock(ctx, s); err != nil {
		return fmt.Errorf("%s: %s: %w", a.subject(), why, err)
	}
	return nil
}

func (a *indexAct) tableExists(ctx context.Context, s *session) error {
	var n int
	err := s.conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?",
		a.c.Index.Schema, a.c.Index.Table).Scan(&n)
	if err == nil && n == 0 {
		err = fmt.Errorf("%w: there is no table %s.%s", ErrChanged, a.c.Index.Schema, a.c.Index.Table)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", a.subject(), unreachable(err))
	}
	return nil
}

// columns reads the index's columns in order, nil if there is no such index.
func (a *indexAct) columns(ctx context.Context, s *session) ([]string, error) {
	rows, err := s.conn.QueryContext(ctx, `SELECT COLUMN_NAME, SUB_PART, COALESCE(COLLATION, '') FROM information_schema.STATISTICS
		WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND INDEX_NAME = ? ORDER BY SEQ_IN_INDEX`,
		a.c.Index.Schema, a.c.Index.Table, a.c.Index.Name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", a.subject(), unreachable(err))
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var name sql.NullString // NULL for an expression (MySQL 8)
		var prefix sql.NullInt64
		var direction string // A, D, or "" where the index has none
		if err := rows.Scan(&name, &prefix, &direction); err != nil {
			return nil, fmt.Errorf("read %s: %w", a.subject(), err)
		}
		col := name.String
		if !name.Valid {
			col = "<expression>"
		}
		if prefix.Valid {
			col = fmt.Sprintf("%s(%d)", col, prefix.Int64)
		}
		if direction == "D" {
			col += " DESC"
		}
		out = append(out, col)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", a.subject(), unreachable(err))
	}
	return out, nil
}

// sameColumns compares planned columns with the server's. A planned prefix
// that covers the whole column is reported without a length.
func sameColumns(planned, have []string) bool {
	if len(planned) != len(have) {
		return false
	}
	for i := range planned {
		p, h := indexColumn.FindStringSubmatch(planned[i]), indexColumn.FindStringSubmatch(have[i])
		if p == nil || h == nil || !strings.EqualFold(p[1], h[1]) || h[2] != "" && p[2] != h[2] || p[3] != h[3] {
			return false
		}
	}
	return true
}

// definition returns the index's line in SHOW CREATE TABLE, from which the very
// same index can be made again, and the lines of keys of its sort (unique, of words,
// of places, or none of these) that stand after it.
func (a *indexAct) definition(ctx context.Context, s *session) (def string, after []string, err error) {
	lines, err := a.keys(ctx, s)
	if err != nil {
		return "", nil, err
	}
	sort := ""
	for _, line := range lines {
		kind, rest, _ := strings.Cut(line, "KEY ")
		switch {
		case def != "" && kind == sort:
			after = append(after, line)
		case strings.HasPrefix(strings.ToLower(rest), strings.ToLower(quoteName(a.c.Index.Name))+" ("):
			def, sort = line, kind
		}
	}
	if def == "" {
		return "", nil, fmt.Errorf("%s: its definition is not in SHOW CREATE TABLE, so it could not be made again", a.subject())
	}
	return def, after, nil
}

func (a *indexAct) look(ctx context.Context) (sight, error) {
	s, err := a.x.session(ctx, a.c.Service)
	if err != nil {
		return sight{}, err
	}
	defer s.close()
	have, err := a.columns(ctx, s)
	if err != nil {
		return sight{}, err
	}
	there, absent := sameColumns(a.c.Index.Columns, have), have == nil
	v := sight{before: absent, after: there, got: a.describe(have)}
	if a.c.Drop {
		v.before, v.after = there, absent
	}
	return v, nil
}

func (a *indexAct) describe(columns []string) string {
	if columns == nil {
		return "absent"
	}
	return "on (" + strings.Join(columns, ", ") + ")"
}

func (a *indexAct) write(ctx context.Context) (string, error) {
	s, err := a.x.session(ctx, a.c.Service)
	if err != nil {
		return "", err
	}
	defer s.close()
	if err := a.dropLocks(ctx, s); err != nil {
		return "", err
	}
	if err := a.alter(ctx, s, a.c.SQL(), ifSmall); err != nil {
		if n := mysqlNumber(err); a.c.Drop && n == dropIndexFK {
			err = fmt.Errorf("%w: %w", ErrHeld, err)
		}
		return "", err
	}
	have, err := a.columns(ctx, s)
	return a.describe(have), err
}

func (a *indexAct) restore(ctx context.Context) error {
	s, err := a.x.session(ctx, a.c.Service)
	if err != nil {
		return err
	}
	defer s.close()
	switch {
	case a.c.Drop && len(a.c.IndexAfter) > 0:
		return a.standAgain(ctx, s)
	case a.c.Drop:
		return a.alter(ctx, s, a.c.UndoSQL(), anyway)
	}
	do := func(statement string) error { return a.alter(ctx, s, statement, anyway) }
	if err := a.replaced(ctx, s, do); err != nil {
		return err
	}
	return do(dropIndex(a.c.Index))
}

// standAgain makes a dropped index again before those that stood after it: these are
// dropped, and all are added by one statement in the order as found. It may begin
// where an undo that was killed has left it, between the two.
func (a *indexAct) standAgain(ctx context.Context, s *session) error {
	var drops, adds []string
	for _, def := range a.c.IndexAfter {
		other := indexAct{a.work}
		c := *a.c
		c.Index = keyOf(a.c.Index, def)
		other.c = &c
		have, err := other.columns(ctx, s)
		if err != nil {
			return err
		}
		if have != nil {
			drops = append(drops, "DROP INDEX "+quoteName(c.Index.Name))
		}
		adds = append(adds, "ADD "+def)
	}
	table := "ALTER TABLE " + tableName(a.c.Index) + " "
	if len(drops) > 0 {
		if err := a.alter(ctx, s, table+strings.Join(drops, ", "), anyway); err != nil {
			if n := mysqlNumber(err); n != 1142 { // the account may not ALTER: the index is worth more than its place
				return err
			}
			a.x.warn("%s is made again behind the other keys of its table, because the account has no ALTER privilege", a.subject())
			return a.alter(ctx, s, a.c.UndoSQL(), anyway)
		}
	}
	return a.alter(ctx, s, table+"ADD "+a.c.IndexDef+", "+strings.Join(adds, ", "), anyway)
}

// dropLocks is an error if dropping the index, or making it again to undo that,
// would keep others from a table that is too large for that: InnoDB drops every
// index in place, but makes one of words or places again under a lock; the other
// engines copy the table.
func (a *indexAct) dropLocks(ctx context.Context, s *session) error {
	if !a.c.Drop {
		return nil
	}
	var engine sql.NullString
	err := s.conn.QueryRowContext(ctx, "SELECT ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?",
		a.c.Index.Schema, a.c.Index.Table).Scan(&engine)
	if err != nil {
		return fmt.Errorf("%s: %w", a.subject(), unreachable(err))
	}
	words := strings.HasPrefix(a.c.IndexDef, "FULLTEXT ") || strings.HasPrefix(a.c.IndexDef, "SPATIAL ")
	if strings.EqualFold(engine.String, "InnoDB") && !words {
		return nil
	}
	if err := a.largeToLock(ctx, s); err != nil {
		return fmt.Errorf("%s: %w", a.c.SQL(), err)
	}
	return nil
}

func (a *indexAct) conflict(s sight) *ConflictError {
	before, after := "absent", a.describe(a.c.Index.Columns)
	if a.c.Drop {
		before, after = after, before
	}
	return a.differs(before, after, s.got)
}

// dropIndexFK: "Cannot drop index: needed in a foreign key constraint" (MySQL Error
// Message Reference, ER_DROP_INDEX_FK).
const dropIndexFK = 1553

// SQL is the statement of a variable, index or table change, "" for other kinds.
func (c *Change) SQL() string {
	switch {
	case c.Kind == KindVariable:
		return "SET GLOBAL " + c.Variable + " = " + quoteValue(c.AfterValue)
	case c.Kind == KindTable:
		return tableSQL(c.Table)
	case c.Kind != KindIndex || c.Index == nil:
		return ""
	case c.Drop:
		return dropIndex(c.Index)
	}
	return "CREATE INDEX " + quoteName(c.Index.Name) + " ON " + tableName(c.Index) + " (" + ColumnList(c.Index.Columns) + ")"
}

// UndoSQL is the statement that takes a variable, index or table change back.
func (c *Change) UndoSQL() string {
	switch {
	case c.Kind == KindVariable:
		return "SET GLOBAL " + c.Variable + " = " + quoteValue(c.BeforeValue)
	case c.Kind == KindTable:
		return strings.Join(tableUndo(c.Table), "; ")
	case c.Kind != KindIndex || c.Index == nil:
		return ""
	case c.Drop && c.IndexDef != "":
		return indexAgain(c.Index, c.IndexDef)
	case c.Drop:
		return "CREATE INDEX " + quoteName(c.Index.Name) + " ON " + tableName(c.Index) + " (" + ColumnList(c.Index.Columns) + ")"
	}
	undo := dropIndex(c.Index)
	for _, def := range c.IndexKeys {
		if serves(c.Index.Columns, def) { // then it may be gone
			undo = indexAgain(keyOf(c.Index, def), def) + "; " + undo
		}
	}
	return undo
}

// dropIndex needs the INDEX privilege only, as CREATE INDEX does; ALTER TABLE …
// DROP INDEX needs ALTER, so an account that may make an index could not take
// it back.
func dropIndex(x *Index) string {
	return "DROP INDEX " + quoteName(x.Name) + " ON " + tableName(x)
}

// indexAgain turns a line of SHOW CREATE TABLE, "UNIQUE KEY `i` (`a`) COMMENT
// 'c'", into the CREATE INDEX that makes the same index.
func indexAgain(x *Index, def string) string {
	kind, rest, _ := strings.Cut(def, "KEY ")
	n := min(len(quoteName(x.Name)), len(rest)) // the server's spelling of the name stays
	return "CREATE " + kind + "INDEX " + rest[:n] + " ON " + tableName(x) + rest[n:]
}

func quoteName(n string) string { return "`" + strings.ReplaceAll(n, "`", "``") + "`" }

func tableName(x *Index) string { return quoteName(x.Schema) + "." + quoteName(x.Table) }

func indexName(x *Index) string {
	if x == nil {
		return "(none given)"
	}
	return x.Schema + "." + x.Table + "." + x.Name
}

// ColumnList quotes an index's columns ("col", "col(10)", "col DESC") for SQL; a name
// that is of no such form is quoted as it is.
func ColumnList(columns []string) string {
	var out []string
	for _, col := range columns {
		m := indexColumn.FindStringSubmatch(col)
		if m == nil {
			m = []string{col, col, "", ""}
		}
		q := quoteName(m[1])
		if m[2] != "" {
			q += "(" + m[2] + ")"
		}
		out = append(out, q+m[3])
	}
	return strings.Join(out, ", ")
}
