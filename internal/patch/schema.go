package patch

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kasoku/internal/tables"
)

// schema is what is known of tables: by the .sql files of a checkout, which nothing runs, and
// by a database.
type schema struct {
	tables map[string]*table // by name in lower case
	// acts: a trigger, or a foreign key that changes rows of another table.
	acts bool
}

type table struct {
	columns map[string]string // type by name, both in lower case
	unique  map[string]bool   // columns that are a unique key by themselves
	null    map[string]bool   // columns that take null
	itself  bool              // a foreign key refers to the table itself
	filled  string            // a column that fills numbers with zeros
}

const (
	mostSchemaBytes = 1 << 20 // what is larger holds rows
	mostSchemaFiles = 200
)

// schemaOf is what a database and the .sql files tell. Where both tell of a table, the
// database is right.
func schemaOf(dir string, known []tables.Table) (*schema, error) {
	s, err := readSchema(dir)
	if err != nil {
		return nil, err
	}
	for _, t := range known {
		s.take(t)
	}
	return s, nil
}

// take notes a table of a database.
func (s *schema) take(of tables.Table) {
	t := &table{columns: map[string]string{}, unique: map[string]bool{}, null: map[string]bool{}, itself: of.Itself}
	for name, kind := range of.Columns {
		name, kind = strings.ToLower(name), strings.ToLower(kind)
		if strings.Contains(kind, "zerofill") {
			t.filled = name
		}
		if end := strings.IndexAny(kind, "( "); end > 0 {
			kind = kind[:end]
		}
		t.columns[name] = kind
	}
	for _, name := range of.Nullable {
		t.null[strings.ToLower(name)] = true
	}
	for _, name := range of.Unique {
		t.unique[strings.ToLower(name)] = true
	}
	s.tables[strings.ToLower(of.Name)] = t
	s.acts = s.acts || of.Acts
}

// readSchema reads the .sql files of the checkout that a folder is in, or below the folder.
func readSchema(dir string) (*schema, error) {
	top := dir
	for up := dir; up != filepath.Dir(up); up = filepath.Dir(up) {
		if _, err := os.Stat(filepath.Join(up, ".git")); err == nil {
			top = up
			break
		}
	}
	s := &schema{tables: map[string]*table{}}
	// A program in a folder of a larger checkout has its schema beside it, or above.
	for at := dir; ; at = filepath.Dir(at) {
		if err := s.readFolder(at); err != nil {
			return nil, err
		}
		if len(s.tables) > 0 || at == top || at == filepath.Dir(at) {
			return s, nil
		}
	}
}

func (s *schema) readFolder(dir string) error {
	files := 0
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // what cannot be read tells nothing
		case d.IsDir():
			if name != dir && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"vendor", "node_modules"}, d.Name())) {
				return fs.SkipDir
			}
		case strings.HasSuffix(d.Name(), ".sql") && d.Type().IsRegular():
			if files++; files > mostSchemaFiles {
				return fs.SkipAll
			}
			info, err := d.Info()
			if err != nil || info.Size() > mostSchemaBytes {
				return nil //nolint:nilerr // as above
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return nil //nolint:nilerr // as above
			}
			s.read(string(text))
		}
		return nil
	})
}

// read takes the tables of one file.
func (s *schema) read(text string) {
	for _, one := range strings.Split(withoutComments(text), ";") {
		ws, ok := words(one)
		if !ok || len(ws) < 3 {
			continue
		}
		head := strings.ToUpper(one[ws[0].from:min(len(one), ws[0].from+300)])
		switch {
		case strings.HasPrefix(head, "CREATE") && strings.Contains(head, "TRIGGER"):
			s.acts = true
		case strings.HasPrefix(head, "CREATE TABLE"), strings.HasPrefix(head, "CREATE TEMPORARY TABLE"):
			s.create(ws)
		case strings.HasPrefix(head, "CREATE UNIQUE INDEX"), strings.HasPrefix(head, "ALTER TABLE"):
			s.alter(ws)
		}
		s.refers(ws)
		for i, w := range ws {
			if w.is("ON") && i+2 < len(ws) && (ws[i+1].is("DELETE") || ws[i+1].is("UPDATE")) && (ws[i+2].is("CASCADE") || ws[i+2].is("SET") && i+3 < len(ws) && !ws[i+3].is("CURRENT_TIMESTAMP")) && strings.Contains(strings.ToUpper(one), "REFERENCES") {
				s.acts = true
			}
		}
	}
}

// refers notes a table that CREATE TABLE or ALTER TABLE makes refer to itself.
func (s *schema) refers(ws []word) {
	name := ws[2].text // ALTER TABLE name
	if ws[0].is("CREATE") {
		open := slices.IndexFunc(ws, func(w word) bool { return w.is("(") })
		if open < 1 {
			return
		}
		name = ws[open-1].text
	}
	t := s.tables[strings.ToLower(name)]
	for i, w := range ws {
		if t != nil && w.is("REFERENCES") && i+1 < len(ws) && strings.EqualFold(ws[i+1].text, name) {
			t.itself = true
		}
	}
}

func (s *schema) refersToItself(tableName string) bool {
	t := s.tables[strings.ToLower(tableName)]
	return t != nil && t.itself
}

