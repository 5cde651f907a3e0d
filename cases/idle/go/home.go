package main

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
)

// longest is how long gear works unattended, in seconds.
const longest = 8 * 3600

// deck is the gear that works.
type deck struct {
	ID    int64 `json:"id"`
	Card1 int64 `json:"card_1"`
	Card2 int64 `json:"card_2"`
	Card3 int64 `json:"card_3"`
}

// deckOf returns the user's deck and the coins that it makes in a second.
func (s *server) deckOf(ctx context.Context, db runner, userID int64) (d deck, power int64, err error) {
	err = db.QueryRowContext(ctx, "SELECT id, card_1, card_2, card_3 FROM user_decks WHERE user_id = ? AND deleted_at IS NULL", userID).
		Scan(&d.ID, &d.Card1, &d.Card2, &d.Card3)
	if errors.Is(err, sql.ErrNoRows) {
		return d, 0, nil
	}
	if err != nil {
		return d, 0, err
	}
	for _, id := range []int64{d.Card1, d.Card2, d.Card3} {
		var amount int64
		if err := db.QueryRowContext(ctx, "SELECT amount_per_sec FROM user_cards WHERE id = ?", id).Scan(&amount); err != nil {
			return d, 0, err
		}
		power += amount
	}
	return d, power, nil
}

func (s *server) addDeck(ctx context.Context, tx *sql.Tx, userID int64, cards [3]int64, now int64) error {
	if _, err := tx.ExecContext(ctx, "UPDATE user_decks SET deleted_at = ? WHERE user_id = ? AND deleted_at IS NULL", now, userID); err != nil {
		return err
	}
	id, err := s.newID(ctx)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO user_decks (id, user_id, card_1, card_2, card_3, created_at) VALUES (?, ?, ?, ?, ?, ?)",
		id, userID, cards[0], cards[1], cards[2], now)
	return err
}

func (s *server) home(r *http.Request, userID, now int64) (object, error) {
	u, err := getUser(r.Context(), s.db, userID)
	if err != nil {
		return nil, err
	}
	d, power, err := s.deckOf(r.Context(), s.db, userID)
	if err != nil {
		return nil, err
	}
	return object{"user": u, "deck": d, "power": power, "past": now - u.LastRewardAt}, nil
}

// gather gives the coins that the gear has made.
func (s *server) gather(r *http.Request, userID, now int64) (object, error) {
	ctx := r.Context()
	var gained int64
	var u user
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		var last int64
		if err := tx.QueryRowContext(ctx, "SELECT last_reward_at FROM users WHERE id = ? FOR UPDATE", userID).Scan(&last); err != nil {
			return err
		}
		_, power, err := s.deckOf(ctx, tx, userID)
		if err != nil {
			return err
		}
		gained = power * min(now-last, longest)
		if err := s.addCoins(ctx, tx, userID, gained, "gather", now); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE users SET last_reward_at = ?, updated_at = ? WHERE id = ?", now, now, userID); err != nil {
			return err
		}
		u, err = getUser(ctx, tx, userID)
		return err
	})
	return object{"gained": gained, "user": u}, err
}

// setDeck puts three of the user's pieces of gear to work.
func (s *server) setDeck(r *http.Request, userID, now int64) (object, error) {
	var in struct {
		Cards []int64 `json:"cards"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	if len(in.Cards) != 3 || in.Cards[0] == in.Cards[1] || in.Cards[1] == in.Cards[2] || in.Cards[0] == in.Cards[2] {
		return nil, refuse(http.StatusBadRequest, "three cards are needed")
	}
	ctx := r.Context()
	for _, id := range in.Cards {
		var owner int64
		err := s.db.QueryRowContext(ctx, "SELECT user_id FROM user_cards WHERE id = ?", id).Scan(&owner)
		if errors.Is(err, sql.ErrNoRows) || err == nil && owner != userID {
			return nil, refuse(http.StatusBadRequest, "not your card")
		}
		if err != nil {
			return nil, err
		}
	}
	var d deck
	var power int64
	err := s.inTx(ctx, func(tx *sql.Tx) (err error) {
		if err := s.addDeck(ctx, tx, userID, [3]int64(in.Cards), now); err != nil {
			return err
		}
		d, power, err = s.deckOf(ctx, tx, userID)
		return err
	})
	return object{"deck": d, "power": power}, err
}
