package evidence

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// querier is *sql.DB, *sql.Conn or *sql.Tx.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// userSchemas leaves out the server's own.
const userSchemas = `NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys')`

// ReadDatabase reads version, variables and the schema of user databases.
// Estimates of distinct values are left at 0; EstimateDistinct makes them.
func ReadDatabase(ctx context.Context, q querier) (*Database, error) {
	db := &Database{}
	var err error
	if db.Variables, err = readPairs(ctx, q, "SHOW GLOBAL VARIABLES"); err != nil {
		return nil, err
	}
	db.Version = db.Variables["version"]
	db.MariaDB = strings.Contains(strings.ToLower(db.Version+db.Variables["version_comment"]), "mariadb")
	byName := map[[2]string]*Table{}
	if err := readTables(ctx, q, db, byName); err != nil {
		return nil, err
	}
	if err := readColumns(ctx, q, byName); err != nil {
		return nil, err
	}
	if err := readIndexes(ctx, q, byName); err != nil {
		return nil, err
	}
	if err := readForeignKeys(ctx, q, byName); err != nil {
		return nil, err
	}
	if err := readTriggers(ctx, q, byName); err != nil {
		return nil, err
	}
	readIndexUse(ctx, q, db, byName)
	return db, nil
}

// readPairs reads a SHOW of names and values.
func readPairs(ctx context.Context, q querier, query string) (map[string]string, error) {
	rows, err := q.QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", query, err)
	}
	defer rows.Close()
	out := map[string]string{}
	for rows.Next() {
		var name string
		var value sql.NullString
		if err := rows.Scan(&name, &value); err != nil {
			return nil, fmt.Errorf("%s: %w", query, err)
		}
		out[name] = value.String
	}
	return out, wrap(query, rows.Err())
}

