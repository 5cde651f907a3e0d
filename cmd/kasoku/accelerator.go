package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/host"
	"kasoku/internal/prefetch"
	"kasoku/internal/sqllog"
	"kasoku/internal/stack"
	"kasoku/internal/trace"
	"kasoku/internal/ui"
)

// AcceleratorCmd is about the library that answers reads of a Go service from memory.
type AcceleratorCmd struct {
	Rules AcceleratorRulesCmd `cmd:"" help:"Learn rules from a general log: which read follows which, by which column."`
	Add   AcceleratorAddCmd   `cmd:"" help:"Commit the library and its use to a Go program, on a branch; the checkout is not touched."`
}

// Help is shown below the flags.
func (AcceleratorCmd) Help() string {
	return "The accelerator stands between database/sql and the driver, and reads the rows of a loop at once, by rules (docs/how-to/use-the-accelerator.md).\n\n" +
		"Examples:\n  kasoku accelerator rules --log general.log --database 'user@unix(/run/mysqld/mysqld.sock)/app' -o accelerator.json\n  kasoku accelerator add --source ~/app"
}

// AcceleratorRulesCmd learns rules.
type AcceleratorRulesCmd struct {
	Log      []string `required:"" help:"A general query log of the program at work; may be repeated." placeholder:"FILE"`
	Database string   `required:"" help:"The database with the data that the program worked on: 'mysql://user@host/schema?password_file=FILE' (docs/reference/digest.md)." placeholder:"DSN"`
	Output   string   `short:"o" help:"Write the rules to this file." placeholder:"FILE"`
}

// Help is shown below the flags.
func (AcceleratorRulesCmd) Help() string {
	return "Looks for a read by one value that comes again and again in a transaction, asks the plain reads before it again, in a read-only transaction, and compares their columns with the values. " +
		"A rule is made where one column has them all; every other read is told with the reason. Exit 3 where --output is given and there is no rule. Values are kept nowhere.\n\n" +
		"Examples:\n  kasoku accelerator rules --log general.log --database 'user@unix(/run/mysqld/mysqld.sock)/app'\n  kasoku accelerator rules --log general.log --database mysql://app@db/app -o accelerator.json --json"
}

// databaseHint shows how a database is named.
const databaseHint = "--database 'mysql://user@host/schema?password_file=/path' or 'user@unix(/run/mysqld/mysqld.sock)/schema'; a password may also stand in MYSQL_PWD, or defaults_file may name an option file"

// learnedRules is what rules prints.
type learnedRules struct {
	Statements []prefetch.Learned `json:"statements"`
	File       string             `json:"file,omitempty"` // that was written
}

// Run implements the command.
func (c *AcceleratorRulesCmd) Run(ctx context.Context, a *App) error {
	target, err := parseDSN(c.Database)
	if err == nil && target.schema == "" {
		err = errors.New("no schema is named")
	}
	if err != nil {
		return ui.Coded(ui.Usage, fmt.Errorf("--database: %w", err), databaseHint)
	}
	events, err := generalEvents(c.Log)
	if err != nil {
		return err
	}
	all := trace.Follows(events)
	db, err := stack.OpenDB(ctx, host.NewLocal(), &stack.Service{Name: "the database of --database", Kind: stack.MariaDB, Login: &target.login})
	if err != nil {
		return ui.Coded(ui.BadInput, err, databaseHint)
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return ui.Coded(ui.BadInput, err, databaseHint)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "USE "+evidence.QuoteName(target.schema)); err != nil {
		return ui.Coded(ui.BadInput, err, databaseHint)
	}
	learned, err := prefetch.Learn(ctx, all, again(conn))
	if err != nil {
		return ui.Coded(ui.Interrupted, errors.New("interrupted; nothing was written"), "")
	}
	out := learnedRules{Statements: learned}
	if c.Output != "" {
		text := prefetch.File(learned)
		if text == nil {
			return ui.Coded(ui.BadInput, errors.New("no rule could be shown, so none was written"), "without --output each read is told with the reason")
		}
		if err := os.WriteFile(c.Output, text, 0o644); err != nil {
			return ui.Coded(ui.Failure, err, "name a file that can be written: --output FILE")
		}
		out.File = c.Output
	}
	return a.print(out, func(w io.Writer) error { return rulesText(w, out) })
}

