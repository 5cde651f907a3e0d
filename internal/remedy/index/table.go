package index

import (
	"math"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"kasoku/internal/evidence"
)

// catalog finds tables by name, without regard to case.
type catalog struct {
	byKey  map[string]*table   // "schema.name"
	byName map[string][]*table // "name"
	all    []*table            // by key
	opts   Options
}

// table is an evidence.Table made ready for lookups. Column names are lower
// case; spelling gives them back.
type table struct {
	evidence.Table
	key     string
	rows    float64 // at least 1
	bytes   float64 // of a row, mean; 0: unknown
	columns map[string]evidence.Column
	indexes []indexDef
	primary []string
	// referred: a foreign key of another table refers to it.
	referred bool
	// Writes in the window, in rows.
	inserts, deletes float64
	updates          map[string]float64 // by column
}

// indexDef is an existing or candidate index.
type indexDef struct {
	table     *table
	name      string
	columns   []string // lower case
	lengths   []int    // prefix length in characters; 0 is the whole column
	unique    bool
	clustered bool   // InnoDB's primary key: the rows are its leaves
	desc      []bool // the columns that descend; shorter or nil: the others ascend
	key       string
}

func newCatalog(tables []evidence.Table) *catalog {
	c := &catalog{byKey: map[string]*table{}, byName: map[string][]*table{}}
	for _, t := range tables {
		nt := newTable(t)
		if c.byKey[nt.key] != nil {
			continue
		}
		c.byKey[nt.key] = nt
		c.all = append(c.all, nt)
	}
	for _, t := range c.all {
		for _, k := range t.ForeignKeys {
			if to := c.byKey[strings.ToLower(k.RefSchema+"."+k.RefTable)]; to != nil {
				to.referred = true
			}
		}
	}
	sort.Slice(c.all, func(i, j int) bool { return c.all[i].key < c.all[j].key })
	for _, t := range c.all {
		name := strings.ToLower(t.Name)
		c.byName[name] = append(c.byName[name], t)
	}
	return c
}

// find returns nil if the name is unknown or, without a schema, ambiguous.
func (c *catalog) find(schema, name string) *table {
	if schema != "" {
		return c.byKey[strings.ToLower(schema)+"."+strings.ToLower(name)]
	}
	if found := c.byName[strings.ToLower(name)]; len(found) == 1 {
		return found[0]
	}
	return nil
}

func newTable(t evidence.Table) *table {
	n := &table{
		Table: t, key: strings.ToLower(t.Schema + "." + t.Name),
		rows:    math.Max(1, float64(t.Rows)),
		bytes:   float64(t.RowBytes),
		columns: map[string]evidence.Column{}, updates: map[string]float64{},
	}
	for _, col := range t.Columns {
		n.columns[strings.ToLower(col.Name)] = col
	}
	for _, ix := range t.Indexes {
		if ix.Hidden {
			continue // the optimizer does not use it
		}
		d := indexDef{table: n, name: ix.Name, unique: ix.Unique, desc: ix.Descending}
		for _, spec := range ix.Columns {
			name, length := splitPrefix(spec)
			d.columns = append(d.columns, strings.ToLower(name))
			d.lengths = append(d.lengths, length)
		}
		if strings.EqualFold(ix.Name, "PRIMARY") {
			n.primary = d.columns
			d.clustered, d.unique = n.innodb(), true
		}
		d.key = d.spec()
		n.indexes = append(n.indexes, d)
	}
	return n
}

func (t *table) innodb() bool { return strings.EqualFold(t.Engine, "InnoDB") }

// indexable says whether B-tree indexes can be added to it.
func (t *table) indexable() bool {
	switch strings.ToLower(t.Engine) {
	case "innodb", "aria", "myisam":
		return true
	}
	return false
}

// distinct values of a column; sqrt(rows) if it is not known, which keeps an
// unknown column between a flag and a key.
func (t *table) distinct(column string) float64 {
	if len(t.primary) == 1 && t.primary[0] == column {
		return t.rows
	}
	for _, ix := range t.indexes {
		if ix.unique && len(ix.columns) == 1 && ix.columns[0] == column && ix.lengths[0] == 0 {
			return t.rows
		}
	}
	if d := t.columns[column].Distinct; d > 0 {
		return math.Min(float64(d), t.rows)
	}
	return math.Min(t.rows, math.Max(10, math.Sqrt(t.rows)))
}

func (t *table) spelling(column string) string {
	if c, ok := t.columns[column]; ok {
		return c.Name
	}
	return column
}

var (
	prefixForm = regexp.MustCompile("^`?([^`(]+)`?\\((\\d+)\\)$")
	descForm   = regexp.MustCompile(`(?i) desc$`)
	dateForm   = regexp.MustCompile(`\b[12][0-9]{3}-[01][0-9]-[0-3][0-9]\b`)
	typeForm   = regexp.MustCompile(`^\s*([a-zA-Z]+)\s*(?:\(\s*(\d+))?`)
)

