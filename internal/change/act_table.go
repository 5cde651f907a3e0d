package change

import (
	"context"
	"fmt"
	"regexp"
	"strings"
)

// Table names one table and the storage engine that it gets.
type Table struct {
	Schema string `json:"schema"`
	Name   string `json:"name"`
	// Engine after the change; Before is the one that the plan saw.
	Engine string `json:"engine"`
	Before string `json:"before"`
	// Def is the table's definition before the change, as SHOW CREATE TABLE has
	// it, without the next AUTO_INCREMENT value. The executor fills it in.
	Def string `json:"def,omitempty"`
}

// maxTableRows of a table whose engine is changed: the server copies it while
// nobody writes to it.
const maxTableRows = 1000

// CopiedMost is the largest table, rows and indexes, that is copied into InnoDB, which it
// stays in: a minute at the 8 MiB a second that were seen on a busy machine. Of a system
// that people use it is LockedMost.
const CopiedMost = 512 << 20 // bytes

// tableAct changes the storage engine of one table, small or meant for InnoDB. The rows are the
// service's: they go along both ways, as they are at that moment.
type tableAct struct{ work }

func (a *tableAct) prepare(ctx context.Context) ([][]byte, error) {
	c := a.c
	x := c.Table
	if x == nil || c.Service == "" || x.Schema == "" || x.Name == "" || x.Engine == "" || x.Before == "" || strings.EqualFold(x.Engine, x.Before) {
		return nil, fmt.Errorf("%s: it needs a service, schema, name, an engine and another one before", c.Title())
	}
	if !engineName.MatchString(x.Engine) || !engineName.MatchString(x.Before) {
		return nil, fmt.Errorf("%s: %q is not the name of an engine", c.Title(), x.Engine)
	}
	s, err := a.x.session(ctx, c.Service)
	if err != nil {
		return nil, err
	}
	defer s.close()
	c.Reported, x.Def = "", ""
	def, err := a.definition(ctx, s)
	switch {
	case err != nil:
		return nil, err
	case def == "":
		return nil, fmt.Errorf("%s: %w: there is no such table", a.subject(), ErrChanged)
	case !strings.EqualFold(engineOf(def), x.Before):
		return nil, fmt.Errorf("%s: %w: its engine is %s, the plan saw %s", a.subject(), ErrChanged, engineOf(def), x.Before)
	}
	if why := keepsFrom(def, x.Engine); why != "" {
		return nil, fmt.Errorf("%s: its engine is not changed, because %s and could not be put back exactly", a.subject(), why)
	}
	x.Def = def
	return nil, a.refuses(ctx, s)
}

var (
	engineName = regexp.MustCompile(`^[A-Za-z]+$`)
	engineForm = regexp.MustCompile(`(?m)^\) ENGINE=(\w+)`)
	// nextID is not part of a definition: it counts.
	nextID = regexp.MustCompile(`(?m)^(\) ENGINE=\w+) AUTO_INCREMENT=\d+`)
	// ariaOptions stay in the definition when a table was Aria once.
	ariaOptions = regexp.MustCompile(` (PAGE_CHECKSUM|TRANSACTIONAL)=([01])`)
	// keptOptions stay in the definition, unused, while a table of MyISAM is InnoDB.
	keptOptions = regexp.MustCompile(` (?:MIN_ROWS|MAX_ROWS|AVG_ROW_LENGTH|PACK_KEYS|CHECKSUM|DELAY_KEY_WRITE)=\d+| ROW_FORMAT=(?:DYNAMIC|COMPACT)`)
	// plainOptions are those of the table that every engine takes along.
	plainOptions = regexp.MustCompile(`^\) ENGINE=\w+( DEFAULT CHARSET=\w+)?( COLLATE=\w+)?( PAGE_CHECKSUM=[01])?( TRANSACTIONAL=[01])?( COMMENT='(?:[^']|'')*')?( PAGE_CHECKSUM=[01])?( TRANSACTIONAL=[01])?$`)
)

