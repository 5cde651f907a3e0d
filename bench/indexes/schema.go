package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// schema is one drawn case: everything follows from the seed.
type schema struct {
	seed   int64
	rnd    *rand.Rand
	tables []*table
	stmts  []statement
}

// table with its columns; the first ones are the primary key.
type table struct {
	name    string
	rows    int
	columns []column
	primary []string
	keys    [][]string // secondary indexes that are there
	parent  *table     // its column "…_id" refers to it; nil: none
	refers  string     // that column
	foreign bool       // by a foreign key
}

// column and the expression of seq that fills it.
type column struct {
	name, kind string
	role       role
	fill       string
	nullable   bool
}

// role of a column in statements.
type role int

const (
	roleKey    role = iota // unique
	roleRef                // refers to another table, or has some rows for each value
	roleClass              // few values: a state, a flag, a category
	roleTime               // ordered
	roleNumber             // a quantity
	roleText               // short text with a beginning worth asking for
	roleBody               // long text
)

// mostRows of a table; usual ones are smaller, as building 40 indexes takes time.
const mostRows = 100000

func draw(seed int64) *schema {
	s := &schema{seed: seed, rnd: rand.New(rand.NewPCG(uint64(seed), 0x6b61736f6b75))}
	for i := range 1 + s.rnd.IntN(3) {
		s.tables = append(s.tables, s.drawTable(i))
	}
	s.drawStatements()
	return s
}

// size of a table: a few hundred to some ten thousand rows, seldom mostRows.
func (s *schema) size(first bool) int {
	switch p := s.rnd.Float64(); {
	case p < 0.03:
		return mostRows
	case p < 0.10 && first:
		return 50 + s.rnd.IntN(400)
	default:
		return 2000 << s.rnd.IntN(4) * (80 + s.rnd.IntN(40)) / 100
	}
}

var tableNames = []string{"members", "orders", "events"}

func (s *schema) drawTable(i int) *table {
	t := &table{name: tableNames[i], rows: s.size(i == 0)}
	kind := pick(s.rnd, "INT", "INT", "BIGINT", "INT UNSIGNED")
	t.columns = append(t.columns, column{"id", kind + " NOT NULL AUTO_INCREMENT", roleKey, "seq", false})
	t.primary = []string{"id"}
	if i > 0 && s.rnd.Float64() < 0.8 {
		t.parent = s.tables[s.rnd.IntN(i)]
		t.refers = strings.TrimSuffix(t.parent.name, "s") + "_id"
		t.foreign = s.rnd.Float64() < 0.3
		t.columns = append(t.columns, column{t.refers, t.parent.keyType() + " NOT NULL", roleRef, fmt.Sprintf("1 + %s", s.spread(t.parent.rows)), false})
	}
	for len(t.columns) < 5+s.rnd.IntN(5) {
		t.columns = append(t.columns, s.drawColumn(t))
	}
	if s.rnd.Float64() < 0.5 {
		t.columns = append(t.columns, column{"note", pick(s.rnd, "TEXT", "VARCHAR(400)"), roleBody, fmt.Sprintf("REPEAT('n', %d)", 20+s.rnd.IntN(150)), true})
	}
	for range s.rnd.IntN(3) {
		t.keys = append(t.keys, s.drawKey(t))
	}
	return t
}

func (t *table) keyType() string {
	return strings.TrimSuffix(t.columns[0].kind, " NOT NULL AUTO_INCREMENT")
}

// drawKey is an index that somebody has made before: one or two columns.
func (s *schema) drawKey(t *table) []string {
	c := pick(s.rnd, t.columns[1:]...)
	key := []string{c.name}
	if d := pick(s.rnd, t.columns[1:]...); s.rnd.Float64() < 0.4 && d.name != c.name && d.role != roleBody {
		key = append(key, d.name)
	}
	if c.role == roleBody {
		return []string{c.name + "(20)"}
	}
	return key
}

// hash is a number below n, equally spread, that follows from the row.
func (s *schema) hash(n int) string {
	return fmt.Sprintf("(CRC32(CONCAT(seq, '/%d')) %% %d)", s.rnd.IntN(1000), n)
}

// spread is a number below n: equally, or small ones more often.
func (s *schema) spread(n int) string {
	if s.rnd.Float64() < 0.6 {
		return s.hash(n)
	}
	return fmt.Sprintf("FLOOR(%d * POW(CRC32(CONCAT(seq, '/%d')) / 4294967296, %d))", n, s.rnd.IntN(1000), 2+s.rnd.IntN(2))
}

