package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"kasoku/bench/accelerator/history"
)

// querier is a transaction or a connection.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

// actor does the operations of one transaction and notes them.
type actor struct {
	*worker
	q   querier
	ctx context.Context
	txn *history.Txn
}

// Lists of one board; the notes of a list have its number and more.
const (
	perBoard = 8
	boards   = 1000
	Notes    = 1_000_000
	full     = 24 // elements of a list after which its board is not used any more
)

// Statements. The first three are those of the rules.
const (
	ofBoard = "SELECT list_id FROM members WHERE board = ? ORDER BY id"
	ofList  = "SELECT val, note_id FROM lists WHERE id = ?"
	ofNote  = "SELECT val FROM notes WHERE id = ?"
	ofRange = "SELECT id, val FROM lists WHERE id BETWEEN ? AND ? ORDER BY id"
)

// list is a random one in use, sometimes of the board before.
func (w *worker) list() int {
	board := w.board
	if board > 0 && w.random.IntN(8) == 0 {
		board--
	}
	return board*perBoard + w.random.IntN(perBoard) + 1
}

// several does some operations. An error ends them.
func (a *actor) several() error {
	for range 1 + a.random.IntN(4) {
		if err := a.goOn(a.one()); err != nil {
			return err
		}
	}
	if a.random.IntN(6) == 0 {
		return a.crossed()
	}
	return nil
}

// crossed appends to two notes that others append to as well, in any order: some of these
// transactions wait for each other, and the server ends one.
func (a *actor) crossed() error {
	keys := [2]int{Notes + a.board*perBoard + 1, Notes + a.board*perBoard + 2}
	first := a.random.IntN(2)
	if err := a.appendTo(keys[first], 10); err != nil {
		return err
	}
	time.Sleep(time.Duration(a.random.IntN(5)) * time.Millisecond)
	return a.appendTo(keys[1-first], 10)
}

// one does a random operation.
func (a *actor) one() error {
	switch n := a.random.IntN(100); {
	case n < 40:
		return a.loop()
	case n < 50:
		return a.list(a.worker.list(), false)
	case n < 56:
		return a.span()
	case n < 62:
		return a.other()
	case n < 90:
		return a.append()
	case n < 95:
		return a.undone()
	}
	_, err := a.q.ExecContext(a.ctx, "INSERT INTO members VALUES (1, 0, 0)") // is there already
	return err
}

// goOn takes errors after which the server keeps the transaction and a program may go on:
// a duplicate key, a lock that was waited for in vain, a statement that was killed.
func (a *actor) goOn(err error) error {
	var server *mysql.MySQLError
	if errors.As(err, &server) && (server.Number == 1062 || (server.Number == 1205 || server.Number == 1317) && a.random.IntN(2) == 0) {
		return nil
	}
	return err
}

// members are the lists of a board.
func (w *worker) members(ctx context.Context, q querier) (keys []int, _ error) {
	rows, err := q.QueryContext(ctx, ofBoard, w.board)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	early := w.random.IntN(10) == 0
	for rows.Next() && (!early || len(keys) < 5) {
		var key int
		if err := rows.Scan(&key); err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, rows.Err()
}

// loop reads the lists of a board one by one, and does something else now and then.
func (a *actor) loop() error {
	keys, err := a.members(a.ctx, a.q)
	if err != nil {
		return err
	}
	if a.random.IntN(3) == 0 {
		a.random.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	}
	keys = keys[:a.random.IntN(len(keys)+1)]
	prepared := a.random.IntN(3) == 0
	for _, key := range keys {
		if err := a.goOn(a.list(key, prepared)); err != nil {
			return err
		}
		var err error
		switch a.random.IntN(12) {
		case 0:
			err = a.append()
		case 1:
			err = a.other()
		case 2:
			err = a.undone()
		}
		if err := a.goOn(err); err != nil {
			return err
		}
	}
	return nil
}

// list reads a list, and sometimes its notes.
func (a *actor) list(key int, prepared bool) error {
	note, err := a.read(history.Read, key, prepared, ofList, key)
	if err != nil || !note.Valid || a.random.IntN(2) == 0 {
		return err
	}
	_, err = a.read(history.Read, int(note.Int64), prepared, ofNote, note.Int64)
	return err
}

// read reads one list by a statement whose first column it is, the second, if there is one,
// a number.
func (a *actor) read(kind history.Kind, key int, prepared bool, query string, args ...any) (number sql.NullInt64, err error) {
	op := history.Op{Kind: kind, Key: key, At: now()}
	var rows *sql.Rows
	if prepared {
		s, err := a.q.PrepareContext(a.ctx, query)
		if err != nil {
			return number, err
		}
		defer s.Close()
		rows, err = s.QueryContext(a.ctx, args...)
		if err != nil {
			return number, err
		}
	} else if rows, err = a.q.QueryContext(a.ctx, query, args...); err != nil {
		return number, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return number, err
	}
	var text string
	into := []any{&text, &number}[:len(names)]
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return number, err
		}
	}
	if err := rows.Err(); err != nil {
		return number, err
	}
	op.List, err = Elements(text)
	a.txn.Ops = append(a.txn.Ops, op)
	if len(op.List) > full && key < Notes {
		a.board = max(a.board, min((key-1)/perBoard+1, boards-1))
	}
	return number, err
}