func wrap(what string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

func readTables(ctx context.Context, q querier, db *Database, byName map[[2]string]*Table) error {
	const what = "read tables of the database"
	rows, err := q.QueryContext(ctx, `SELECT TABLE_SCHEMA, TABLE_NAME, COALESCE(ENGINE, ''), COALESCE(TABLE_ROWS, 0),
		COALESCE(DATA_LENGTH, 0), COALESCE(INDEX_LENGTH, 0), COALESCE(AVG_ROW_LENGTH, 0),
		LEAST(COALESCE(AUTO_INCREMENT, 0), 9223372036854775807), COALESCE(CREATE_OPTIONS, '') LIKE '%partitioned%'
		FROM information_schema.TABLES WHERE TABLE_TYPE = 'BASE TABLE' AND TABLE_SCHEMA `+userSchemas+`
		ORDER BY TABLE_SCHEMA, TABLE_NAME`)
	if err != nil {
		return wrap(what, err)
	}
	defer rows.Close()
	for rows.Next() {
		var t Table
		if err := rows.Scan(&t.Schema, &t.Name, &t.Engine, &t.Rows, &t.DataBytes, &t.IndexBytes, &t.RowBytes, &t.AutoIncrement, &t.Partitioned); err != nil {
			return wrap(what, err)
		}
		db.Tables = append(db.Tables, t)
		if strings.EqualFold(t.Engine, "InnoDB") {
			db.DataBytes += t.DataBytes + t.IndexBytes
		}
	}
	for i := range db.Tables {
		byName[[2]string{db.Tables[i].Schema, db.Tables[i].Name}] = &db.Tables[i]
	}
	return wrap(what, rows.Err())
}

func readColumns(ctx context.Context, q querier, byName map[[2]string]*Table) error {
	const what = "read columns of the database"
	rows, err := q.QueryContext(ctx, `SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE
		FROM information_schema.COLUMNS WHERE TABLE_SCHEMA `+userSchemas+`
		ORDER BY TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION`)
	if err != nil {
		return wrap(what, err)
	}
	defer rows.Close()
	for rows.Next() {
		var schema, table, nullable string
		var c Column
		if err := rows.Scan(&schema, &table, &c.Name, &c.Type, &nullable); err != nil {
			return wrap(what, err)
		}
		c.Nullable = nullable == "YES"
		if t := byName[[2]string{schema, table}]; t != nil {
			t.Columns = append(t.Columns, c)
		}
	}
	return wrap(what, rows.Err())
}

// What only some servers tell of an index: its expression, and whether the
// optimizer sees it (MySQL 8.0 and MariaDB 10.6 manuals, "The
// INFORMATION_SCHEMA STATISTICS Table"). The first that a server knows is taken.
var indexExtras = []string{"COALESCE(EXPRESSION, ''), IS_VISIBLE = 'NO'", "'', IS_VISIBLE = 'NO'", "'', IGNORED = 'YES'", "'', 0"}

func readIndexes(ctx context.Context, q querier, byName map[[2]string]*Table) error {
	const what = "read indexes of the database"
	var rows *sql.Rows
	var err error
	for _, extra := range indexExtras {
		rows, err = q.QueryContext(ctx, `SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, NON_UNIQUE, COALESCE(COLUMN_NAME, ''),
		COALESCE(SUB_PART, 0), COALESCE(CARDINALITY, 0), INDEX_TYPE, SEQ_IN_INDEX, COALESCE(COLLATION, ''), `+extra+`
		FROM information_schema.STATISTICS WHERE TABLE_SCHEMA `+userSchemas+`
		ORDER BY TABLE_SCHEMA, TABLE_NAME, INDEX_NAME = 'PRIMARY' DESC, INDEX_NAME, SEQ_IN_INDEX`)
		var my *mysql.MySQLError
		if !errors.As(err, &my) || my.Number != 1054 { // ER_BAD_FIELD_ERROR
			break
		}
	}
	if err != nil {
		return wrap(what, err)
	}
	defer rows.Close()
	for rows.Next() {
		var r indexRow
		if err := rows.Scan(&r.schema, &r.table, &r.name, &r.nonUnique, &r.column, &r.part, &r.cardinality, &r.kind, &r.seq, &r.collation, &r.expression, &r.hidden); err != nil {
			return wrap(what, err)
		}
		if t := byName[[2]string{r.schema, r.table}]; t != nil {
			t.addIndexColumn(r)
		}
	}
	return wrap(what, rows.Err())
}

// indexRow is one column of an index as information_schema.STATISTICS has it.
type indexRow struct {
	schema, table, name, column, kind string
	collation                         string // "D": descending
	expression                        string // in place of a column
	nonUnique, part, cardinality, seq int64
	hidden                            bool
}

func (t *Table) addIndexColumn(r indexRow) {
	if n := len(t.Indexes); n == 0 || t.Indexes[n-1].Name != r.name {
		t.Indexes = append(t.Indexes, TableIndex{Name: r.name, Unique: r.nonUnique == 0, Type: r.kind, Reads: -1, Hidden: r.hidden})
	}
	ix := &t.Indexes[len(t.Indexes)-1]
	ix.Cardinality = r.cardinality // that of the last column is the whole's
	if r.seq == 1 && r.part == 0 && r.cardinality > 0 {
		t.distinct(r.column, r.cardinality)
	}
	switch {
	case r.column == "":
		r.column = "(" + cmp.Or(r.expression, "expression") + ")"
	case r.part > 0:
		r.column = fmt.Sprintf("%s(%d)", r.column, r.part)
	}
	if r.collation == "D" {
		for len(ix.Descending) < len(ix.Columns) {
			ix.Descending = append(ix.Descending, false)
		}
		ix.Descending = append(ix.Descending, true)
	}
	ix.Columns = append(ix.Columns, r.column)
}

// distinct notes the number of values that an index knows for its first column.
func (t *Table) distinct(column string, n int64) {
	for i := range t.Columns {
		if t.Columns[i].Name == column {
			t.Columns[i].Distinct = max(t.Columns[i].Distinct, n)
		}
	}
}

// Bounds of the sample that estimates distinct values.
const (
	sampleRows    = 20000 // a few milliseconds for rows of a usual length
	samplePerCall = time.Second
	sampleInAll   = 5 * time.Second
)

// sampleTexts is how many rows say which prefix of a long text is enough: each
// row is wide, and each prefix takes a sort of its own.
const sampleTexts = 4000

// QuoteName puts a name into backticks.
func QuoteName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// byRows lists tables, most rows first.
func (db *Database) byRows() []*Table {
	out := make([]*Table, len(db.Tables))
	for i := range db.Tables {
		out[i] = &db.Tables[i]
	}
	slices.SortFunc(out, func(a, b *Table) int {
		return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Name, b.Name))
	})
	return out
}
