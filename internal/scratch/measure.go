package scratch

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/digest"
	"kasoku/internal/evidence"
)

// asked is *sql.Conn or *sql.Tx.
type asked interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Explain reads EXPLAIN's table of a statement; its columns differ between servers.
func Explain(ctx context.Context, q asked, text string) ([]digest.PlanRow, error) {
	rows, err := q.QueryContext(ctx, "EXPLAIN FORMAT=TRADITIONAL "+text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var out []digest.PlanRow
	for rows.Next() {
		cells := make([]sql.NullString, len(names))
		to := make([]any, len(names))
		for i := range cells {
			to[i] = &cells[i]
		}
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		var r digest.PlanRow
		for i, name := range names {
			v := cells[i].String
			switch strings.ToLower(name) {
			case "table":
				r.Table = v
			case "type":
				r.Access = v
			case "key":
				r.Key = v
			case "key_len":
				r.KeyLen = v
			case "rows":
				r.Rows, _ = strconv.ParseInt(v, 10, 64)
			case "extra":
				r.Extra = v
			}
		}
		out = append(out, r)
	}
	return out, rows.Err()
}

// seen is one way of reading a statement.
type seen struct {
	plan []digest.PlanRow
	read int64  // rows and index entries; -1: it was not run
	why  string // it was not
}

// asBefore makes the session read as the application's sessions do: the copies are in use,
// the server's own mode of SQL, no results from a cache, the time of each bounded.
func (s *Schema) asBefore(ctx context.Context, each time.Duration) error {
	for _, q := range []string{"USE " + evidence.QuoteName(s.Name), "SET SESSION sql_mode = @@global.sql_mode"} {
		if err := s.exec(ctx, q); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	_ = s.exec(ctx, "SET SESSION query_cache_type = OFF") // MySQL 8 has none
	return s.limit(ctx, s.conn, each)
}

// limit bounds the time of each of a session's statements at the server; in MySQL, of
// each SELECT. Sessions of a pool have the limit of whoever used them before.
func (s *Schema) limit(ctx context.Context, conn *sql.Conn, each time.Duration) error {
	q := fmt.Sprintf("SET SESSION max_execution_time = %d", each.Milliseconds())
	if s.maria {
		q = fmt.Sprintf("SET SESSION max_statement_time = %g", each.Seconds())
	}
	if _, err := conn.ExecContext(ctx, q); err != nil {
		return fmt.Errorf("%s: %w", q, err)
	}
	return nil
}

// look explains a statement on the copies, and runs it if it only reads.
func (s *Schema) look(ctx context.Context, t target) (seen, error) {
	if !t.runs {
		plan, err := s.explainWrite(ctx, t.text)
		return seen{plan, -1, t.why}, err
	}
	tx, err := s.conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return seen{}, err
	}
	defer tx.Rollback()
	out := seen{read: -1}
	if out.plan, err = Explain(ctx, tx, t.text); err != nil {
		return out, err
	}
	// What asking itself reads is taken off.
	var counts [3]int64
	for i := range counts {
		if i == 2 {
			if err := drain(ctx, tx, t.text); err != nil {
				if ctx.Err() != nil {
					return out, ctx.Err()
				}
				out.why = "it was not run to its end on the copy: " + err.Error()
				return out, nil
			}
		}
		if counts[i], err = handlers(ctx, tx); err != nil {
			return out, err
		}
	}
	out.read = max(0, counts[2]-counts[1]-(counts[1]-counts[0]))
	return out, nil
}

// explainWrite explains an UPDATE or DELETE of a copy, which a read-only transaction refuses.
func (s *Schema) explainWrite(ctx context.Context, text string) ([]digest.PlanRow, error) {
	tx, err := s.conn.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	return Explain(ctx, tx, text)
}

// drain runs a statement and drops its rows.
func drain(ctx context.Context, q asked, text string) error {
	rows, err := q.QueryContext(ctx, text)
	if err != nil {
		return err
	}
	for rows.Next() {
	}
	return errors.Join(rows.Err(), rows.Close())
}

// handlers sums the session's counts of rows and index entries that were read; those that
// a condition pushed into an index looked at among them.
func handlers(ctx context.Context, q asked) (sum int64, err error) {
	rows, err := q.QueryContext(ctx, "SHOW SESSION STATUS WHERE Variable_name LIKE 'Handler_read%' OR Variable_name LIKE 'Handler_icp_%'")
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return 0, err
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		if strings.EqualFold(name, "Handler_icp_match") { // it is counted as read, too
			n = -n
		}
		sum += n
	}
	return sum, rows.Err()
}
