package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	"kasoku/internal/digest"
	"kasoku/internal/evidence"
	"kasoku/internal/host"
	"kasoku/internal/remedy/index"
	"kasoku/internal/scratch"
	"kasoku/internal/sqllog"
	"kasoku/internal/stack"
	"kasoku/internal/ui"
)

const (
	// explainMost statements: those after the twentieth take a percent of the time
	// or less in every log looked at.
	explainMost = 20
	// explainLimit bounds one EXPLAIN at the server: the optimizer reads some rows,
	// and MariaDB those of tables that are derived.
	explainLimit = 2 * time.Second
)

// dsnHint shows how a database is named.
const dsnHint = "--explain 'mysql://user@host/schema?password_file=/path' or 'user@unix(/run/mysqld/mysqld.sock)/schema'; a password may also stand in MYSQL_PWD, or defaults_file may name an option file"

// explainer explains statements on one database, without running them.
type explainer struct {
	db      *sql.DB
	target  *explainTarget
	mariaDB bool
	// tell is called with what is going to be made before indexes are tried on copies; nil:
	// none are.
	tell   func(string)
	limits scratch.Limits
}

// openExplainer logs in.
func openExplainer(ctx context.Context, dsn string) (*explainer, error) {
	t, err := parseDSN(dsn)
	if err != nil {
		return nil, ui.Coded(ui.Usage, fmt.Errorf("--explain: %w", err), dsnHint)
	}
	svc := &stack.Service{Name: "the database of --explain", Kind: stack.MariaDB, Login: &t.login}
	db, err := stack.OpenDB(ctx, host.NewLocal(), svc)
	if err != nil {
		return nil, ui.Coded(ui.BadInput, err, dsnHint)
	}
	return &explainer{db: db, target: t}, nil
}

// explain fills in the plans of the heaviest classes, in the digest's order, and
// the indexes that they lack. What goes wrong with one is told with it.
func (x *explainer) explain(ctx context.Context, s *digest.Statements) {
	warn := func(format string, args ...any) { s.Warnings = append(s.Warnings, fmt.Sprintf(format, args...)) }
	var version string
	if err := x.db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); err != nil {
		warn("nothing was explained: %v", err)
		return
	}
	x.mariaDB = strings.Contains(strings.ToLower(version), "mariadb")
	s.Explained = version
	for i := range s.Classes[:min(len(s.Classes), explainMost)] {
		c := &s.Classes[i]
		c.Plan = &digest.Planned{}
		if err := x.one(ctx, c); err != nil {
			c.Plan.Error = err.Error()
		}
	}
	if len(s.Classes) > explainMost {
		warn("the first %d statements were explained", explainMost)
	}
	if err := x.advise(ctx, s); err != nil {
		warn("missing indexes are not told: %v", err)
	}
}

// unexplainable says why a statement is not given to the server; "" if it is.
func unexplainable(c *digest.Statement) string {
	switch {
	case c.Fingerprint == digest.OtherStatements:
		return "these are many statements"
	case len(c.Example) >= sqllog.MaxStatement:
		return fmt.Sprintf("only its first %d KiB are known", sqllog.MaxStatement>>10)
	case strings.Contains(c.Fingerprint, "?") && c.Example == c.Fingerprint, strings.Contains(c.Example, "?") && !sqllog.Explainable(c.Example) && sqllog.Verb(c.Example) == "SELECT":
		return "the log has no values of it; MySQL 8 has some in QUERY_SAMPLE_TEXT"
	case sqllog.Verb(c.Example) != "SELECT":
		return "it is no SELECT"
	case !sqllog.Explainable(c.Example):
		return "it is several statements, or writes a file or a variable"
	}
	return ""
}

