package evidence

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"kasoku/internal/sqllog"
)

// digestRow is one row of performance_schema.events_statements_summary_by_digest.
// Times are picoseconds (MySQL manual, "Performance Schema Event Timing").
type digestRow struct {
	schema, text, sample              string
	count, time, lock, examined, sent int64
	scans, joins, noIndex             int64
	tmp, disk, sorts                  int64
	affected, errors                  int64
	p95, p99                          int64 // since the server began; 0 unknown
}

// readDigests reads the statement digests that the server has summed up since
// it started; an error if performance_schema is off or may not be read.
func readDigests(ctx context.Context, q querier, mariaDB bool, version string) (map[string]digestRow, error) {
	sample, p95, p99 := "''", "0", "0"
	if !mariaDB && version >= "8" && version < "90" {
		sample = "COALESCE(QUERY_SAMPLE_TEXT, '')"
		p95, p99 = "QUANTILE_95 DIV 1000", "QUANTILE_99 DIV 1000"
	}
	rows, err := q.QueryContext(ctx, `SELECT COALESCE(SCHEMA_NAME, ''), DIGEST, DIGEST_TEXT, `+sample+`, COUNT_STAR,
		SUM_TIMER_WAIT DIV 1000, SUM_LOCK_TIME DIV 1000, SUM_ROWS_EXAMINED, SUM_ROWS_SENT, SUM_SELECT_SCAN, SUM_SELECT_FULL_JOIN,
		SUM_NO_INDEX_USED, SUM_CREATED_TMP_TABLES, SUM_CREATED_TMP_DISK_TABLES, SUM_SORT_RANGE + SUM_SORT_SCAN, SUM_ROWS_AFFECTED,
		SUM_ERRORS, `+p95+`, `+p99+`
		FROM performance_schema.events_statements_summary_by_digest`)
	if err != nil {
		return nil, fmt.Errorf("read statement digests: %w", err)
	}
	defer rows.Close()
	out := map[string]digestRow{}
	for rows.Next() {
		var d digestRow
		var id, text sql.NullString
		if err := rows.Scan(&d.schema, &id, &text, &d.sample, &d.count, &d.time, &d.lock, &d.examined, &d.sent,
			&d.scans, &d.joins, &d.noIndex, &d.tmp, &d.disk, &d.sorts, &d.affected, &d.errors, &d.p95, &d.p99); err != nil {
			return nil, fmt.Errorf("read statement digests: %w", err)
		}
		d.text = text.String
		out[d.schema+"\x00"+id.String] = d
	}
	return out, wrap("read statement digests", rows.Err())
}

// digestDelta turns two readings into the statements between them. Digests
// that the server could not tell apart any more (its table was full) are one
// class. Kasoku's own statements begin with SHOW GLOBAL or read the digests.
func digestDelta(service string, begin, end map[string]digestRow) (out []Statement, count int64) {
	byKey := map[[2]string]*Statement{}
	for id, now := range end {
		was := begin[id]
		n := now.count - was.count
		if n <= 0 || strings.Contains(now.text, "events_statements_summary_by_digest") || strings.HasPrefix(now.text, "SHOW GLOBAL STATUS") {
			continue
		}
		print := otherClass
		if now.text != "" {
			print = sqllog.Fingerprint(now.text)
		}
		key := [2]string{now.schema, print}
		s := byKey[key]
		if s == nil {
			s = &Statement{Service: service, Schema: now.schema, Fingerprint: print, Example: strings.ToValidUTF8(sqllog.Mask(now.sample), "?")}
			byKey[key] = s
		}
		s.Count += n
		s.Total += time.Duration(max(now.time-was.time, 0))
		s.LockTime += time.Duration(max(now.lock-was.lock, 0))
		s.RowsExamined += max(now.examined-was.examined, 0)
		s.RowsSent += max(now.sent-was.sent, 0)
		s.FullScans += max(now.scans-was.scans, 0)
		s.FullJoins += max(now.joins-was.joins, 0)
		s.NoIndex += max(now.noIndex-was.noIndex, 0)
		s.RowsAffected += max(now.affected-was.affected, 0)
		s.Errors += max(now.errors-was.errors, 0)
		// Percentiles are of all runs since the server began: the window's only
		// if there was none before. Of several digests the largest is a bound.
		if was.count == 0 {
			s.P95, s.P99 = max(s.P95, time.Duration(now.p95)), max(s.P99, time.Duration(now.p99))
		}
		s.TmpTables += max(now.tmp-was.tmp, 0)
		s.TmpDisk += max(now.disk-was.disk, 0)
		s.Filesorts += max(now.sorts-was.sorts, 0)
		count += n
	}
	for _, s := range byKey {
		out = append(out, *s)
	}
	sortStatements(out)
	return out[:min(len(out), keptClasses)], count
}
