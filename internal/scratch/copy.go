package scratch

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"kasoku/internal/evidence"
)

// stripes of a sample: as many places of the table, evenly over its primary key.
const stripes = 64

// fill makes the copy of a table: its definition without triggers and foreign keys, and
// its rows. The table itself is read as any SELECT reads it.
func (s *Schema) fill(ctx context.Context, c *Copy) error {
	to := evidence.QuoteName(s.Name) + "." + evidence.QuoteName(c.Table.Name)
	from := evidence.QuoteName(c.Table.Schema) + "." + evidence.QuoteName(c.Table.Name)
	if err := s.exec(ctx, "CREATE TABLE "+to+" LIKE "+from); err != nil {
		if denied(err) {
			return &RightsError{err}
		}
		return err
	}
	columns, err := s.columns(ctx, c.Table)
	if err != nil {
		return err
	}
	list := strings.Join(columns, ", ")
	insert := "INSERT INTO " + to + " (" + list + ") SELECT " + list + " FROM " + from
	key, low, high := "", int64(0), int64(0)
	if c.Table.Rows > c.Rows {
		key, low, high = s.keyRange(ctx, c.Table)
	}
	if key == "" {
		n, err := s.inserted(ctx, fmt.Sprintf("%s LIMIT %d", insert, c.Rows))
		c.Copied, c.Whole, c.How = n, n < c.Rows, "the first that a scan finds"
		return err
	}
	c.How = fmt.Sprintf("from %d places along %s", stripes, key)
	step := max((high-low)/stripes, 1)
	for i := int64(0); i < stripes && low+i*step <= high; i++ {
		n, err := s.inserted(ctx, fmt.Sprintf("%s WHERE %[2]s >= %[3]d AND %[2]s < %[4]d ORDER BY %[2]s LIMIT %[5]d",
			insert, evidence.QuoteName(key), low+i*step, low+(i+1)*step, max(c.Rows/stripes, 1)))
		if err != nil {
			return err
		}
		c.Copied += n
	}
	return nil
}

func (s *Schema) exec(ctx context.Context, query string) error {
	_, err := s.conn.ExecContext(ctx, query)
	return err
}

func (s *Schema) inserted(ctx context.Context, query string) (int64, error) {
	res, err := s.conn.ExecContext(ctx, query)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// columns that are no generated ones, quoted.
func (s *Schema) columns(ctx context.Context, t *evidence.Table) (out []string, err error) {
	rows, err := s.conn.QueryContext(ctx, `SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?
		AND COALESCE(GENERATION_EXPRESSION, '') = '' ORDER BY ORDINAL_POSITION`, t.Schema, t.Name)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		out = append(out, evidence.QuoteName(name))
	}
	if err := rows.Err(); err != nil || len(out) > 0 {
		return out, err
	}
	return nil, errors.New("it has no columns that this account sees")
}

// keyRange is the primary key of one whole number, with its ends; "" if there is none.
func (s *Schema) keyRange(ctx context.Context, t *evidence.Table) (key string, low, high int64) {
	for _, x := range t.Indexes {
		if x.Name == "PRIMARY" && len(x.Columns) == 1 {
			key = x.Columns[0]
		}
	}
	if key == "" {
		return "", 0, 0
	}
	var least, most string
	q := fmt.Sprintf("SELECT MIN(%[1]s), MAX(%[1]s) FROM %[2]s.%[3]s", evidence.QuoteName(key), evidence.QuoteName(t.Schema), evidence.QuoteName(t.Name))
	if err := s.conn.QueryRowContext(ctx, q).Scan(&least, &most); err != nil {
		return "", 0, 0
	}
	low, err1 := strconv.ParseInt(least, 10, 62)
	high, err2 := strconv.ParseInt(most, 10, 62)
	if err1 != nil || err2 != nil {
		return "", 0, 0
	}
	return key, low, high
}

// quoteSpec quotes a column of an index as it is advised: "col", "col(64)", "col DESC".
func quoteSpec(spec string) string {
	spec, down := strings.CutSuffix(spec, " DESC")
	name, length := spec, ""
	if at := strings.LastIndexByte(spec, '('); at > 0 && strings.HasSuffix(spec, ")") {
		name, length = spec[:at], spec[at:]
	}
	out := evidence.QuoteName(name) + length
	if down {
		out += " DESC"
	}
	return out
}

// index makes an advised index on its copy, and returns how much larger the copy's indexes
// are then, bytes.
func (s *Schema) index(ctx context.Context, table, name string, columns []string) (int64, error) {
	before, err := s.indexBytes(ctx, table)
	if err != nil {
		return 0, err
	}
	var list []string
	for _, c := range columns {
		list = append(list, quoteSpec(c))
	}
	if err := s.exec(ctx, fmt.Sprintf("CREATE INDEX %s ON %s.%s (%s)", evidence.QuoteName(name), evidence.QuoteName(s.Name), evidence.QuoteName(table), strings.Join(list, ", "))); err != nil {
		return 0, err
	}
	after, err := s.indexBytes(ctx, table)
	return max(0, after-before), err
}

// indexBytes of a copy, after its statistics were renewed.
func (s *Schema) indexBytes(ctx context.Context, table string) (n int64, err error) {
	rows, err := s.conn.QueryContext(ctx, "ANALYZE LOCAL TABLE "+evidence.QuoteName(s.Name)+"."+evidence.QuoteName(table))
	if err != nil {
		return 0, err
	}
	for rows.Next() {
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return 0, err
	}
	err = s.conn.QueryRowContext(ctx, "SELECT COALESCE(INDEX_LENGTH, 0) FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?", s.Name, table).Scan(&n)
	return n, err
}