// Elements are those of a list as the table has it.
func Elements(text string) (out []int, _ error) {
	if text == "" {
		return nil, nil
	}
	for _, w := range strings.Split(text, ",") {
		n, err := strconv.Atoi(w)
		if err != nil {
			return nil, fmt.Errorf("a list with %q: %w", w, err)
		}
		out = append(out, n)
	}
	return out, nil
}

// span reads the lists of a board at once.
func (a *actor) span() error {
	first := a.board*perBoard + 1
	at := now()
	rows, err := a.q.QueryContext(a.ctx, ofRange, first, first+perBoard-1)
	if err != nil {
		return err
	}
	defer rows.Close()
	lists := map[int][]int{}
	for rows.Next() {
		var key int
		var text string
		if err := rows.Scan(&key, &text); err != nil {
			return err
		}
		if lists[key], err = Elements(text); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for key := first; key < first+perBoard; key++ {
		a.txn.Ops = append(a.txn.Ops, history.Op{Kind: history.Read, Key: key, List: lists[key], At: at})
	}
	return nil
}

// other reads by statements that no rule has.
func (a *actor) other() error {
	key := a.worker.list()
	switch a.random.IntN(4) {
	case 0:
		_, err := a.read(history.Lock, key, false, ofList+" FOR UPDATE", key)
		return err
	case 1:
		_, err := a.read(history.Lock, Notes+key, true, ofNote+" LOCK IN SHARE MODE", Notes+key)
		return err
	case 2:
		_, err := a.read(history.Read, Notes+key, false, "SELECT val FROM notes AS n WHERE n.id = ?", Notes+key)
		return err
	}
	_, err := a.read(history.Read, key, false, "SELECT val, note_id FROM lists AS l WHERE l.id = ?", key)
	return err
}

// append appends to a list or a note: by itself, by a trigger, a function, a procedure.
func (a *actor) append() error {
	key, n := a.worker.list(), a.random.IntN(20)
	if n >= 9 {
		key += Notes
	}
	return a.appendTo(key, n)
}

// appendTo appends to a list, or to a note if way is 9 or more: which statement does it.
func (a *actor) appendTo(key, way int) error {
	a.next++
	op := history.Op{Kind: history.Append, Key: key, Value: a.Process*perProcess + a.next, At: now()}
	if err := a.write(Line{Intent: &op, Begun: a.txn.Begin}); err != nil {
		return err
	}
	var err error
	text := strconv.Itoa(op.Value)
	switch {
	case way < 9:
		_, err = a.q.ExecContext(a.ctx, "INSERT INTO lists VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE val = CONCAT(val, ',', VALUES(val))", op.Key, text, Notes+op.Key)
	case way < 13:
		_, err = a.q.ExecContext(a.ctx, "INSERT INTO notes VALUES (?, ?) ON DUPLICATE KEY UPDATE val = CONCAT(val, ',', VALUES(val))", op.Key, text)
	case way < 16:
		_, err = a.q.ExecContext(a.ctx, "INSERT INTO events (note_id, val) VALUES (?, ?)", op.Key, text)
	case way < 19:
		var rows *sql.Rows
		if rows, err = a.q.QueryContext(a.ctx, "SELECT append_note(?, ?)", op.Key, text); err == nil {
			for rows.Next() {
			}
			err = errors.Join(rows.Err(), rows.Close())
		}
	default:
		_, err = a.q.ExecContext(a.ctx, "CALL put_note(?, ?)", op.Key, text)
	}
	// Outside of a transaction nobody knows what became of a statement with an error.
	var server *mysql.MySQLError
	_, within := a.q.(*sql.Tx)
	op.Failed = within && errors.As(err, &server)
	a.txn.Ops = append(a.txn.Ops, op)
	return err
}

// undone appends and reads behind a savepoint, and goes back to it.
func (a *actor) undone() error {
	if _, ok := a.q.(*sql.Tx); !ok {
		return nil
	}
	if _, err := a.q.ExecContext(a.ctx, "SAVEPOINT a"); err != nil {
		return err
	}
	a.txn.Ops = append(a.txn.Ops, history.Op{Kind: history.Save})
	if err := a.append(); err != nil {
		return err
	}
	last := a.txn.Ops[len(a.txn.Ops)-1].Key
	if err := a.again(last); err != nil {
		return err
	}
	if _, err := a.q.ExecContext(a.ctx, "ROLLBACK TO SAVEPOINT a"); err != nil {
		return err
	}
	a.txn.Ops = append(a.txn.Ops, history.Op{Kind: history.Undo})
	return a.again(last)
}

// again reads a board's lists and then what was appended to.
func (a *actor) again(key int) error {
	if _, err := a.members(a.ctx, a.q); err != nil {
		return err
	}
	list := key
	if key > Notes {
		list -= Notes
	}
	if _, err := a.read(history.Read, list, false, ofList, list); err != nil || key < Notes {
		return err
	}
	_, err := a.read(history.Read, key, false, ofNote, key)
	return err
}
