package evidence

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// dbSource reads one database around a window, through one kept connection.
type dbSource struct {
	svc        *stack.Service
	h          host.Host
	diagnostic bool
	pool       *sql.DB
	conn       *sql.Conn
	mariaDB    bool
	version    string
	threads    map[uint64]bool // Kasoku's own, to leave out
	locks      *lockSampler    // of a diagnostic run; nil: none, because of locksErr
	locksErr   error

	begin, end        map[string]string
	digests, digests2 map[string]digestRow
	slow              slowState
	err               error // why counters are missing
	digestErr         error
}

// slowState is where the slow log stood.
type slowState struct {
	on           bool
	long         float64 // long_query_time, seconds
	output, file string
	from, to     int64
	err          error
	schemaOn     bool // performance_schema
}

func openDBSource(ctx context.Context, h host.Host, svc *stack.Service, diagnostic bool) (*dbSource, error) {
	d := &dbSource{svc: svc, h: h, diagnostic: diagnostic, threads: map[uint64]bool{}}
	var err error
	if d.pool, err = stack.OpenDB(ctx, h, svc); err != nil {
		return nil, err
	}
	if err := d.connect(ctx); err != nil {
		d.close()
		return nil, err
	}
	if diagnostic {
		var id uint64
		if d.locks, id, d.locksErr = openLocks(ctx, d.pool, d.mariaDB, d.version); d.locksErr == nil {
			d.threads[id] = true
			d.locks.skip = d.threads
		}
	}
	return d, nil
}

// connect takes a connection and notes its thread.
func (d *dbSource) connect(ctx context.Context) error {
	if d.conn != nil {
		d.conn.Close()
	}
	var err error
	if d.conn, err = d.pool.Conn(ctx); err != nil {
		return fmt.Errorf("connect to %s: %w", d.svc.Name, err)
	}
	var id uint64
	var comment string
	if err := d.conn.QueryRowContext(ctx, "SELECT CONNECTION_ID(), VERSION(), @@version_comment").Scan(&id, &d.version, &comment); err != nil {
		return fmt.Errorf("ask %s for its version: %w", d.svc.Name, err)
	}
	d.mariaDB = strings.Contains(strings.ToLower(d.version+comment), "mariadb")
	d.threads[id] = true
	return nil
}

func (d *dbSource) close() {
	if d.locks != nil {
		d.locks.close()
	}
	if d.conn != nil {
		d.conn.Close()
	}
	if d.pool != nil {
		d.pool.Close()
	}
}

// start reads counters and where the logs stand. The server may have been
// restarted since the source was opened, so a broken connection is renewed.
func (d *dbSource) start(ctx context.Context) {
	if d.conn.PingContext(ctx) != nil {
		if d.err = d.connect(ctx); d.err != nil {
			return
		}
	}
	d.readSlowState(ctx)
	if d.slow.schemaOn {
		d.digests, d.digestErr = readDigests(ctx, d.conn, d.mariaDB, d.version)
	}
	if d.useSlowLog() {
		d.slow.from, d.slow.err = slowLogSize(ctx, d.h, d.slow.file)
	}
	// The metrics stand before the first reading of the counters and after the
	// last, so that they are not among what they count.
	var metrics map[string]string
	if !d.mariaDB {
		metrics = readMetrics(ctx, d.conn)
	}
	if d.begin, d.err = readStatus(ctx, d.conn); d.err == nil {
		maps.Copy(d.begin, metrics)
	}
	if d.locks != nil && d.err == nil {
		d.locks.start(ctx)
	}
}

func (d *dbSource) readSlowState(ctx context.Context) {
	var on, dir, file, output, schema string
	err := d.conn.QueryRowContext(ctx, `SELECT @@global.slow_query_log, @@global.long_query_time, @@global.datadir,
		@@global.slow_query_log_file, @@global.log_output, @@global.performance_schema`).Scan(&on, &d.slow.long, &dir, &file, &output, &schema)
	if err != nil {
		d.slow.err = fmt.Errorf("ask %s for its slow log: %w", d.svc.Name, err)
		return
	}
	d.slow.on, d.slow.schemaOn, d.slow.output = on == "1", schema == "1", output
	d.slow.file = SlowLogPath(map[string]string{"datadir": dir, "slow_query_log_file": file})
}

