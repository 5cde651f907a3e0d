package main

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
)

// item is a row of user_items.
type item struct {
	ID       int64 `json:"id"`
	ItemType int   `json:"item_type"`
	ItemID   int64 `json:"item_id"`
	Amount   int64 `json:"amount"`
}

// items lists what a user has, with a token for gear.
func (s *server) items(r *http.Request, userID, now int64) (object, error) {
	ctx := r.Context()
	u, err := getUser(ctx, s.db, userID)
	if err != nil {
		return nil, err
	}
	rows, err := s.db.QueryContext(ctx, "SELECT id, item_type, item_id, amount FROM user_items WHERE user_id = ? ORDER BY id", userID)
	items, err := readAll(rows, err, func(i *item) []any { return []any{&i.ID, &i.ItemType, &i.ItemID, &i.Amount} })
	if err != nil {
		return nil, err
	}
	rows, err = s.db.QueryContext(ctx, "SELECT id, item_id, amount_per_sec, level, total_exp FROM user_cards WHERE user_id = ? ORDER BY id", userID)
	cards, err := readAll(rows, err, func(c *card) []any { return []any{&c.ID, &c.ItemID, &c.AmountPerSec, &c.Level, &c.TotalExp} })
	if err != nil {
		return nil, err
	}
	token, err := s.newToken(ctx, userID, forGear, now)
	return object{"user": u, "items": items, "cards": cards, "one_time_token": token}, err
}

// buyGear sells a piece of gear.
func (s *server) buyGear(r *http.Request, userID, now int64) (object, error) {
	var in struct {
		Item int64 `json:"item_id"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	ctx := r.Context()
	m, err := getItemMaster(ctx, s.db, in.Item, gear)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, refuse(http.StatusNotFound, "no such gear")
	}
	if err != nil {
		return nil, err
	}
	var c card
	var u user
	err = s.inTx(ctx, func(tx *sql.Tx) (err error) {
		if err := s.addCoins(ctx, tx, userID, -m.Price, "gear", now); err != nil {
			return err
		}
		if c, err = s.addCard(ctx, tx, userID, in.Item, now); err != nil {
			return err
		}
		u, err = getUser(ctx, tx, userID)
		return err
	})
	return object{"card": c, "user": u}, err
}

// use is how much of an item to use up.
type use struct {
	ID     int64 `json:"id"`
	Amount int64 `json:"amount"`
}

// addExp turns material into experience of a piece of gear.
func (s *server) addExp(r *http.Request, userID, now int64) (object, error) {
	var in struct {
		Token string `json:"one_time_token"`
		Items []use  `json:"items"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	id, err := number(r, "card")
	if err != nil {
		return nil, err
	}
	ctx := r.Context()
	if err := s.useToken(ctx, userID, forGear, in.Token, now); err != nil {
		return nil, err
	}
	var c card
	left := []item{}
	err = s.inTx(ctx, func(tx *sql.Tx) (err error) {
		if err := tx.QueryRowContext(ctx, "SELECT id, item_id, amount_per_sec, level, total_exp FROM user_cards WHERE id = ? AND user_id = ? FOR UPDATE",
			id, userID).Scan(&c.ID, &c.ItemID, &c.AmountPerSec, &c.Level, &c.TotalExp); errors.Is(err, sql.ErrNoRows) {
			return refuse(http.StatusNotFound, "not your card")
		} else if err != nil {
			return err
		}
		m, err := getItemMaster(ctx, tx, c.ItemID, gear)
		if err != nil {
			return err
		}
		left = left[:0]
		for _, u := range in.Items {
			i, exp, err := s.useItem(ctx, tx, userID, u, now)
			if err != nil {
				return err
			}
			left = append(left, i)
			c.TotalExp += exp
		}
		c.Level, c.AmountPerSec = levelOf(m, c.TotalExp)
		_, err = tx.ExecContext(ctx, "UPDATE user_cards SET amount_per_sec = ?, level = ?, total_exp = ?, updated_at = ? WHERE id = ?",
			c.AmountPerSec, c.Level, c.TotalExp, now, id)
		return err
	})
	return object{"card": c, "items": left}, err
}

// levelOf: a level for each base_exp, and as much of the way to the most coins.
func levelOf(m itemMaster, exp int64) (level, amount int) {
	level = min(1+int(exp/m.BaseExp), m.MaxLevel)
	return level, m.AmountPerSec + (m.MaxAmountPerSec-m.AmountPerSec)*(level-1)/(m.MaxLevel-1)
}

// useItem uses material up and returns what is left, and the experience.
func (s *server) useItem(ctx context.Context, tx *sql.Tx, userID int64, u use, now int64) (i item, exp int64, err error) {
	err = tx.QueryRowContext(ctx, `SELECT i.id, i.item_type, i.item_id, i.amount, m.gained_exp FROM user_items i
		JOIN item_masters m ON m.id = i.item_id WHERE i.id = ? AND i.user_id = ? AND i.item_type = 3 FOR UPDATE`, u.ID, userID).
		Scan(&i.ID, &i.ItemType, &i.ItemID, &i.Amount, &exp)
	if errors.Is(err, sql.ErrNoRows) || err == nil && (u.Amount < 1 || i.Amount < u.Amount) {
		return i, 0, refuse(http.StatusConflict, "not enough material")
	}
	if err != nil {
		return i, 0, err
	}
	i.Amount -= u.Amount
	_, err = tx.ExecContext(ctx, "UPDATE user_items SET amount = ?, updated_at = ? WHERE id = ?", i.Amount, now, i.ID)
	return i, exp * u.Amount, err
}
