package evidence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kasoku/internal/sqllog"
)

// LockWait is one table whose rows transactions were seen waiting for.
type LockWait struct {
	Service string `json:"service"`
	Schema  string `json:"schema"`
	Table   string `json:"table"`
	// Waiting transactions on average over all samples.
	Waiting float64 `json:"waiting"`
	// Samples were taken, in Seen of them somebody waited for this table.
	Samples int `json:"samples"`
	Seen    int `json:"seen"`
	// Rows of it that were waited for; Hottest is the share of the waits that
	// were for one of them, 0–1.
	Rows    int     `json:"rows"`
	Hottest float64 `json:"hottest"`
	// Statement that waited most often, as Statement.Fingerprint has it.
	Statement string `json:"statement"`
}

// lockEvery is how often waits are looked at. InnoDB keeps what it last told for
// 100 ms (CACHE_MIN_IDLE_TIME_NS in MariaDB's and MySQL's trx0i_s.cc), so more
// often tells nothing new.
const lockEvery = 110 * time.Millisecond

// lockRest bounds what looking costs: among hundreds of waiting transactions
// each stands behind all before it, and InnoDB lists them all. A look is
// followed by a pause of so many times its length.
const lockRest = 9

// Who waits for which row. MySQL 8.0 moved the locks (Reference Manual 8.0, "The
// data_lock_waits Table"); MariaDB and MySQL 5.7 have them in
// information_schema. INNODB_LOCK_WAITS is left alone: it has a row for each
// pair of those who wait. A row is named by its place (space, page and heap
// number: in MySQL 8 parts of ENGINE_LOCK_ID, print_record_lock_id in p_s.cc),
// not by LOCK_DATA: that is NULL while someone holds the page's latch
// (buf_page_try_get), which is often so where a row is hot.
const (
	lockWaits = `SELECT r.trx_id, l.lock_table, l.lock_index, CONCAT_WS(':', l.lock_space, l.lock_page, l.lock_rec), COALESCE(r.trx_query, '')
		FROM information_schema.INNODB_TRX r
		JOIN information_schema.INNODB_LOCKS l ON l.lock_id = r.trx_requested_lock_id
		WHERE r.trx_state = 'LOCK WAIT' AND l.lock_type = 'RECORD'`
	lockWaits8 = "SELECT DISTINCT w.REQUESTING_ENGINE_TRANSACTION_ID, CONCAT('`', l.OBJECT_SCHEMA, '`.`', l.OBJECT_NAME, '`'), l.INDEX_NAME, SUBSTRING_INDEX(SUBSTRING_INDEX(l.ENGINE_LOCK_ID, ':', 4), ':', -3), COALESCE(r.trx_query, '')" + `
		FROM performance_schema.data_lock_waits w
		JOIN performance_schema.data_locks l ON l.ENGINE_LOCK_ID = w.REQUESTING_ENGINE_LOCK_ID
		JOIN information_schema.INNODB_TRX r ON r.trx_id = w.REQUESTING_ENGINE_TRANSACTION_ID
		WHERE l.LOCK_TYPE = 'RECORD'`
)

// lockSampler looks at waits for row locks over the window of a diagnostic run,
// on a connection of its own.
type lockSampler struct {
	conn    *sql.Conn
	query   string
	cancel  context.CancelFunc
	done    chan struct{}
	samples int
	tables  map[string]*lockedTable
	err     error
	// running is what is seen to run between the looks for locks, by looks more often; nil
	// where the server does not tell enough. skip are Kasoku's own threads.
	maria   bool
	running *runningStatements
	skip    map[uint64]bool
	// begin and end are the counters of its own connection around the window; nil: not read.
	begin, end map[string]string
}

// lockedTable gathers the waits for one table.
type lockedTable struct {
	seen, waits      int
	rows, statements map[string]int
}

// openLocks takes a connection for sampling and returns its thread.
func openLocks(ctx context.Context, pool *sql.DB, mariaDB bool, version string) (*lockSampler, uint64, error) {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, 0, err
	}
	s := &lockSampler{conn: conn, query: lockWaits, maria: mariaDB}
	if !mariaDB && !strings.HasPrefix(version, "5.") {
		s.query = lockWaits8
	}
	var id uint64
	if err := conn.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&id); err != nil {
		conn.Close()
		return nil, 0, err
	}
	return s, id, nil
}

func (s *lockSampler) start(ctx context.Context) {
	s.begin, s.end = s.status(ctx), nil
	ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	s.done, s.tables, s.samples, s.err = make(chan struct{}), map[string]*lockedTable{}, 0, nil
	every := lockEvery
	if s.running = nil; s.maria {
		s.running, every = newRunning(), lookEvery
	}
	go func() {
		defer close(s.done)
		next := time.NewTimer(every)
		defer next.Stop()
		locks := time.Now()
		for {
			select {
			case <-ctx.Done():
				return
			case <-next.C:
			}
			began := time.Now()
			if err := s.look(ctx, &locks); err != nil {
				if ctx.Err() == nil {
					s.err = err
				}
				return
			}
			took := time.Since(began)
			next.Reset(max(every-took, lockRest*took))
		}
	}()
}