// useSlowLog: in a diagnostic run, when it is on.
func (d *dbSource) useSlowLog() bool {
	return d.diagnostic && d.slow.on && strings.Contains(strings.ToUpper(d.slow.output), "FILE")
}

// stop reads the same again at the window's end.
func (d *dbSource) stop(ctx context.Context) {
	if d.locks != nil {
		d.locks.stop(ctx)
	}
	if d.err != nil {
		return
	}
	if d.end, d.err = readStatus(ctx, d.conn); d.err != nil {
		return
	}
	if !d.mariaDB {
		maps.Copy(d.end, readMetrics(ctx, d.conn))
	}
	if d.useSlowLog() && d.slow.err == nil {
		d.slow.to, d.slow.err = slowLogSize(ctx, d.h, d.slow.file)
	}
	if d.digests != nil {
		d.digests2, d.digestErr = readDigests(ctx, d.conn, d.mariaDB, d.version)
	}
}

// ownQuestions are Kasoku's own between the two readings of the counters: the
// closing SHOW GLOBAL STATUS counts itself.
const ownQuestions = 1

// counters returns the deltas and their health.
func (d *dbSource) counters() (*CounterDelta, Health) {
	source := "counters of " + d.svc.Name
	if d.err != nil {
		return nil, Health{Source: source, Text: d.err.Error()}
	}
	delta := statusDelta(d.begin, d.end)
	if d.locks != nil {
		d.locks.less(delta)
	}
	if up, err := strconv.Atoi(d.end["Uptime"]); err == nil {
		if was, err := strconv.Atoi(d.begin["Uptime"]); err == nil && up < was {
			return &delta, Health{Source: source, Text: d.svc.Name + " was restarted during the run; its counters began anew", Spoils: true}
		}
	}
	return &delta, Health{Source: source, OK: true, Text: fmt.Sprintf("%d status variables; %.0f statements by Questions", len(delta.Value), d.questions(delta))}
}

// questions is how many statements clients asked for. The server counts a
// connection's end (COM_QUIT) as one too; how many ended follows from how many
// began and how many more there are now. Preparing and closing a statement are
// not counted (sql_parse.cc, CF_SKIP_QUESTIONS; seen with MariaDB 10.11).
func (d *dbSource) questions(delta CounterDelta) float64 {
	now, err1 := strconv.ParseFloat(d.end["Threads_connected"], 64)
	was, err2 := strconv.ParseFloat(d.begin["Threads_connected"], 64)
	ended := 0.0
	if err1 == nil && err2 == nil {
		ended = max(delta.Delta["Connections"]-(now-was), 0)
	}
	own := float64(ownQuestions)
	if d.locks != nil {
		own += d.locks.asked()
	}
	return max(delta.Delta["Questions"]-own-ended, 0)
}

// lockWaits returns what transactions waited for.
func (d *dbSource) lockWaits() ([]LockWait, []Health) {
	switch {
	case d.err != nil || !d.diagnostic:
		return nil, nil
	case d.locks == nil:
		return nil, []Health{{Source: "row locks of " + d.svc.Name, OK: true, Text: fmt.Sprintf("not judged: %v", d.locksErr)}}
	}
	waits, health := d.locks.tell(d.svc.Name)
	return waits, []Health{health}
}

