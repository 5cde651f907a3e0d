package evidence

import "context"

// Where servers count reads by index. performance_schema has a row for every
// index of every table that was opened; user statistics (MariaDB, Percona
// Server) have one for every index that was read. Both count from the server's
// start or from their last reset.
const (
	indexWaits = `SELECT OBJECT_SCHEMA, OBJECT_NAME, INDEX_NAME, COUNT_READ
		FROM performance_schema.table_io_waits_summary_by_index_usage
		WHERE INDEX_NAME IS NOT NULL AND OBJECT_SCHEMA ` + userSchemas + `
		AND EXISTS (SELECT 1 FROM performance_schema.setup_instruments WHERE NAME = 'wait/io/table/sql/handler' AND ENABLED = 'YES')`
	indexStatistics = `SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, ROWS_READ
		FROM information_schema.INDEX_STATISTICS WHERE TABLE_SCHEMA ` + userSchemas
)

// readIndexUse fills TableIndex.Reads as far as the server counts them and lets
// this account see it; what it cannot have stays -1.
func readIndexUse(ctx context.Context, q querier, db *Database, byName map[[2]string]*Table) {
	if on(db.Variables["performance_schema"]) && readReads(ctx, q, indexWaits, byName) > 0 {
		return
	}
	if !on(db.Variables["userstat"]) {
		return
	}
	if readReads(ctx, q, indexStatistics, byName) > 0 {
		for _, t := range byName {
			for i := range t.Indexes {
				t.Indexes[i].Reads = max(t.Indexes[i].Reads, 0)
			}
		}
	}
}

// readReads returns how many indexes it filled.
func readReads(ctx context.Context, q querier, query string, byName map[[2]string]*Table) int {
	rows, err := q.QueryContext(ctx, query)
	if err != nil {
		return 0
	}
	defer rows.Close()
	filled := 0
	for rows.Next() {
		var schema, table, index string
		var reads int64
		if rows.Scan(&schema, &table, &index, &reads) != nil {
			return filled
		}
		t := byName[[2]string{schema, table}]
		if t == nil {
			continue
		}
		for i := range t.Indexes {
			if t.Indexes[i].Name == index {
				t.Indexes[i].Reads = reads
				filled++
			}
		}
	}
	return filled
}
