package main

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"net/http"
)

// prize is a row of lottery_item_masters.
type prize struct {
	ID       int64 `json:"id"`
	ItemType int   `json:"item_type"`
	ItemID   int64 `json:"item_id"`
	Amount   int64 `json:"amount"`
	Weight   int   `json:"weight"`
}

// lottery is a row of lottery_masters with its prizes.
type lottery struct {
	ID     int64   `json:"id"`
	Name   string  `json:"name"`
	Price  int64   `json:"price"`
	Prizes []prize `json:"prizes"`
}

func (s *server) prizes(ctx context.Context, id int64) ([]prize, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT id, item_type, item_id, amount, weight FROM lottery_item_masters WHERE lottery_id = ? ORDER BY id", id)
	return readAll(rows, err, func(p *prize) []any { return []any{&p.ID, &p.ItemType, &p.ItemID, &p.Amount, &p.Weight} })
}

// lotteries lists the lotteries and their prizes, with a token for draws.
func (s *server) lotteries(r *http.Request, userID, now int64) (object, error) {
	ctx := r.Context()
	rows, err := s.db.QueryContext(ctx, "SELECT id, name, price FROM lottery_masters WHERE start_at <= ? AND end_at >= ? ORDER BY id", now, now)
	all, err := readAll(rows, err, func(l *lottery) []any { return []any{&l.ID, &l.Name, &l.Price} })
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Prizes, err = s.prizes(ctx, all[i].ID); err != nil {
			return nil, err
		}
	}
	token, err := s.newToken(ctx, userID, forDraws, now)
	return object{"lotteries": all, "one_time_token": token}, err
}

// draw sells n draws, whose prizes come as presents.
func (s *server) draw(r *http.Request, userID, now int64) (object, error) {
	id, err := number(r, "lottery")
	if err != nil {
		return nil, err
	}
	n, err := number(r, "n")
	if err != nil {
		return nil, err
	}
	var in struct {
		Token string `json:"one_time_token"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	if n != 1 && n != 10 {
		return nil, refuse(http.StatusBadRequest, "draw 1 or 10")
	}
	ctx := r.Context()
	if err := s.useToken(ctx, userID, forDraws, in.Token, now); err != nil {
		return nil, err
	}
	var l lottery
	err = s.db.QueryRowContext(ctx, "SELECT id, name, price FROM lottery_masters WHERE id = ? AND start_at <= ? AND end_at >= ?", id, now, now).
		Scan(&l.ID, &l.Name, &l.Price)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, refuse(http.StatusNotFound, "no such lottery")
	}
	if err != nil {
		return nil, err
	}
	if l.Prizes, err = s.prizes(ctx, id); err != nil {
		return nil, err
	}
	var total int
	if err := s.db.QueryRowContext(ctx, "SELECT SUM(weight) FROM lottery_item_masters WHERE lottery_id = ?", id).Scan(&total); err != nil {
		return nil, err
	}
	won, ids := []present{}, []int64{}
	var u user
	err = s.inTx(ctx, func(tx *sql.Tx) (err error) {
		if err := s.addCoins(ctx, tx, userID, -l.Price*n, "lottery", now); err != nil {
			return err
		}
		won, ids = won[:0], ids[:0]
		for range n {
			p := pick(l.Prizes, rand.IntN(total))
			w := present{ItemType: p.ItemType, ItemID: p.ItemID, Amount: p.Amount, Message: l.Name, CreatedAt: now}
			if w.ID, err = s.addPresent(ctx, tx, userID, w); err != nil {
				return err
			}
			won, ids = append(won, w), append(ids, w.ID)
		}
		u, err = getUser(ctx, tx, userID)
		return err
	})
	return object{"presents": won, "present_ids": ids, "user": u}, err
}

// pick returns the prize where the weights before it leave at of them.
func pick(prizes []prize, at int) prize {
	for _, p := range prizes {
		if at -= p.Weight; at < 0 {
			return p
		}
	}
	return prizes[len(prizes)-1]
}
