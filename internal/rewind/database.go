package rewind

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/stack"
)

const (
	// mostRows of all tables of a server: Kasoku needs about 60 bytes of memory for
	// each.
	mostRows = 20_000_000
	// alone is how long nobody else may have written, for others not to lose what they
	// write: the servers tell the second of a table's last change.
	alone = 2500 * time.Millisecond
	// fewRows: tables that are looked through after a restart though no run wrote
	// there.
	fewRows = 100_000
	// mostPasses through tables, whose triggers may write to others.
	mostPasses = 4
)

// database is one server's rows.
type database struct {
	svc     *stack.Service
	host    host.Host
	spool   *spool
	options stack.Snapshot

	tables map[string]*table // by quoted name
	left   []string
	base   state           // when everything was as taken
	dirty  map[string]bool // seen to be written since
	ever   map[string]bool // written by any run
	pool   *sql.DB
}

// state is what a server tells about its tables.
type state struct {
	started int64             // Unix time of the server's start
	changed map[string]string // the second in which each was changed last, "" if it is not known
	now     string            // the second of the look
}

// session opens a connection that reads and writes rows as they are.
func (d *database) session(ctx context.Context) (*sql.Conn, error) {
	d.close()
	pool, err := stack.OpenDB(ctx, d.host, d.svc)
	if err != nil {
		return nil, err
	}
	d.pool = pool
	c, err := pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := c.ExecContext(ctx, "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO', foreign_key_checks = 0, time_zone = '+00:00', lock_wait_timeout = 20, innodb_lock_wait_timeout = 20"); err != nil {
		return nil, err
	}
	if _, err := c.ExecContext(ctx, "SET NAMES binary"); err != nil { // no conversion, either way
		return nil, err
	}
	for _, s := range []string{
		"SET SESSION information_schema_stats_expiry = 0", // MySQL 8 else tells what was so a day ago
		"SET SESSION max_statement_time = 0",              // MariaDB
		"SET SESSION max_execution_time = 0",              // MySQL
		"SET SESSION slow_query_log = 0",                  // MariaDB
		"SET SESSION sql_log_off = 1",
	} {
		_, _ = c.ExecContext(ctx, s) // not every server has each
	}
	return c, nil
}

func (d *database) close() {
	if d.pool != nil {
		d.pool.Close()
		d.pool = nil
	}
}

// systemSchemas hold nothing of an application's.
var systemSchemas = []string{"mysql", "information_schema", "performance_schema", "sys"}

// engines keep rows that can be put back one by one.
var engines = []string{"InnoDB", "MyISAM", "Aria", "MEMORY", "ROCKSDB"}

// tells are engines that say at once when a table was changed last. Aria writes its
// files later.
var tells = []string{"InnoDB", "MyISAM"}

// listed is one row of the list of tables.
type listed struct {
	schema, name, kind, engine, options, changed string
	estimate, bytes, auto                        int64
}

func (l listed) id() string { return quote(l.schema) + "." + quote(l.name) }

func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// list asks for all tables of the databases that are to be kept.
func (d *database) list(ctx context.Context, c *sql.Conn) ([]listed, error) {
	rows, err := c.QueryContext(ctx, "SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, COALESCE(ENGINE, ''), COALESCE(CREATE_OPTIONS, ''), COALESCE(CAST(UPDATE_TIME AS CHAR), ''), "+
		"COALESCE(TABLE_ROWS, 0), COALESCE(DATA_LENGTH, 0), COALESCE(AUTO_INCREMENT, 0) FROM information_schema.TABLES "+
		"WHERE TABLE_TYPE NOT IN ('VIEW', 'SYSTEM VIEW') AND TABLE_SCHEMA NOT IN ('"+strings.Join(systemSchemas, "', '")+"')")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []listed
	for rows.Next() {
		var l listed
		if err := rows.Scan(&l.schema, &l.name, &l.kind, &l.engine, &l.options, &l.changed, &l.estimate, &l.bytes, &l.auto); err != nil {
			return nil, err
		}
		if len(d.options.Databases) == 0 || slices.Contains(d.options.Databases, l.schema) {
			out = append(out, l)
		}
	}
	return out, rows.Err()
}