// engineOf a definition.
func engineOf(def string) string {
	if m := engineForm.FindStringSubmatch(def); m != nil {
		return m[1]
	}
	return ""
}

// rowsGoAlong: the two engines between which tables of many rows go, too.
func rowsGoAlong(engine string) bool {
	return strings.EqualFold(engine, "InnoDB") || strings.EqualFold(engine, "MyISAM")
}

// keepsFrom says what in a definition another engine would lose, "" if nothing.
func keepsFrom(def, engine string) string {
	lines := strings.Split(strings.TrimSpace(def), "\n")
	last := lines[len(lines)-1]
	if rowsGoAlong(engine) {
		last = keptOptions.ReplaceAllString(last, "")
	}
	if !plainOptions.MatchString(last) {
		return "it has options of its own (" + strings.TrimPrefix(last, ") ") + ")"
	}
	for _, l := range lines[1 : len(lines)-1] {
		l = strings.TrimSpace(l)
		for _, begin := range []string{"CONSTRAINT", "FULLTEXT", "SPATIAL", "PERIOD"} {
			if begin == "FULLTEXT" && rowsGoAlong(engine) {
				continue
			}
			if strings.HasPrefix(l, begin) {
				return "it has " + strings.ToLower(begin) + " definitions"
			}
		}
		if strings.Contains(l, "GENERATED ALWAYS") || strings.Contains(l, "SYSTEM VERSIONING") {
			return "it has generated columns"
		}
	}
	return ""
}

// refuses a table that is large, or tied to others.
func (a *tableAct) refuses(ctx context.Context, s *session) error {
	type limit struct {
		query string
		args  []any
		most  int
		why   string
	}
	x := a.c.Table
	large := limit{"SELECT COUNT(*) FROM (SELECT 1 FROM " + a.name() + fmt.Sprintf(" LIMIT %d) AS rows_of_it", maxTableRows+1), nil, maxTableRows,
		fmt.Sprintf("it has more than %d rows", maxTableRows)}
	if rowsGoAlong(x.Engine) && rowsGoAlong(x.Before) {
		most := CopiedMost
		if st := a.x.options.Stack; st != nil && st.Regulation.Production {
			most = LockedMost
		}
		large = limit{"SELECT COALESCE(DATA_LENGTH + INDEX_LENGTH, 0) FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?", []any{x.Schema, x.Name}, most,
			fmt.Sprintf("it is larger than %d MiB", most>>20)}
	}
	for _, q := range []limit{
		large,
		{"SELECT COUNT(*) FROM information_schema.KEY_COLUMN_USAGE WHERE REFERENCED_TABLE_SCHEMA = ? AND REFERENCED_TABLE_NAME = ?", []any{x.Schema, x.Name}, 0,
			"a foreign key refers to it"},
		{"SELECT COUNT(*) FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = ? AND EVENT_OBJECT_TABLE = ?", []any{x.Schema, x.Name}, 0,
			"it has triggers"},
	} {
		var n int
		if err := s.conn.QueryRowContext(ctx, q.query, q.args...).Scan(&n); err != nil {
			return fmt.Errorf("%s: %w", a.subject(), unreachable(err))
		}
		if n > q.most {
			return fmt.Errorf("%s: its engine is not changed, because %s", a.subject(), q.why)
		}
	}
	return nil
}

func (a *tableAct) name() string {
	return quoteName(a.c.Table.Schema) + "." + quoteName(a.c.Table.Name)
}

// definition of the table without its next AUTO_INCREMENT value; "" if there is
// no such table.
func (a *tableAct) definition(ctx context.Context, s *session) (string, error) {
	var table, text string
	err := s.conn.QueryRowContext(ctx, "SHOW CREATE TABLE "+a.name()).Scan(&table, &text)
	switch mysqlNumber(err) {
	case 1146, 1049: // no such table, no such schema
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the definition of %s: %w", a.subject(), unreachable(err))
	}
	return nextID.ReplaceAllString(text, "$1"), nil
}

