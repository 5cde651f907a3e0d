package evidence

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"kasoku/internal/sqllog"
)

const (
	// explained statements per database: those after the twentieth take a
	// percent of the time or less in every log looked at.
	explained = 20
	// explainTime bounds one EXPLAIN: the optimizer may read some rows (index
	// dives, tables of one row), MariaDB also derived tables that it merges.
	explainTime = 2 * time.Second
)

// Explain fills Statement.Explain for the statements of the service that took
// most time. Statements are never run: each EXPLAIN stands in a transaction
// that is rolled back, and its time is bounded. It returns how many could not
// be explained and the first reason.
func Explain(ctx context.Context, conn *sql.Conn, mariaDB bool, service string, statements []Statement) (failed int, first error) {
	limit := fmt.Sprintf("SET SESSION max_execution_time = %d", explainTime.Milliseconds())
	if mariaDB {
		limit = fmt.Sprintf("SET SESSION max_statement_time = %g", explainTime.Seconds())
	}
	if _, err := conn.ExecContext(ctx, limit); err != nil {
		return 0, fmt.Errorf("limit the time of EXPLAIN: %w", err)
	}
	left := explained
	for i := range statements {
		s := &statements[i]
		if s.Service != service || left == 0 || len(s.Example) >= sqllog.MaxStatement || !sqllog.Explainable(s.Example) {
			continue
		}
		left--
		if err := explainOne(ctx, conn, s); err != nil {
			if ctx.Err() != nil {
				return failed, fmt.Errorf("explain statements: %w", ctx.Err())
			}
			if failed++; first == nil {
				first = fmt.Errorf("explain %s: %w", shorten(s.Fingerprint, 60), err)
			}
		}
	}
	return failed, first
}

func explainOne(ctx context.Context, conn *sql.Conn, s *Statement) error {
	ctx, cancel := context.WithTimeout(ctx, 2*explainTime)
	defer cancel()
	if s.Schema != "" {
		if _, err := conn.ExecContext(ctx, "USE "+QuoteName(s.Schema)); err != nil {
			return err
		}
	}
	// A SELECT may call a function that writes; a read-only transaction refuses.
	// EXPLAIN UPDATE is refused there as well, so it gets a plain one.
	readOnly := strings.HasPrefix(strings.ToUpper(s.Fingerprint), "SELECT")
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: readOnly})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	return tx.QueryRowContext(ctx, "EXPLAIN FORMAT=JSON "+sqllog.Unlocked(strings.TrimSpace(s.Example))).Scan(&s.Explain)
}

func shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n]) + "…"
}