// splitPrefix takes "col", "col(64)" and "col DESC" apart.
func splitPrefix(spec string) (name string, length int) {
	spec = descForm.ReplaceAllString(spec, "")
	if m := prefixForm.FindStringSubmatch(spec); m != nil {
		length, _ = strconv.Atoi(m[2])
		return m[1], length
	}
	return strings.Trim(spec, "`"), 0
}

// columnType is a column's type without attributes, and the number in its
// brackets (0 if none).
func columnType(c evidence.Column) (base string, size int) {
	m := typeForm.FindStringSubmatch(c.Type)
	if m == nil {
		return "", 0
	}
	size, _ = strconv.Atoi(m[2])
	return strings.ToLower(m[1]), size
}

func textual(base string) bool {
	return strings.HasSuffix(base, "char") || strings.HasSuffix(base, "text") || base == "enum" || base == "set"
}

func numeric(base string) bool {
	switch base {
	case "tinyint", "smallint", "mediumint", "int", "integer", "bigint", "decimal", "numeric", "float", "double":
		return true
	}
	return false
}

// prefixLength that an index needs for a column: 0 for the whole column; ok is
// false if the type takes no B-tree index. It is what a sample says of the
// column's values, else want.
func prefixLength(c evidence.Column, want int) (length int, ok bool) {
	base, size := columnType(c)
	if c.Prefix > 0 {
		want = c.Prefix
	}
	switch base {
	case "", "json", "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geometrycollection", "vector":
		return 0, false
	case "tinytext", "text", "mediumtext", "longtext", "tinyblob", "blob", "mediumblob", "longblob":
		return want, true
	case "varchar", "char", "varbinary", "binary":
		if size > evidence.MaxWhole {
			return min(want, size), true
		}
	}
	return 0, true
}

// keyBytes is the most that a column takes in an index key, 4 bytes per
// character (utf8mb4).
func keyBytes(c evidence.Column, length int) int {
	base, size := columnType(c)
	if length > 0 {
		size = length
	}
	switch {
	case strings.HasSuffix(base, "binary"), strings.HasSuffix(base, "blob"):
		return size + 2
	case base == "enum", base == "set":
		return 8
	case textual(base):
		return 4*size + 2
	}
	return 8
}

// meanBytes estimates what a column takes in an index entry. Strings are taken
// as half full, at most 32 bytes.
func meanBytes(c evidence.Column, length int) float64 {
	base, size := columnType(c)
	switch base {
	case "tinyint", "bool", "boolean", "year", "enum":
		return 1
	case "smallint":
		return 2
	case "mediumint", "date", "time":
		return 3
	case "int", "integer", "float", "timestamp":
		return 4
	case "datetime":
		return 5
	case "bigint", "double", "set", "bit":
		return 8
	case "decimal", "numeric":
		return math.Max(4, float64(size)/2)
	}
	if length > 0 {
		size = length
	}
	return math.Max(4, math.Min(32, float64(size)/2))
}

// descends tells whether a column, of withPrimary's, is in descending order.
func (d indexDef) descends(i int) bool { return i < len(d.desc) && d.desc[i] }

// spec is the canonical column list, e.g. "a,b(64),c desc".
func (d indexDef) spec() string {
	parts := make([]string, len(d.columns))
	for i, c := range d.columns {
		parts[i] = c
		if d.lengths[i] > 0 {
			parts[i] += "(" + strconv.Itoa(d.lengths[i]) + ")"
		}
		if d.descends(i) {
			parts[i] += " desc"
		}
	}
	return strings.Join(parts, ",")
}

// prefixOf says whether every lookup that d serves is served by e as well:
// e begins with d's columns, as long or longer, in the same directions or all in the
// opposite ones.
func (d indexDef) prefixOf(e indexDef) bool {
	if d.table != e.table || len(d.columns) > len(e.columns) {
		return false
	}
	for i, c := range d.columns {
		if e.columns[i] != c || (d.descends(i) == e.descends(i)) != (d.descends(0) == e.descends(0)) {
			return false
		}
		if e.lengths[i] != 0 && (d.lengths[i] == 0 || e.lengths[i] < d.lengths[i]) {
			return false
		}
	}
	return true
}

// withPrimary is the column list as InnoDB stores it: secondary indexes end
// with the primary key's columns that they do not have.
func (d indexDef) withPrimary() (columns []string, lengths []int) {
	if !d.table.innodb() || d.clustered {
		return d.columns, d.lengths
	}
	columns = append(columns, d.columns...)
	lengths = append(lengths, d.lengths...)
	for _, p := range d.table.primary {
		if !contains(d.columns, p) {
			columns = append(columns, p)
			lengths = append(lengths, 0)
		}
	}
	return columns, lengths
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
