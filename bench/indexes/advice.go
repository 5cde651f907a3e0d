package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/evidence"
	advisor "kasoku/internal/remedy/index"
)

// observe reads of the server what a diagnostic run would: the schema, samples of its
// columns, and for each statement what the server counts of it. Its time is made from the
// rows read, 0.1 ms and 0.3 µs for each: the same seed gives the same advice.
func (l *lab) observe(ctx context.Context, k *kept) error {
	db, err := evidence.ReadDatabase(ctx, l.srv.conn)
	if err != nil {
		return err
	}
	var own []evidence.Table
	for _, t := range db.Tables {
		if t.Schema == l.name {
			own = append(own, t)
		}
	}
	db.Tables = own
	if err := l.sample(ctx, db); err != nil {
		return err
	}
	if err := l.srv.exec(ctx, "SET SESSION max_statement_time = 0"); err != nil {
		return err
	}
	k.Tables, k.Statements, k.Descending, k.Observed = db.Tables, nil, true, observeVersion
	for i, st := range l.s.stmts {
		n, err := l.reads(ctx, i)
		if err != nil {
			return err
		}
		k.Reads[measureKey(i, nil)] = n
		e, err := l.counted(ctx, i, st.Count)
		if err != nil {
			return err
		}
		e.Total = time.Duration(float64(st.Count) * (1e5 + 300*n))
		k.Statements = append(k.Statements, e)
	}
	// Plans stand beside the counts, as in a diagnostic run.
	if _, err := evidence.Explain(ctx, l.srv.conn, true, "", k.Statements); err != nil {
		return err
	}
	return l.srv.exec(ctx, "SET SESSION max_statement_time = 0")
}

// sample until it is not cut off: its time is bounded, and the machine may be busy.
func (l *lab) sample(ctx context.Context, db *evidence.Database) error {
	for range 20 {
		skipped, err := evidence.EstimateDistinct(ctx, l.srv.conn, db)
		if err != nil || skipped == 0 {
			return err
		}
	}
	return fmt.Errorf("the machine is too busy to sample %s", l.name)
}

// counted is what performance_schema tells of a statement's instances.
func (l *lab) counted(ctx context.Context, i int, count int64) (evidence.Statement, error) {
	e := evidence.Statement{Schema: l.name, Example: l.instances[i][0], Fingerprint: l.instances[i][0], Count: count}
	for _, q := range l.instances[i] {
		if err := l.srv.exec(ctx, "BEGIN"); err != nil {
			return e, err
		}
		if err := l.srv.exec(ctx, q); err != nil {
			return e, err
		}
		rows, err := l.srv.rows(ctx, `SELECT ROWS_EXAMINED, ROWS_SENT, ROWS_AFFECTED, SELECT_SCAN, SELECT_FULL_JOIN, NO_INDEX_USED
			FROM performance_schema.events_statements_history WHERE THREAD_ID = (SELECT THREAD_ID FROM performance_schema.threads
			WHERE PROCESSLIST_ID = CONNECTION_ID()) ORDER BY EVENT_ID DESC LIMIT 1`)
		if err != nil {
			return e, err
		}
		if len(rows) != 1 {
			return e, fmt.Errorf("performance_schema has nothing of %q", q)
		}
		for j, to := range []*int64{&e.RowsExamined, &e.RowsSent, &e.RowsAffected, &e.FullScans, &e.FullJoins, &e.NoIndex} {
			n, err := strconv.ParseInt(rows[0][j], 10, 64)
			if err != nil {
				return e, err
			}
			*to += n * count / instances
		}
		if err := l.srv.exec(ctx, "ROLLBACK"); err != nil {
			return e, err
		}
	}
	return e, nil
}

// advise gives the advised indexes, with what is said of them.
func (k *kept) advise() (set []index, why []string) {
	advice, notes := advisor.Advise(k.Statements, k.Tables, advisor.Options{Descending: k.Descending})
	for _, a := range advice {
		set = append(set, index{a.Table, a.Columns})
		why = append(why, fmt.Sprintf("%s(%s): %.3f, %s", a.Table, strings.Join(a.Columns, ","), a.Benefit, a.Reason))
	}
	for _, n := range notes {
		why = append(why, n.Text)
	}
	return set, why
}