// withoutKeys is a definition without its indexes: those are objects of their
// own, which another change may have made meanwhile.
func withoutKeys(def string) string {
	var out []string
	for line := range strings.Lines(def) {
		line = strings.TrimSuffix(strings.TrimSpace(line), ",")
		if !strings.HasPrefix(line, "KEY ") && !strings.HasPrefix(line, "UNIQUE KEY ") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// body is a definition without indexes and what a change of engine changes.
func body(def string) string {
	return ariaOptions.ReplaceAllString(engineForm.ReplaceAllString(withoutKeys(def), ")"), "")
}

func (a *tableAct) look(ctx context.Context) (sight, error) {
	s, err := a.x.session(ctx, a.c.Service)
	if err != nil {
		return sight{}, err
	}
	defer s.close()
	def, err := a.definition(ctx, s)
	if err != nil {
		return sight{}, err
	}
	x := a.c.Table
	v := sight{before: withoutKeys(def) == withoutKeys(x.Def), got: "engine " + engineOf(def)}
	v.after = strings.EqualFold(engineOf(def), x.Engine) && body(def) == body(x.Def)
	switch {
	case def == "":
		v.got = "absent"
	case !v.before && !v.after:
		v.got = "engine " + engineOf(def) + ", and another definition than before"
	}
	return v, nil
}

func (a *tableAct) write(ctx context.Context) (string, error) {
	s, err := a.x.session(ctx, a.c.Service)
	if err != nil {
		return "", err
	}
	defer s.close()
	if err := a.alter(ctx, s, a.c.SQL(), ifSmall); err != nil {
		return "", err
	}
	def, err := a.definition(ctx, s)
	if err == nil && !strings.EqualFold(engineOf(def), a.c.Table.Engine) {
		// Without NO_ENGINE_SUBSTITUTION in sql_mode the server takes another one.
		err = fmt.Errorf("%s: the server made it %s", a.c.SQL(), engineOf(def))
	}
	return "engine " + engineOf(def), err
}

func (a *tableAct) restore(ctx context.Context) error {
	s, err := a.x.session(ctx, a.c.Service)
	if err != nil {
		return err
	}
	defer s.close()
	for _, statement := range tableUndo(a.c.Table) {
		if err := a.alter(ctx, s, statement, anyway); err != nil {
			return err
		}
	}
	return nil
}

// claim: the engine is back, and an undo was killed before it had taken out what
// the other engine left in the definition.
func (a *tableAct) claim(ctx context.Context, v sight) (sight, error) {
	s, err := a.x.session(ctx, a.c.Service)
	if err != nil {
		return v, err
	}
	defer s.close()
	def, err := a.definition(ctx, s)
	if err != nil {
		return v, err
	}
	v.after = strings.EqualFold(engineOf(def), a.c.Table.Before) && body(def) == body(a.c.Table.Def)
	return v, nil
}

func (a *tableAct) conflict(s sight) *ConflictError {
	return a.differs("engine "+a.c.Table.Before, "engine "+a.c.Table.Engine, s.got)
}

// tableSQL is the statement of a KindTable change.
func tableSQL(x *Table) string {
	if x == nil {
		return ""
	}
	return "ALTER TABLE " + quoteName(x.Schema) + "." + quoteName(x.Name) + " ENGINE=" + x.Engine
}

// tableUndo are the statements that take it back. The definition keeps options
// of Aria that it did not have before; MariaDB takes them out again only in a
// statement that does not change the engine too.
func tableUndo(x *Table) []string {
	if x == nil {
		return nil
	}
	alter := "ALTER TABLE " + quoteName(x.Schema) + "." + quoteName(x.Name)
	out := []string{alter + " ENGINE=" + x.Before}
	if !strings.EqualFold(x.Engine, "Aria") {
		return out
	}
	var options []string
	for _, option := range []string{"PAGE_CHECKSUM", "TRANSACTIONAL"} {
		value := "DEFAULT"
		for _, m := range ariaOptions.FindAllStringSubmatch(x.Def, -1) {
			if m[1] == option {
				value = m[2]
			}
		}
		options = append(options, option+"="+value)
	}
	return append(out, alter+" "+strings.Join(options, ", "))
}
