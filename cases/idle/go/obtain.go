package main

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
)

// Kinds of items.
const (
	coins    = 1
	gear     = 2
	material = 3
	ticket   = 4
)

// obtain gives a user one item.
func (s *server) obtain(ctx context.Context, tx *sql.Tx, userID int64, kind int, item, amount int64, reason string, now int64) error {
	switch kind {
	case coins:
		return s.addCoins(ctx, tx, userID, amount, reason, now)
	case gear:
		_, err := s.addCard(ctx, tx, userID, item, now)
		return err
	case material, ticket:
		return s.addItem(ctx, tx, userID, kind, item, amount, now)
	}
	return refuse(http.StatusBadRequest, "unknown kind of item")
}

// addCoins adds coins, or takes them, and notes it.
func (s *server) addCoins(ctx context.Context, tx *sql.Tx, userID, amount int64, reason string, now int64) error {
	var had int64
	if err := tx.QueryRowContext(ctx, "SELECT coins FROM users WHERE id = ? FOR UPDATE", userID).Scan(&had); err != nil {
		return err
	}
	if had+amount < 0 {
		return refuse(http.StatusConflict, "not enough coins")
	}
	if _, err := tx.ExecContext(ctx, "UPDATE users SET coins = ?, updated_at = ? WHERE id = ?", had+amount, now, userID); err != nil {
		return err
	}
	id, err := s.newID(ctx)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO user_coin_logs (id, user_id, amount, reason, created_at) VALUES (?, ?, ?, ?, ?)", id, userID, amount, reason, now)
	return err
}

func (s *server) addCard(ctx context.Context, tx *sql.Tx, userID, item, now int64) (card, error) {
	m, err := getItemMaster(ctx, tx, item, gear)
	if errors.Is(err, sql.ErrNoRows) {
		return card{}, refuse(http.StatusNotFound, "no such gear")
	}
	if err != nil {
		return card{}, err
	}
	id, err := s.newID(ctx)
	if err != nil {
		return card{}, err
	}
	c := card{ID: id, ItemID: item, AmountPerSec: m.AmountPerSec, Level: 1}
	_, err = tx.ExecContext(ctx, `INSERT INTO user_cards (id, user_id, item_id, amount_per_sec, level, total_exp, created_at, updated_at)
		VALUES (?, ?, ?, ?, 1, 0, ?, ?)`, id, userID, item, m.AmountPerSec, now, now)
	return c, err
}

func (s *server) addItem(ctx context.Context, tx *sql.Tx, userID int64, kind int, item, amount, now int64) error {
	if _, err := getItemMaster(ctx, tx, item, kind); errors.Is(err, sql.ErrNoRows) {
		return refuse(http.StatusNotFound, "no such item")
	} else if err != nil {
		return err
	}
	var id, had int64
	err := tx.QueryRowContext(ctx, "SELECT id, amount FROM user_items WHERE user_id = ? AND item_id = ?", userID, item).Scan(&id, &had)
	if err == nil {
		_, err = tx.ExecContext(ctx, "UPDATE user_items SET amount = ?, updated_at = ? WHERE id = ?", had+amount, now, id)
		return err
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if id, err = s.newID(ctx); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO user_items (id, user_id, item_type, item_id, amount, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?)`, id, userID, kind, item, amount, now, now)
	return err
}

// addPresent sends a user a present.
func (s *server) addPresent(ctx context.Context, tx *sql.Tx, userID int64, p present) (int64, error) {
	id, err := s.newID(ctx)
	if err != nil {
		return 0, err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO user_presents (id, user_id, item_type, item_id, amount, message, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
		id, userID, p.ItemType, p.ItemID, p.Amount, p.Message, p.CreatedAt)
	return id, err
}