// statements reads and explains what the window's statements were.
func (d *dbSource) statements(ctx context.Context) ([]Statement, []Health) {
	if d.err != nil {
		return nil, nil // said with the counters
	}
	var out []Statement
	var health Health
	switch {
	case d.useSlowLog():
		out, health = d.fromSlowLog(ctx)
	case d.digests2 != nil && d.digestErr == nil:
		var n int64
		out, n = digestDelta(d.svc.Name, d.digests, d.digests2)
		health = Health{Source: "performance_schema of " + d.svc.Name, OK: true, Text: fmt.Sprintf("%d statements in %d classes", n, len(out))}
		if runs := statusDelta(d.begin, d.end).Delta["Com_stmt_execute"]; d.mariaDB && runs > 0 {
			// Seen with MariaDB 10.11: statement/com/Execute gets no digest.
			health.Text += fmt.Sprintf("; not judged: %.0f runs of server-side prepared statements, which MariaDB keeps no digest of (a diagnostic run sees them)", runs)
		}
	case d.diagnostic:
		return nil, []Health{d.noSlowLog()}
	case d.digestErr != nil:
		return nil, []Health{{Source: "performance_schema of " + d.svc.Name, OK: true, Text: "not judged: " + d.digestErr.Error()}}
	default:
		return nil, []Health{{Source: "statements of " + d.svc.Name, OK: true,
			Text: "not judged: only a diagnostic run reads the slow log, and performance_schema is off"}}
	}
	all := []Health{health}
	if len(out) > 0 {
		all = append(all, d.explain(ctx, out)...)
	}
	return out, all
}

func (d *dbSource) noSlowLog() Health {
	h := Health{Source: "slow log of " + d.svc.Name}
	switch {
	case d.slow.err != nil:
		h.Text = d.slow.err.Error()
	case !d.slow.on:
		h.Text = "the slow query log is off, so no statement was recorded; SET GLOBAL slow_query_log = ON, long_query_time = 0"
	default:
		h.Text = "log_output is " + d.slow.output + ", so the slow query log is not written to a file; SET GLOBAL log_output = 'FILE'"
	}
	return h
}

func (d *dbSource) fromSlowLog(ctx context.Context) ([]Statement, Health) {
	h := Health{Source: "slow log of " + d.svc.Name}
	if d.slow.err != nil {
		h.Text = d.slow.err.Error()
		return nil, h
	}
	log, err := ReadSlowLog(ctx, d.h, d.svc.Name, d.slow.file, d.slow.from, d.slow.to, d.threads)
	if err != nil {
		h.Text = err.Error()
		return nil, h
	}
	asked := d.questions(statusDelta(d.begin, d.end))
	var old bool
	if h.OK, old, h.Text = judgeSlowLog(log, asked, d.slow.long); old {
		h.OldConnections = d.svc.Name
		return d.otherwise(log.Statements, asked, &h), h
	}
	return log.Statements, h
}

// covered: this part of all statements must be in the log. The rest may be of
// connections that were inside a statement when a reading was taken.
const covered = 0.8

// judgeSlowLog compares the log with the server's own count. old: what is missing is
// of connections that were open before the log was switched on.
func judgeSlowLog(log *SlowLog, asked, long float64) (ok, old bool, text string) {
	text = fmt.Sprintf("%d statements (%d bytes), %.0f by the server's count", log.Entries, log.Bytes, asked)
	switch {
	case log.Truncated:
		return true, false, text + fmt.Sprintf("; only the first %d MiB of the log were read", MaxSlowLog>>20)
	case asked < 10:
		return true, false, text + "; the database was hardly asked"
	case float64(log.Entries) >= covered*asked:
		return true, false, text
	case log.Sampled != "":
		return false, false, text + ": " + log.Sampled + "; SET GLOBAL log_slow_rate_limit = 1"
	case long > 0:
		return false, false, text + fmt.Sprintf(": long_query_time is %g s, faster ones are not logged; SET GLOBAL long_query_time = 0", long)
	}
	return false, true, text + ": connections that were open before the log was switched on keep their old long_query_time; restart the service that holds them (persistent connections, a pool) and run again"
}

func (d *dbSource) explain(ctx context.Context, statements []Statement) []Health {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	failed, err := Explain(ctx, d.conn, d.mariaDB, d.svc.Name, statements)
	scanned(statements)
	if err == nil {
		return nil
	}
	return []Health{{Source: "plans of " + d.svc.Name, OK: true, Text: fmt.Sprintf("not judged: %d statements could not be explained; the first: %v", failed, err)}}
}
