package main

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"net/http"
)

func (s *server) adminLogin(r *http.Request, now int64) (object, error) {
	var in struct {
		User     int64  `json:"user_id"`
		Password string `json:"password"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	ctx := r.Context()
	var hash, salt string
	err := s.db.QueryRowContext(ctx, "SELECT password_hash, salt FROM admin_users WHERE id = ?", in.User).Scan(&hash, &salt)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	if sum := sha256.Sum256([]byte(in.Password + ":" + salt)); err != nil || hex.EncodeToString(sum[:]) != hash {
		return nil, refuse(http.StatusUnauthorized, "wrong user or password")
	}
	id, err := s.newID(ctx)
	if err != nil {
		return nil, err
	}
	session := randomWord()
	_, err = s.db.ExecContext(ctx, "INSERT INTO admin_sessions (id, user_id, session, expired_at) VALUES (?, ?, ?, ?)", id, in.User, session, now+86400)
	return object{"session": session}, err
}

// admin lets whoever has an admin's session pass.
func (s *server) admin(h handler) handler {
	return func(r *http.Request, now int64) (object, error) {
		var id int64
		err := s.db.QueryRowContext(r.Context(), "SELECT id FROM admin_sessions WHERE session = ? AND expired_at >= ?",
			r.Header.Get("X-Admin-Session"), now).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return nil, refuse(http.StatusUnauthorized, "no session")
		}
		if err != nil {
			return nil, err
		}
		return h(r, now)
	}
}

// masterPresent is a present for all, masterLottery a lottery, as loaded.
type (
	masterPresent struct {
		ID       int64  `json:"id"`
		StartAt  int64  `json:"start_at"`
		EndAt    int64  `json:"end_at"`
		ItemType int    `json:"item_type"`
		ItemID   int64  `json:"item_id"`
		Amount   int64  `json:"amount"`
		Message  string `json:"message"`
	}
	masterLottery struct {
		ID      int64  `json:"id"`
		Name    string `json:"name"`
		Price   int64  `json:"price"`
		StartAt int64  `json:"start_at"`
		EndAt   int64  `json:"end_at"`
	}
)

func (s *server) master(r *http.Request, _ int64) (object, error) {
	ctx := r.Context()
	version, err := s.masterVersion(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := s.db.QueryContext(ctx, "SELECT id, start_at, end_at, item_type, item_id, amount, message FROM present_all_masters ORDER BY id")
	presents, err := readAll(rows, err, func(p *masterPresent) []any {
		return []any{&p.ID, &p.StartAt, &p.EndAt, &p.ItemType, &p.ItemID, &p.Amount, &p.Message}
	})
	if err != nil {
		return nil, err
	}
	rows, err = s.db.QueryContext(ctx, "SELECT id, name, price, start_at, end_at FROM lottery_masters ORDER BY id")
	lotteries, err := readAll(rows, err, func(l *masterLottery) []any { return []any{&l.ID, &l.Name, &l.Price, &l.StartAt, &l.EndAt} })
	return object{"version": version, "present_alls": presents, "lotteries": lotteries}, err
}

// loadMaster replaces the rows it is given and puts their version in force.
func (s *server) loadMaster(r *http.Request, _ int64) (object, error) {
	var in struct {
		Version     string          `json:"version"`
		PresentAlls []masterPresent `json:"present_alls"`
		Lotteries   []masterLottery `json:"lotteries"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	if in.Version == "" {
		return nil, refuse(http.StatusBadRequest, "a version is needed")
	}
	ctx := r.Context()
	err := s.inTx(ctx, func(tx *sql.Tx) error { return loadMasterRows(ctx, tx, in.Version, in.PresentAlls, in.Lotteries) })
	return object{"version": in.Version}, err
}

func loadMasterRows(ctx context.Context, tx *sql.Tx, version string, presents []masterPresent, lotteries []masterLottery) error {
	for _, p := range presents {
		if _, err := tx.ExecContext(ctx, "REPLACE INTO present_all_masters (id, start_at, end_at, item_type, item_id, amount, message) VALUES (?, ?, ?, ?, ?, ?, ?)",
			p.ID, p.StartAt, p.EndAt, p.ItemType, p.ItemID, p.Amount, p.Message); err != nil {
			return err
		}
	}
	for _, l := range lotteries {
		if _, err := tx.ExecContext(ctx, "REPLACE INTO lottery_masters (id, name, price, start_at, end_at) VALUES (?, ?, ?, ?, ?)",
			l.ID, l.Name, l.Price, l.StartAt, l.EndAt); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, "UPDATE version_masters SET master_version = ? WHERE status = 1", version)
	return err
}

func (s *server) ban(r *http.Request, now int64) (object, error) {
	user, err := number(r, "user")
	if err != nil {
		return nil, err
	}
	id, err := s.newID(r.Context())
	if err != nil {
		return nil, err
	}
	_, err = s.db.ExecContext(r.Context(), "INSERT INTO user_bans (id, user_id, created_at) VALUES (?, ?, ?)", id, user, now)
	return object{"banned": user}, err
}

// books tells what the books say (../sql/books.sql): what is wrong, and the coins
// of whoever has done anything.
func (s *server) books(r *http.Request, _ int64) (object, error) {
	out := object{}
	for name, query := range map[string]string{
		"wrong":  "SELECT text FROM books.wrong ORDER BY text LIMIT 20",
		"purses": "SELECT text FROM books.purses",
	} {
		rows, err := s.db.QueryContext(r.Context(), query)
		texts, err := readAll(rows, err, func(t *string) []any { return []any{t} })
		if err != nil {
			return nil, err
		}
		out[name] = texts
	}
	return out, nil
}
