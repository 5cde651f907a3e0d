package main

import (
	"context"
	"database/sql"
	"net/http"
	"strings"
)

// userCard is a card that a user has.
type userCard struct{ ID, Card, Level int64 }

func (s *server) userCard(ctx context.Context, user, id int64) (c userCard, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT id, card_id, level FROM user_cards WHERE id = ? AND user_id = ?", id, user).Scan(&c.ID, &c.Card, &c.Level)
	return c, err
}

// deck is the five cards that play, and their power.
func (s *server) deck(ctx context.Context, user int64) (views []cardView, power int64, err error) {
	var ids [5]int64
	if err := s.db.QueryRowContext(ctx, "SELECT card_1, card_2, card_3, card_4, card_5 FROM decks WHERE user_id = ?", user).
		Scan(&ids[0], &ids[1], &ids[2], &ids[3], &ids[4]); err != nil {
		return nil, 0, err
	}
	for _, id := range ids {
		c, err := s.userCard(ctx, user, id)
		if err != nil {
			return nil, 0, err
		}
		view := s.master.view(c)
		views, power = append(views, view), power+view.Power
	}
	return views, power, nil
}

// cardsPage is how many cards the list shows.
const cardsPage = 100

func (s *server) cards(c *call) (object, error) {
	rows, err := s.db.QueryContext(c.Context(), "SELECT id, card_id, level FROM user_cards WHERE user_id = ? ORDER BY id LIMIT ?", c.user, cardsPage)
	list, err := readAll(rows, err, func(u *userCard) []any { return []any{&u.ID, &u.Card, &u.Level} })
	if err != nil {
		return nil, err
	}
	var total int
	if err := s.db.QueryRowContext(c.Context(), "SELECT COUNT(*) FROM user_cards WHERE user_id = ?", c.user).Scan(&total); err != nil {
		return nil, err
	}
	views := []cardView{}
	for _, u := range list {
		views = append(views, s.master.view(u))
	}
	return object{"cards": views, "total": total}, nil
}

func (s *server) setDeck(c *call) (object, error) {
	var in struct{ Cards []int64 }
	if err := c.read(&in); err != nil {
		return nil, err
	}
	if len(in.Cards) != 5 {
		return nil, refuse(http.StatusBadRequest, "a deck has five cards")
	}
	seen := map[int64]bool{}
	for _, id := range in.Cards {
		if _, err := s.userCard(c.Context(), c.user, id); err == sql.ErrNoRows || seen[id] {
			return nil, refuse(http.StatusConflict, "no such card")
		} else if err != nil {
			return nil, err
		}
		seen[id] = true
	}
	_, err := s.db.ExecContext(c.Context(), "UPDATE decks SET card_1 = ?, card_2 = ?, card_3 = ?, card_4 = ?, card_5 = ? WHERE user_id = ?",
		in.Cards[0], in.Cards[1], in.Cards[2], in.Cards[3], in.Cards[4], c.user)
	return object{}, err
}

// gacha draws cards for stones.
func (s *server) gacha(c *call) (object, error) {
	var in struct {
		Gacha int64 `json:"gacha_id"`
		Count int
	}
	if err := c.read(&in); err != nil {
		return nil, err
	}
	g := s.master.gacha(in.Gacha)
	if g == nil || c.now < g.StartAt || c.now >= g.EndAt || in.Count < 1 || in.Count > 10 {
		return nil, refuse(http.StatusNotFound, "no such gacha")
	}
	drawn := s.master.drawCards(g.ID, in.Count)
	var ids []int64
	err := s.inTx(c.Context(), func(tx *sql.Tx) (err error) {
		if err := s.pay(c.Context(), tx, c.user, 0, -g.Price*int64(in.Count), "gacha", c.now); err != nil {
			return err
		}
		ids, err = s.giveCards(c.Context(), tx, c.user, drawn, "gacha", c.now)
		return err
	})
	if err != nil {
		return nil, err
	}
	views := []cardView{}
	for i, card := range drawn {
		views = append(views, s.master.view(userCard{ids[i], card, 1}))
	}
	return object{"cards": views}, nil
}

// giveCards gives a user cards and notes how many; ids are those of the rows.
func (s *server) giveCards(ctx context.Context, tx *sql.Tx, user int64, cards []int64, reason string, now int64) (ids []int64, err error) {
	var args []any
	for _, card := range cards {
		args = append(args, user, card, now)
	}
	done, err := tx.ExecContext(ctx, "INSERT INTO user_cards (user_id, card_id, level, created_at) VALUES (?, ?, 1, ?)"+
		strings.Repeat(", (?, ?, 1, ?)", len(cards)-1), args...)
	if err != nil {
		return nil, err
	}
	first, err := done.LastInsertId()
	if err != nil {
		return nil, err
	}
	for i := range cards { // rows of one statement have ids in a row
		ids = append(ids, first+int64(i))
	}
	return ids, s.note(ctx, tx, user, "cards", int64(len(cards)), reason, now)
}
