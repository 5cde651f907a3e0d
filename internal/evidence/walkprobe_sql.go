package evidence

import (
	"context"
	"database/sql"
	"fmt"

	"kasoku/internal/host"
	"kasoku/internal/sqllog"
	"kasoku/internal/stack"
	"kasoku/internal/trace"
)

// generalStream reads a database's general log.
type generalStream struct {
	service string
	h       host.Host
	file    string
	pool    *sql.DB
	conn    *sql.Conn
	thread  uint64
	from    int64
}

func openGeneral(ctx context.Context, h host.Host, svc *stack.Service, file string) (*generalStream, error) {
	g := &generalStream{service: svc.Name, h: h, file: file}
	var err error
	if g.pool, err = stack.OpenDB(ctx, h, svc); err != nil {
		return nil, err
	}
	if err = g.prepare(ctx); err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

func (g *generalStream) prepare(ctx context.Context) error {
	var err error
	if g.conn, err = g.pool.Conn(ctx); err != nil {
		return fmt.Errorf("connect to %s: %w", g.service, err)
	}
	var on int
	var output string
	if err := g.conn.QueryRowContext(ctx, "SELECT CONNECTION_ID(), @@global.general_log, @@global.log_output").Scan(&g.thread, &on, &output); err != nil {
		return fmt.Errorf("ask %s for its general log: %w", g.service, err)
	}
	if on == 0 {
		return fmt.Errorf("the general log of %s is off; SET GLOBAL general_log = ON", g.service)
	}
	if g.from, err = slowLogSize(ctx, g.h, g.file); err != nil {
		return fmt.Errorf("general log of %s (log_output is %s): %w", g.service, output, err)
	}
	return nil
}

func (g *generalStream) name() string { return g.service }

// mark: the server writes a statement to the log before it runs it, so the
// mark is there when the answer is.
func (g *generalStream) mark(ctx context.Context, n int) error {
	_, err := g.conn.ExecContext(ctx, trace.MarkText(n))
	return err
}

func (g *generalStream) finish(ctx context.Context, _ int) ([]trace.Event, string, error) {
	size, err := slowLogSize(ctx, g.h, g.file)
	if err != nil {
		return nil, "", err
	}
	if size < g.from {
		return nil, "", fmt.Errorf("general log %s became shorter during the walk: was it rotated? Run again without rotation", g.file)
	}
	text := ""
	if size-g.from > maxGeneral {
		size, text = g.from+maxGeneral, fmt.Sprintf("only the first %d MiB of the general log were read", maxGeneral>>20)
	}
	var entries []sqllog.GeneralEntry
	r := &pieces{ctx: ctx, h: g.h, file: g.file, at: g.from, end: size}
	if err := sqllog.ParseGeneral(r, func(e sqllog.GeneralEntry) error {
		entries = append(entries, e)
		return nil
	}); err != nil {
		return nil, "", fmt.Errorf("read general log %s: %w", g.file, err)
	}
	events := trace.GeneralEvents(entries, g.service, map[uint64]bool{g.thread: true})
	marked := false
	for _, e := range events {
		marked = marked || e.Marked
	}
	if !marked {
		return nil, "", fmt.Errorf("general log %s does not hold what was asked: does %s write to another file, or has this session sql_log_off?", g.file, g.service)
	}
	return events, text, nil
}

// maxGeneral is how much of a general log is read, bytes: its entries are
// kept. A walk writes some megabytes.
const maxGeneral = 32 << 20

func (g *generalStream) amend(_ int, calls []trace.Call) []trace.Call { return calls }

func (g *generalStream) close() {
	if g.conn != nil {
		g.conn.Close()
	}
	g.pool.Close()
}
