package main

import (
	"database/sql"
	"errors"
	"net/http"
	"strings"
)

// friends are a player's, with what they play at present.
func (s *server) friends(c *call) (object, error) {
	rows, err := s.db.QueryContext(c.Context(), "SELECT friend_id FROM friends WHERE user_id = ? ORDER BY friend_id LIMIT 30", c.user)
	ids, err := readAll(rows, err, func(id *int64) []any { return []any{id} })
	if err != nil {
		return nil, err
	}
	list := []object{}
	for _, id := range ids {
		u, err := s.user(c.Context(), id)
		if err != nil {
			return nil, err
		}
		deck, power, err := s.deck(c.Context(), id)
		if err != nil {
			return nil, err
		}
		list = append(list, object{"id": u.ID, "name": u.Name, "level": u.Level, "power": power, "leader": deck[0]})
	}
	return object{"friends": list}, nil
}

func (s *server) befriend(c *call) (object, error) {
	var in struct {
		User int64 `json:"user_id"`
	}
	if err := c.read(&in); err != nil {
		return nil, err
	}
	if _, err := s.user(c.Context(), in.User); errors.Is(err, sql.ErrNoRows) || in.User == c.user {
		return nil, refuse(http.StatusNotFound, "no such player")
	} else if err != nil {
		return nil, err
	}
	_, err := s.db.ExecContext(c.Context(), "INSERT IGNORE INTO friends (user_id, friend_id, created_at) VALUES (?, ?, ?)", c.user, in.User, c.now)
	return object{}, err
}

func (s *server) shop(c *call) (object, error) {
	return object{"products": s.master.shop(false)}, nil
}

// buy takes coins and gives items.
func (s *server) buy(c *call) (object, error) {
	var in struct {
		Product int64 `json:"product_id"`
		Count   int64
	}
	if err := c.read(&in); err != nil {
		return nil, err
	}
	p := s.master.product(in.Product)
	if p == nil || in.Count < 1 || in.Count > 99 {
		return nil, refuse(http.StatusNotFound, "no such product")
	}
	amount := int64(0)
	err := s.inTx(c.Context(), func(tx *sql.Tx) error {
		if err := s.pay(c.Context(), tx, c.user, -p.Price*in.Count, 0, "shop", c.now); err != nil {
			return err
		}
		if err := s.note(c.Context(), tx, c.user, "items", p.Amount*in.Count, "shop", c.now); err != nil {
			return err
		}
		if _, err := tx.ExecContext(c.Context(), "INSERT INTO user_items (user_id, item_id, amount) VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE amount = amount + VALUES(amount)",
			c.user, p.Item, p.Amount*in.Count); err != nil {
			return err
		}
		return tx.QueryRowContext(c.Context(), "SELECT amount FROM user_items WHERE user_id = ? AND item_id = ?", c.user, p.Item).Scan(&amount)
	})
	return object{"item": s.master.item(p.Item).Name, "amount": amount}, err
}

// present is what waits to be received: coins or stones.
type present struct {
	ID      int64  `json:"id"`
	Thing   string `json:"thing"`
	Amount  int64  `json:"amount"`
	Message string `json:"message"`
}

// presentsPage is how many presents are shown, and received at once.
const presentsPage = 20

func (s *server) presents(c *call) (object, error) {
	rows, err := s.db.QueryContext(c.Context(), "SELECT id, thing, amount, message FROM presents WHERE user_id = ? AND received_at IS NULL ORDER BY id DESC LIMIT ?", c.user, presentsPage)
	list, err := readAll(rows, err, (*present).fields)
	if err != nil {
		return nil, err
	}
	ids := []int64{}
	for _, p := range list {
		ids = append(ids, p.ID)
	}
	return object{"present_list": list, "present_ids": ids}, nil
}

func (p *present) fields() []any { return []any{&p.ID, &p.Thing, &p.Amount, &p.Message} }

func (s *server) receive(c *call) (object, error) {
	var in struct {
		IDs []int64 `json:"present_ids"`
	}
	if err := c.read(&in); err != nil {
		return nil, err
	}
	if len(in.IDs) < 1 || len(in.IDs) > presentsPage {
		return nil, refuse(http.StatusBadRequest, "receive from 1 to 20 presents")
	}
	args := []any{c.user}
	for _, id := range in.IDs {
		args = append(args, id)
	}
	which := " WHERE user_id = ? AND received_at IS NULL AND id IN (?" + strings.Repeat(", ?", len(in.IDs)-1) + ")"
	err := s.inTx(c.Context(), func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(c.Context(), "SELECT id, thing, amount, message FROM presents"+which+" FOR UPDATE", args...)
		list, err := readAll(rows, err, (*present).fields)
		if err != nil {
			return err
		}
		if len(list) != len(in.IDs) {
			return refuse(http.StatusConflict, "received before")
		}
		if _, err := tx.ExecContext(c.Context(), "UPDATE presents SET received_at = ?"+which, append([]any{c.now}, args...)...); err != nil {
			return err
		}
		got := map[string]int64{}
		for _, p := range list {
			got[p.Thing] += p.Amount
		}
		return s.pay(c.Context(), tx, c.user, got["coins"], got["stones"], "present", c.now)
	})
	return object{"received": in.IDs}, err
}