// look sees what runs, and each lockEvery for what transactions wait.
func (s *lockSampler) look(ctx context.Context, locks *time.Time) error {
	if s.running != nil {
		if err := s.running.look(ctx, s.conn, s.skip); err != nil {
			return err
		}
	}
	if time.Since(*locks) < lockEvery {
		return nil
	}
	*locks = time.Now()
	return s.sample(ctx)
}

func (s *lockSampler) sample(ctx context.Context) error {
	rows, err := s.conn.QueryContext(ctx, s.query)
	if err != nil {
		return err
	}
	defer rows.Close()
	now := map[string]bool{}
	for rows.Next() {
		var trx, table, index, row, statement string
		if err := rows.Scan(&trx, &table, &index, &row, &statement); err != nil {
			return err
		}
		t := s.tables[table]
		if t == nil {
			t = &lockedTable{rows: map[string]int{}, statements: map[string]int{}}
			s.tables[table] = t
		}
		if !now[table] {
			now[table] = true
			t.seen++
		}
		t.waits++
		t.rows[index+" "+row]++
		if statement != "" {
			t.statements[sqllog.Fingerprint(statement)]++
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	s.samples++
	return nil
}

// status is what its own connection did so far; nil if the server does not say.
func (s *lockSampler) status(ctx context.Context) map[string]string {
	pairs, err := readPairs(ctx, s.conn, "SHOW SESSION STATUS")
	if err != nil {
		return nil
	}
	return pairs
}

// stop ends the sampling and reads what it did.
func (s *lockSampler) stop(ctx context.Context) {
	if s.halt() {
		s.end = s.status(ctx)
	}
}

// halt ends the sampling and asks the server nothing more; false: none was under way.
func (s *lockSampler) halt() bool {
	if s.cancel == nil {
		return false
	}
	s.cancel()
	<-s.done
	s.cancel = nil
	return true
}

func (s *lockSampler) close() {
	s.halt()
	s.conn.Close()
}

// ownStatus are the two statements that read its own counters, before and after.
const ownStatus = 2

// asked is how many statements the sampling took, ownStatus among them; the last one may
// have been cut off by the window's end, and counts.
func (s *lockSampler) asked() float64 {
	n := float64(s.samples) + ownStatus
	if s.running != nil {
		n += float64(s.running.looks)
	}
	return n
}

// perConnection begins the names of counters that a server keeps for each connection, too
// (MariaDB Knowledge Base, "Server Status Variables"; MySQL manual, the same, "Both").
var perConnection = []string{"com_", "handler_", "select_", "sort_", "created_tmp_tables", "created_tmp_disk_tables",
	"rows_read", "rows_sent", "rows_tmp_read", "bytes_sent", "bytes_received"}

// less takes from the counters of the server what the sampling itself added to them: each
// look joins two tables that have no index.
func (s *lockSampler) less(all CounterDelta) {
	if s.begin == nil || s.end == nil {
		return
	}
	for name, own := range statusDelta(s.begin, s.end).Delta {
		lower := strings.ToLower(name)
		if now, ok := all.Delta[name]; ok && slices.ContainsFunc(perConnection, func(p string) bool { return strings.HasPrefix(lower, p) }) {
			all.Delta[name] = max(now-own, 0)
		}
	}
}

// tell returns what was waited for, most first.
func (s *lockSampler) tell(service string) ([]LockWait, Health) {
	h := Health{Source: "row locks of " + service, OK: true}
	if s.err != nil {
		h.Text = "not judged: " + s.err.Error()
		return nil, h
	}
	var out []LockWait
	for name, t := range s.tables {
		schema, table, err := splitLockTable(name)
		if err != nil {
			h.Text = "not judged: " + err.Error()
			return nil, h
		}
		_, most := mostFrequent(t.rows)
		statement, _ := mostFrequent(t.statements)
		out = append(out, LockWait{Service: service, Schema: schema, Table: table, Waiting: float64(t.waits) / float64(s.samples),
			Samples: s.samples, Seen: t.seen, Rows: len(t.rows), Hottest: float64(most) / float64(t.waits), Statement: statement})
	}
	slices.SortFunc(out, func(a, b LockWait) int {
		if a.Waiting != b.Waiting {
			return int(sign(b.Waiting - a.Waiting))
		}
		return strings.Compare(a.Schema+"."+a.Table, b.Schema+"."+b.Table)
	})
	h.Text = fmt.Sprintf("%d samples, waits for rows of %d tables", s.samples, len(out))
	return out, h
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

// mostFrequent name, the first by alphabet among equals.
func mostFrequent(counts map[string]int) (name string, n int) {
	for _, k := range sortedKeys(counts) {
		if counts[k] > n {
			name, n = k, counts[k]
		}
	}
	return name, n
}

// splitLockTable takes `schema`.`table` apart, as InnoDB prints it; a partition
// follows in a comment.
func splitLockTable(s string) (schema, table string, err error) {
	s, _, _ = strings.Cut(s, " /*")
	before, after, ok := strings.Cut(strings.TrimSpace(s), "`.`")
	if !ok || !strings.HasPrefix(before, "`") || !strings.HasSuffix(after, "`") {
		return "", "", errors.New("a lock on a table of no known form: " + s)
	}
	unquote := func(s string) string { return strings.ReplaceAll(s, "``", "`") }
	return unquote(before[1:]), unquote(after[:len(after)-1]), nil
}