func (s *schema) drawColumn(t *table) column {
	n := len(t.columns)
	name := func(word string) string { return fmt.Sprintf("%s%d", word, n) }
	c := column{}
	switch s.rnd.IntN(12) {
	case 0:
		c = column{name("flag"), "TINYINT(1) NOT NULL", roleClass, fmt.Sprintf("%s < %d", s.hash(1000), 2+s.rnd.IntN(500)), false}
	case 1:
		k := 3 + s.rnd.IntN(5)
		c = column{name("state"), "VARCHAR(12) NOT NULL", roleClass, fmt.Sprintf("ELT(1 + %s, 'new', 'open', 'paid', 'sent', 'done', 'gone', 'held', 'lost')", s.spread(k)), false}
	case 2:
		c = column{name("kind"), pick(s.rnd, "INT NOT NULL", "SMALLINT NOT NULL"), roleClass, s.spread(8 + s.rnd.IntN(60)), false}
	case 3, 4:
		c = column{name("owner"), "INT NOT NULL", roleRef, s.spread(t.rows/(4<<s.rnd.IntN(5)) + 2), false}
	case 5:
		c = column{name("at"), "DATETIME NOT NULL", roleTime, fmt.Sprintf("'2024-01-01' + INTERVAL seq * %d SECOND", 1+s.rnd.IntN(90)), false}
	case 6:
		c = column{name("day"), pick(s.rnd, "DATETIME NOT NULL", "DATE NOT NULL"), roleTime, fmt.Sprintf("'2024-01-01' + INTERVAL %s HOUR", s.hash(9000)), false}
	case 7:
		c = column{name("price"), pick(s.rnd, "INT NOT NULL", "DECIMAL(10,2) NOT NULL", "DOUBLE NOT NULL"), roleNumber, s.spread(500 * (1 + s.rnd.IntN(40))), false}
	case 8:
		c = column{name("code"), fmt.Sprintf("VARCHAR(%d) NOT NULL", 32<<s.rnd.IntN(3)), roleKey, fmt.Sprintf("MD5(CONCAT(seq, '/%d'))", s.rnd.IntN(1000)), false}
	case 9:
		c = column{name("name"), "VARCHAR(60) NOT NULL", roleText, fmt.Sprintf("CONCAT(SUBSTR(MD5(%s), 1, 5), ' name')", s.hash(t.rows/2+5)), false}
	case 10:
		c = column{name("ended"), "DATETIME NULL", roleTime, fmt.Sprintf("IF(%s < %d, NULL, '2024-01-01' + INTERVAL %s HOUR)", s.hash(100), 5+s.rnd.IntN(91), s.hash(9000)), true}
	case 11: // follows another column
		of := t.columns[s.rnd.IntN(n)]
		if of.role != roleRef && of.role != roleKey || strings.Contains(of.kind, "CHAR") {
			return s.drawColumn(t)
		}
		c = column{name("group"), "INT NOT NULL", roleClass, fmt.Sprintf("(%s) %% %d", of.fill, 5+s.rnd.IntN(100)), false}
	}
	return c
}

// ddl makes and fills the table.
func (t *table) ddl() []string {
	var columns, fills []string
	for _, c := range t.columns {
		columns = append(columns, c.name+" "+c.kind)
		fills = append(fills, c.fill)
	}
	columns = append(columns, "PRIMARY KEY ("+strings.Join(t.primary, ", ")+")")
	for i, k := range t.keys {
		columns = append(columns, fmt.Sprintf("KEY had%d (%s)", i, strings.Join(k, ", ")))
	}
	if t.foreign { // a key that InnoDB makes by itself would go as soon as another begins with it
		columns = append(columns, fmt.Sprintf("KEY own (%s)", t.refers))
		columns = append(columns, fmt.Sprintf("CONSTRAINT fk_%s FOREIGN KEY (%s) REFERENCES %s (id)", t.name, t.refers, t.parent.name))
	}
	return []string{
		fmt.Sprintf("CREATE TABLE %s (%s) ENGINE=InnoDB", t.name, strings.Join(columns, ", ")),
		fmt.Sprintf("INSERT INTO %s SELECT %s FROM seq_1_to_%d", t.name, strings.Join(fills, ", "), t.rows),
		"ANALYZE TABLE " + t.name,
	}
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// of lists the columns with one of the roles.
func (t *table) of(roles ...role) (out []column) {
	for _, c := range t.columns {
		if slices.Contains(roles, c.role) && c.name != "id" {
			out = append(out, c)
		}
	}
	return out
}
