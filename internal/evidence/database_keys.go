package evidence

import (
	"context"
	"strconv"
	"strings"

	"kasoku/internal/host"
)

// readForeignKeys fills Table.ForeignKeys.
func readForeignKeys(ctx context.Context, q querier, byName map[[2]string]*Table) error {
	const what = "read foreign keys of the database"
	rows, err := q.QueryContext(ctx, `SELECT TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME,
		REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME,
		EXISTS (SELECT 1 FROM information_schema.REFERENTIAL_CONSTRAINTS r
			WHERE r.CONSTRAINT_SCHEMA = k.TABLE_SCHEMA AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME AND r.TABLE_NAME = k.TABLE_NAME
			AND (r.UPDATE_RULE NOT IN ('RESTRICT', 'NO ACTION') OR r.DELETE_RULE NOT IN ('RESTRICT', 'NO ACTION')))
		FROM information_schema.KEY_COLUMN_USAGE k WHERE REFERENCED_TABLE_NAME IS NOT NULL AND TABLE_SCHEMA `+userSchemas+`
		ORDER BY TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION`)
	if err != nil {
		return wrap(what, err)
	}
	defer rows.Close()
	for rows.Next() {
		var schema, table, column, refColumn string
		var k ForeignKey
		if err := rows.Scan(&schema, &table, &k.Name, &column, &k.RefSchema, &k.RefTable, &refColumn, &k.Acts); err != nil {
			return wrap(what, err)
		}
		t := byName[[2]string{schema, table}]
		if t == nil {
			continue
		}
		if n := len(t.ForeignKeys); n == 0 || t.ForeignKeys[n-1].Name != k.Name {
			t.ForeignKeys = append(t.ForeignKeys, k)
		}
		last := &t.ForeignKeys[len(t.ForeignKeys)-1]
		last.Columns, last.RefColumns = append(last.Columns, column), append(last.RefColumns, refColumn)
	}
	return wrap(what, rows.Err())
}

// readTriggers counts the triggers of each table.
func readTriggers(ctx context.Context, q querier, byName map[[2]string]*Table) error {
	const what = "read triggers of the database"
	rows, err := q.QueryContext(ctx, `SELECT EVENT_OBJECT_SCHEMA, EVENT_OBJECT_TABLE, COUNT(*)
		FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA `+userSchemas+` GROUP BY EVENT_OBJECT_SCHEMA, EVENT_OBJECT_TABLE`)
	if err != nil {
		return wrap(what, err)
	}
	defer rows.Close()
	for rows.Next() {
		var schema, table string
		var n int
		if err := rows.Scan(&schema, &table, &n); err != nil {
			return wrap(what, err)
		}
		if t := byName[[2]string{schema, table}]; t != nil {
			t.Triggers = n
		}
	}
	return wrap(what, rows.Err())
}

// freeBytes is what the file system of a folder has left for ordinary users;
// 0 if that cannot be told.
func freeBytes(ctx context.Context, h host.Host, dir string) int64 {
	if dir == "" {
		return 0
	}
	res, err := h.Run(ctx, host.Command{Argv: []string{"stat", "-f", "-c", "%a %S", "--", dir}})
	if err != nil || res.ExitCode != 0 {
		return 0
	}
	blocks, size, ok := strings.Cut(strings.TrimSpace(string(res.Stdout)), " ")
	n, err1 := strconv.ParseInt(blocks, 10, 64)
	each, err2 := strconv.ParseInt(size, 10, 64)
	if !ok || err1 != nil || err2 != nil {
		return 0
	}
	return n * each
}
