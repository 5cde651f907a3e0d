package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"kasoku/accelerator"
	"kasoku/bench/accelerator/history"
)

// worker is a process at work.
type worker struct {
	Config
	rules  *accelerator.Rules
	dbs    []*sql.DB
	file   *os.File
	random *rand.Rand
	board  int // the newest lists in use
	next   int // elements made so far
}

// perProcess is how many elements a process may append.
const perProcess = 10_000_000

// retry is how long a worker waits before it asks again a server that is away.
const retry = 20 * time.Millisecond

func (w *worker) open() (err error) {
	w.random = rand.New(rand.NewPCG(w.Seed, uint64(w.Process)))
	if w.file, err = os.OpenFile(w.Out, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return err
	}
	if w.Rules != "" {
		if w.rules, err = accelerator.Load(w.Rules); err != nil {
			return err
		}
	}
	_ = mysql.SetLogger(silent{})
	mysql.RegisterDialContext("cut", w.dial)
	// By statement and by session, prepared and not.
	session := strings.ToUpper(strings.ReplaceAll(w.Level.String(), " ", "-"))
	for _, options := range []string{"", "&interpolateParams=true", "&transaction_isolation=%27" + session + "%27", "&interpolateParams=true&transaction_isolation=%27" + session + "%27"} {
		cfg, err := mysql.ParseDSN("root@cut(" + w.Socket + ")/app?timeout=10s" + options)
		if err != nil {
			return err
		}
		c, err := mysql.NewConnector(cfg)
		if err != nil {
			return err
		}
		db := sql.OpenDB(accelerator.Connector(c, w.rules))
		db.SetMaxOpenConns(1)
		w.dbs = append(w.dbs, db)
	}
	return nil
}

func (w *worker) close() {
	for _, db := range w.dbs {
		_ = db.Close()
	}
	_ = w.file.Close()
}

type silent struct{}

func (silent) Print(...any) {}

// dial connects to the server; with Cut the connection breaks after a random number of bytes.
func (w *worker) dial(ctx context.Context, socket string) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", socket)
	if err != nil || !w.Cut || rand.IntN(2) == 0 {
		return c, err
	}
	return &breaking{c, 2000 + rand.IntN(60_000)}, nil
}

// breaking is a connection that breaks once so many bytes were read, maybe within a row.
type breaking struct {
	net.Conn
	left int
}

func (b *breaking) Read(p []byte) (int, error) {
	if b.left <= 0 {
		_ = b.Close()
		return 0, errors.New("the connection was cut")
	}
	n, err := b.Conn.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// write appends a line to the file of the history.
func (w *worker) write(l Line) error {
	data, err := json.Marshal(l)
	if err == nil {
		_, err = w.file.Write(append(data, '\n'))
	}
	return err
}

// step runs one transaction, or some statements outside of one. It says false if the
// server is away.
func (w *worker) step() (bool, error) {
	if w.random.IntN(40) == 0 { // new connections: those in use are maybe past rules for good
		for _, db := range w.dbs {
			db.SetMaxIdleConns(0)
			db.SetMaxIdleConns(1)
		}
	}
	at := 0 // one half of the handles has the level in its session
	if w.random.IntN(2) == 0 {
		at = 2
	}
	db := w.dbs[at+w.random.IntN(2)]
	if w.random.IntN(6) == 0 {
		// Outside of a transaction the session's level counts.
		return w.outside(w.dbs[2+w.random.IntN(2)])
	}
	ctx, cancel := context.WithCancel(context.Background())
	if w.Cut && w.random.IntN(30) == 0 {
		ctx, cancel = context.WithTimeout(context.Background(), time.Duration(1+w.random.IntN(20))*time.Millisecond)
	}
	defer cancel()
	opts := &sql.TxOptions{Isolation: w.Level}
	if at == 2 {
		opts.Isolation = sql.LevelDefault
	}
	return w.inside(ctx, db, opts)
}

// inside runs a transaction and writes it down.
func (w *worker) inside(ctx context.Context, db *sql.DB, opts *sql.TxOptions) (bool, error) {
	t := &history.Txn{Process: w.Process, Begin: now(), Outcome: history.Aborted}
	tx, err := db.BeginTx(ctx, opts)
	if err != nil {
		time.Sleep(retry)
		return false, nil
	}
	a := &actor{worker: w, q: tx, ctx: ctx, txn: t}
	err = a.several()
	var server *mysql.MySQLError
	var late []*history.Txn
	switch deadlock := errors.As(err, &server) && server.Number == 1213; {
	case deadlock && w.random.IntN(2) == 0:
		// A careless program goes on to read: the server has ended the transaction, and
		// each of these reads is one by itself.
		if late, err = w.careless(ctx, tx); err == nil {
			_ = tx.Rollback() // the server has none to roll back
		}
	case err != nil || w.random.IntN(7) == 0:
		_ = tx.Rollback() // where it fails the connection ends, and with it the transaction
	default:
		if err = tx.Commit(); err == nil {
			t.Outcome = history.Committed
		} else {
			t.Outcome = history.Unknown
		}
	}
	if t.Outcome == history.Committed {
		t.End = now()
	}
	for _, one := range append(late, t) {
		if err := w.write(Line{Txn: one}); err != nil {
			return false, err
		}
	}
	return true, nil
}

// careless reads in a transaction that the server has ended, each statement a while after
// the one before.
func (w *worker) careless(ctx context.Context, tx *sql.Tx) (out []*history.Txn, _ error) {
	keys, err := w.members(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		time.Sleep(time.Duration(w.random.IntN(5)) * time.Millisecond)
		one := &history.Txn{Process: w.Process, Begin: now()}
		a := &actor{worker: w, q: tx, ctx: ctx, txn: one}
		if err := a.list(key, false); err != nil {
			return out, err
		}
		out = append(out, alone(one)...)
	}
	return out, nil
}

// outside runs statements on a connection without a transaction: each is one by itself.
func (w *worker) outside(db *sql.DB) (bool, error) {
	ctx := context.Background()
	c, err := db.Conn(ctx)
	if err != nil {
		time.Sleep(retry)
		return false, nil
	}
	defer c.Close()
	keys, _ := w.members(ctx, c)
	for range 1 + w.random.IntN(6) {
		one := &history.Txn{Process: w.Process, Begin: now(), Outcome: history.Unknown}
		a := &actor{worker: w, q: c, ctx: ctx, txn: one}
		var err error
		if w.random.IntN(4) == 0 {
			err = a.append()
		} else {
			key := w.list()
			if len(keys) > 0 {
				key = keys[w.random.IntN(len(keys))]
			}
			err = a.list(key, false)
		}
		written := []*history.Txn{one}
		if err == nil {
			written = alone(one)
		}
		for _, one := range written {
			if err := w.write(Line{Txn: one}); err != nil {
				return false, err
			}
		}
		if err != nil {
			return true, nil
		}
	}
	return true, nil
}

// alone are the operations of t as transactions of their own.
func alone(t *history.Txn) (out []*history.Txn) {
	end := now()
	for _, op := range t.Ops {
		out = append(out, &history.Txn{Process: t.Process, Begin: op.At, End: end, Outcome: history.Committed, Ops: []history.Op{op}})
	}
	return out
}