func withoutComments(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if at := strings.Index(l, "-- "); at >= 0 {
			lines[i] = l[:at]
		}
		if strings.HasPrefix(strings.TrimSpace(lines[i]), "#") || strings.TrimSpace(lines[i]) == "--" {
			lines[i] = ""
		}
	}
	text = strings.Join(lines, "\n")
	for {
		from := strings.Index(text, "/*")
		if from < 0 {
			return text
		}
		to := strings.Index(text[from:], "*/")
		if to < 0 {
			return text[:from]
		}
		text = text[:from] + " " + text[from+to+2:]
	}
}

// create reads CREATE TABLE name ( … ).
func (s *schema) create(ws []word) {
	open := slices.IndexFunc(ws, func(w word) bool { return w.is("(") })
	if open < 1 {
		return
	}
	t := &table{columns: map[string]string{}, unique: map[string]bool{}, null: map[string]bool{}}
	s.tables[strings.ToLower(ws[open-1].text)] = t
	var keys []word // of the primary key, and of others
	for _, part := range parts(ws[open+1:]) {
		if key, ok := uniqueOf(part); ok {
			if key != "" {
				t.unique[key] = true
			}
			keys = append(keys, part...)
			continue
		}
		if len(part) < 2 || !part[0].quoted && slices.Contains([]string{"KEY", "INDEX", "FULLTEXT", "SPATIAL", "CONSTRAINT", "FOREIGN", "CHECK"}, strings.ToUpper(part[0].text)) {
			continue
		}
		name := strings.ToLower(part[0].text)
		t.columns[name] = strings.ToLower(part[1].text)
		t.noteFilled(name, part)
		t.noteKeys(name, part)
	}
	for _, w := range keys {
		t.null[strings.ToLower(w.text)] = false
	}
}

// noteKeys notes whether a column is a key by itself, and whether it takes null.
func (t *table) noteKeys(name string, part []word) {
	t.null[name] = true
	for i, w := range part {
		primary := w.is("PRIMARY") && i+1 < len(part) && part[i+1].is("KEY")
		if w.is("UNIQUE") || primary {
			t.unique[name] = true
		}
		if primary || w.is("NOT") || w.is("SERIAL") || w.is("AUTO_INCREMENT") || w.is("TIMESTAMP") {
			t.null[name] = false
		}
	}
}

// noteFilled notes a column that fills numbers with zeros.
func (t *table) noteFilled(name string, part []word) {
	if slices.ContainsFunc(part, func(w word) bool { return w.is("ZEROFILL") }) {
		t.filled = name
	}
}

// alter reads what adds a unique key of one column.
func (s *schema) alter(ws []word) {
	if ws[0].is("CREATE") { // UNIQUE INDEX name ON table (column)
		for i, w := range ws {
			if w.is("ON") && i+4 < len(ws) && ws[i+2].is("(") && ws[i+4].is(")") {
				s.add(ws[i+1].text, ws[i+3].text)
			}
		}
		return
	}
	for i, w := range ws {
		if w.is("ADD") {
			if key, ok := uniqueOf(ws[i+1:]); ok && key != "" && len(ws) > 2 {
				s.add(ws[2].text, key)
			}
		}
	}
}

func (s *schema) add(table, column string) {
	if t := s.tables[strings.ToLower(table)]; t != nil {
		t.unique[strings.ToLower(column)] = true
	}
}

// uniqueOf reads "PRIMARY KEY (a)" and "[CONSTRAINT x] UNIQUE [KEY] [name] (a)"; "" if it is of several
// columns, or of the beginning of one.
func uniqueOf(part []word) (string, bool) {
	if len(part) > 2 && part[0].is("CONSTRAINT") {
		if part = part[1:]; !part[0].is("UNIQUE") && !part[0].is("PRIMARY") {
			part = part[1:]
		}
	}
	if len(part) < 3 || part[0].quoted || !part[0].is("PRIMARY") && !part[0].is("UNIQUE") {
		return "", false
	}
	open := slices.IndexFunc(part, func(w word) bool { return w.is("(") })
	if open > 0 && open+2 < len(part) && part[open+2].is(")") {
		return strings.ToLower(part[open+1].text), true
	}
	return "", true
}

// parts of a list up to its closing bracket, at its commas.
func parts(ws []word) [][]word {
	var out [][]word
	depth, from := 0, 0
	for i, w := range ws {
		switch {
		case w.is("("):
			depth++
		case w.is(")"):
			if depth--; depth < 0 {
				return append(out, ws[from:i])
			}
		case w.is(",") && depth == 0:
			out, from = append(out, ws[from:i]), i+1
		}
	}
	return append(out, ws[from:])
}

func (s *schema) isUnique(tableName, column string) bool {
	t := s.tables[strings.ToLower(tableName)]
	return t != nil && t.unique[strings.ToLower(column)]
}

// typeOf a column in lower case; "" if it is not known.
func (s *schema) typeOf(tableName, column string) string {
	if t := s.tables[strings.ToLower(tableName)]; t != nil {
		return t.columns[strings.ToLower(column)]
	}
	return ""
}

// unlikeInUnion is a column of a table whose values a UNION may give in another form: the
// type of its result is that of a temporary table. "" if none is known.
func (s *schema) unlikeInUnion(tableName string) string {
	t := s.tables[strings.ToLower(tableName)]
	if t == nil {
		return ""
	}
	for _, column := range slices.Sorted(maps.Keys(t.columns)) {
		if slices.Contains([]string{"float", "real", "bit", "year", "geometry", "point", "polygon", "linestring", "multipoint", "multipolygon"}, t.columns[column]) {
			return column
		}
	}
	return t.filled
}