// one explains a statement in a transaction that cannot write.
func (x *explainer) one(ctx context.Context, c *digest.Statement) error {
	if why := unexplainable(c); why != "" {
		return errors.New(why)
	}
	ctx, cancel := context.WithTimeout(ctx, 2*explainLimit)
	defer cancel()
	conn, err := x.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if x.target.schema == "" { // USE would stay for a statement whose schema is not known
		defer func() { _ = conn.Raw(func(any) error { return driver.ErrBadConn }) }()
	}
	limit := fmt.Sprintf("SET SESSION max_execution_time = %d", explainLimit.Milliseconds())
	if x.mariaDB {
		limit = fmt.Sprintf("SET SESSION max_statement_time = %g", explainLimit.Seconds())
	}
	if _, err := conn.ExecContext(ctx, limit); err != nil {
		return fmt.Errorf("limit the time: %w", err)
	}
	schema := c.Schema
	if schema == "" {
		schema = x.target.schema
	}
	if schema != "" {
		if _, err := conn.ExecContext(ctx, "USE "+evidence.QuoteName(schema)); err != nil {
			return err
		}
	}
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	// A comment at the end would hide nothing, but the line's end ends it.
	text := sqllog.Unlocked(strings.TrimRight(strings.TrimSpace(c.Example), "; \t\r\n")) + "\n"
	if c.Plan.Rows, err = scratch.Explain(ctx, tx, text); err != nil {
		return err
	}
	// For the advice; the plan is there without it.
	_ = tx.QueryRowContext(ctx, "EXPLAIN FORMAT=JSON "+text).Scan(&c.Explain)
	return nil
}

// advise tells which indexes would help the explained statements, and tries them if that
// was asked for.
func (x *explainer) advise(ctx context.Context, s *digest.Statements) error {
	db, unsampled, err := x.tables(ctx)
	if err != nil {
		return err
	}
	if unsampled > 0 {
		s.Warnings = append(s.Warnings, fmt.Sprintf("how many values the columns of %d tables have is not known (no time or no right to sample them), so indexes of theirs may be missing here", unsampled))
	}
	statements := make([]evidence.Statement, len(s.Classes))
	for i := range s.Classes {
		if statements[i] = s.Classes[i]; statements[i].Schema == "" {
			statements[i].Schema = x.target.schema
		}
	}
	advice, notes := index.Advise(statements, db.Tables, index.OptionsFor(db))
	for _, n := range notes {
		if p := s.Classes[n.Statement].Plan; p != nil {
			p.Notes = append(p.Notes, n.String())
		}
	}
	fails, err := x.try(ctx, s, db, statements, advice)
	if err != nil {
		s.Warnings = append(s.Warnings, "the indexes were not tried: "+err.Error())
	}
	for k, a := range advice {
		for _, i := range a.Statements {
			if p := s.Classes[i].Plan; p != nil && !fails[k] {
				p.Missing = append(p.Missing, a.Create())
			}
		}
	}
	return ctx.Err()
}

// tables reads the schema like the plans are read: nothing can be written. unsampled
// tables are those of which no sample could be taken.
func (x *explainer) tables(ctx context.Context) (db *evidence.Database, unsampled int, err error) {
	conn, err := x.db.Conn(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer conn.Close()
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, 0, err
	}
	defer tx.Rollback()
	if db, err = evidence.ReadDatabase(ctx, tx); err != nil {
		return nil, 0, err
	}
	unsampled, err = evidence.EstimateDistinct(ctx, tx, db)
	return db, unsampled, err
}

// try makes the advised indexes on copies of the tables, if that was asked for, and says
// which of them do not help there, by their place in the advice.
func (x *explainer) try(ctx context.Context, s *digest.Statements, db *evidence.Database, statements []evidence.Statement, advice []index.Advice) (fails map[int]bool, err error) {
	if x.tell == nil || len(advice) == 0 {
		return nil, nil
	}
	r, err := scratch.Try(ctx, x.db, x.mariaDB, db.Tables, statements, advice, x.limits, x.tell)
	if err != nil {
		return nil, err
	}
	for i, t := range r.Statements {
		if p := s.Classes[i].Plan; p != nil {
			p.Tried = t
		}
	}
	s.TriedIndexes = r.Indexes
	s.TriedOn = r.Notes
	fails = map[int]bool{}
	for k := range r.Indexes {
		fails[k] = r.Indexes[k].Fails()
	}
	return fails, nil
}