// look reads when each table was changed last.
func (d *database) look(ctx context.Context, c *sql.Conn) (state, []listed, error) {
	s := state{changed: map[string]string{}}
	var name string
	var up int64
	if err := c.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE 'Uptime'").Scan(&name, &up); err != nil {
		return s, nil, err
	}
	if err := c.QueryRowContext(ctx, "SELECT UNIX_TIMESTAMP(), CAST(NOW() AS CHAR)").Scan(&s.started, &s.now); err != nil {
		return s, nil, err
	}
	s.started -= up
	tables, err := d.list(ctx, c)
	for _, l := range tables {
		s.changed[l.id()] = l.changed
	}
	return s, tables, err
}

// why says why a table's rows are not put back; "" if they are.
func (d *database) why(l listed) string {
	switch {
	case slices.Contains(d.options.Except, l.name) || slices.Contains(d.options.Except, l.schema+"."+l.name):
		return "load.snapshot.except names it"
	case l.kind != "BASE TABLE":
		return "it is a " + strings.ToLower(l.kind) + ", whose history cannot be put back"
	case !slices.Contains(engines, l.engine):
		return "rows of the engine " + l.engine + " cannot be put back one by one"
	}
	return ""
}

// take copies all rows.
func (d *database) take(ctx context.Context) error {
	c, err := d.session(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	begun := time.Now()
	if follows(ctx, c) {
		d.left = append(d.left, d.svc.Name+": it follows another database, which gets its own rows back")
		return nil
	}
	var all []listed
	if d.base, all, err = d.look(ctx, c); err != nil {
		return err
	}
	d.tables, d.dirty, d.ever = map[string]*table{}, map[string]bool{}, map[string]bool{}
	if err := d.enough(all); err != nil {
		return err
	}
	if _, err := c.ExecContext(ctx, "START TRANSACTION WITH CONSISTENT SNAPSHOT"); err != nil {
		return err
	}
	for _, l := range all {
		if why := d.why(l); why != "" {
			d.left = append(d.left, l.schema+"."+l.name+": "+why)
			continue
		}
		t := &table{listed: l, spool: d.spool}
		if err := t.take(ctx, c); err != nil {
			return fmt.Errorf("copy %s: %w", l.id(), err)
		}
		d.tables[l.id()] = t
	}
	if err := d.spool.flush(); err != nil {
		return err
	}
	if _, err := c.ExecContext(ctx, "COMMIT"); err != nil {
		return err
	}
	return d.nobodyElse(ctx, c, begun)
}

// follows reports whether the server gets its rows from another; one that does not let
// itself be asked is taken for a leader.
func follows(ctx context.Context, c *sql.Conn) bool {
	rows, err := c.QueryContext(ctx, "SHOW SLAVE STATUS")
	if err != nil { // MySQL from 8.4 on
		rows, err = c.QueryContext(ctx, "SHOW REPLICA STATUS")
	}
	if err != nil {
		return false
	}
	defer rows.Close()
	return rows.Next()
}

// enough checks that memory and disk hold the copy.
func (d *database) enough(all []listed) error {
	var rows, bytes int64
	largest := listed{}
	for _, l := range all {
		if d.why(l) != "" {
			continue
		}
		rows, bytes = rows+l.estimate, bytes+l.bytes
		if l.estimate > largest.estimate {
			largest = l
		}
	}
	free, err := d.spool.free()
	if err != nil {
		return err
	}
	const mend = "name the databases that the load changes under load.snapshot.databases, and large tables that it never changes under load.snapshot.except; or a command as load.reset"
	switch {
	case rows > mostRows:
		return fmt.Errorf("its tables have about %d rows, %d of them in %s.%s, and at most %d are kept; %s", rows, largest.estimate, largest.schema, largest.name, mostRows, mend)
	case bytes > free/2:
		return fmt.Errorf("its tables have %d MiB, and %s has %d MiB free, half of which may be used; %s", bytes>>20, d.spool.dir, free>>20, mend)
	}
	return nil
}

// nobodyElse is an error if somebody writes while no load is on: what they write would
// be taken back.
func (d *database) nobodyElse(ctx context.Context, c *sql.Conn, begun time.Time) error {
	if d.options.Shared {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Until(begun.Add(alone))):
	}
	now, _, err := d.look(ctx, c)
	if err != nil {
		return err
	}
	var written []string
	for id, t := range d.tables {
		if now.changed[id] != d.base.changed[id] {
			written = append(written, t.schema+"."+t.name)
		}
	}
	if len(written) == 0 {
		return nil
	}
	slices.Sort(written)
	if len(written) > 5 {
		written = append(written[:5], "…")
	}
	return fmt.Errorf("others write to it while no load is on (%s), and before each run that would be taken back; stop them, or name these tables under load.snapshot.except, or write load.snapshot: {shared: true} if what they write may be lost", strings.Join(written, ", "))
}