// generalEvents reads general logs, one after another.
func generalEvents(names []string) ([]trace.Event, error) {
	in, _, err := openInputs(names)
	if err != nil {
		return nil, err
	}
	var entries []sqllog.GeneralEntry
	for _, one := range in {
		r, err := one.Open()
		if err != nil {
			return nil, ui.Coded(ui.BadInput, err, "name a general query log: --log FILE")
		}
		err = sqllog.ParseGeneral(r, func(e sqllog.GeneralEntry) error {
			entries = append(entries, e)
			return nil
		})
		if err = errors.Join(err, r.Close()); err != nil {
			return nil, ui.Coded(ui.BadInput, fmt.Errorf("%s: %w", one.Name, err), "name a general query log: --log FILE")
		}
	}
	if len(entries) == 0 {
		return nil, ui.Coded(ui.BadInput, fmt.Errorf("%s has no entries of a general query log", strings.Join(names, ", ")), "SET GLOBAL general_log_file = '…', general_log = ON; then let the program work for a minute, and set it OFF")
	}
	return trace.GeneralEvents(entries, "database", nil), nil
}

// Bounds of a read that is asked again.
const (
	againTime = 2 * time.Second
	againRows = 5000 // as many keys as a rule may have
)

// again asks plain reads, in a transaction that may not write and is rolled back.
func again(conn *sql.Conn) prefetch.Asked {
	return func(ctx context.Context, query string) ([]string, [][]string, error) {
		if !trace.PlainRead(query) {
			return nil, nil, errors.New("it is no plain read")
		}
		ctx, cancel := context.WithTimeout(ctx, againTime)
		defer cancel()
		tx, err := conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
		if err != nil {
			return nil, nil, err
		}
		defer tx.Rollback()
		rows, err := tx.QueryContext(ctx, query)
		if err != nil {
			return nil, nil, err
		}
		defer rows.Close()
		return columnsOf(rows)
	}
}

// columnsOf are the names of the columns of rows, and the values of each, NULL left out.
func columnsOf(rows *sql.Rows) ([]string, [][]string, error) {
	names, err := rows.Columns()
	if err != nil {
		return nil, nil, err
	}
	out, row, into := make([][]string, len(names)), make([]sql.NullString, len(names)), make([]any, len(names))
	for i := range row {
		into[i] = &row[i]
	}
	for n := 0; rows.Next(); n++ {
		if n == againRows {
			return nil, nil, fmt.Errorf("it has more than %d rows", againRows)
		}
		if err := rows.Scan(into...); err != nil {
			return nil, nil, err
		}
		for i, v := range row {
			if v.Valid {
				out[i] = append(out[i], v.String)
			}
		}
	}
	return names, out, rows.Err()
}

// rulesText prints the rules with what shows them, and then what is refused.
func rulesText(w io.Writer, r learnedRules) error {
	var b strings.Builder
	refused := slices.DeleteFunc(slices.Clone(r.Statements), func(l prefetch.Learned) bool { return l.Rule != nil })
	for _, l := range r.Statements {
		if l.Rule == nil {
			continue
		}
		fmt.Fprintf(&b, "%s\n  after      %s\n  column     %s\n  statement  %s\n  shown by   %s: all %d keys are in that column, of %d that it has there\n",
			l.Rule.ID, ui.Clean(l.Rule.After), ui.Clean(l.Rule.Column), ui.Clean(l.Statement), ui.Plural(l.Turns, "transaction", "transactions"), l.Keys, l.Held)
	}
	if len(refused) > 0 {
		fmt.Fprintln(&b, "refused:")
	}
	for _, l := range refused {
		fmt.Fprintf(&b, "  %s, %s\n    %s\n", ui.Clean(l.Statement), ui.Plural(l.Runs, "run", "runs"), ui.Clean(l.Refused))
	}
	if len(r.Statements) == 0 {
		fmt.Fprintln(&b, "no read comes again and again with other values")
	}
	if r.File != "" {
		fmt.Fprintf(&b, "written: %s; the service takes it by ACCELERATOR_RULES\n", r.File)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