// seen notes which tables have been written since everything was as taken.
func (d *database) seen(ctx context.Context) error {
	if len(d.tables) == 0 {
		return nil
	}
	c, err := d.session(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	now, all, err := d.look(ctx, c)
	if err != nil {
		return err
	}
	d.note(now, all)
	return nil
}

// note adds the tables that may have been written.
func (d *database) note(now state, all []listed) {
	restarted := now.started > d.base.started+2 || now.started < d.base.started-2 // both are rounded to seconds
	there := map[string]listed{}
	for _, l := range all {
		there[l.id()] = l
	}
	for id, t := range d.tables {
		l, ok := there[id]
		was, is := d.base.changed[id], now.changed[id]
		switch {
		case !ok, l.auto != t.auto,
			!slices.Contains(tells, t.engine), strings.Contains(t.options, "partitioned"),
			!restarted && (is != was || is == d.base.now), // it may have been written again in that second
			restarted && (is != "" || d.ever[id] || t.rows <= fewRows):
			d.dirty[id] = true
		}
		if ok && (!restarted && is != was || restarted && is != "") {
			d.ever[id] = true
		}
	}
}

// back puts the rows of all tables that may have been written back.
func (d *database) back(ctx context.Context) (tables, rows int, err error) {
	if len(d.tables) == 0 {
		return 0, 0, nil
	}
	c, err := d.session(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer c.Close()
	if err := settle(ctx, c); err != nil {
		return 0, 0, err
	}
	now, all, err := d.look(ctx, c)
	if err != nil {
		return 0, 0, err
	}
	d.note(now, all)
	for pass := 1; ; pass++ {
		again := false
		for _, id := range sorted(d.dirty) {
			t := d.tables[id]
			n, err := t.back(ctx, c)
			if err != nil {
				return tables, rows, fmt.Errorf("%s: %w", id, err)
			}
			if n > 0 {
				tables, rows = tables+1, rows+n
				again = again || t.triggers
			}
		}
		if !again {
			break
		}
		if pass == mostPasses {
			return tables, rows, errors.New("triggers change what is put back; name a command as load.reset")
		}
		for id := range d.tables { // a trigger may have written anywhere
			d.dirty[id] = true
		}
	}
	if d.base, all, err = d.look(ctx, c); err != nil {
		return tables, rows, err
	}
	clear(d.dirty)
	for _, l := range all {
		if t := d.tables[l.id()]; t != nil && l.auto != t.auto {
			t.auto = l.auto // the server keeps no lower one
		}
	}
	return tables, rows, nil
}

func sorted(m map[string]bool) []string {
	var out []string
	for id := range m {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}
