package main

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

func (s *server) startPlay(c *call) (object, error) {
	var in struct {
		Stage int64 `json:"stage_id"`
	}
	if err := c.read(&in); err != nil {
		return nil, err
	}
	stage := s.master.stage(in.Stage)
	if stage == nil {
		return nil, refuse(http.StatusNotFound, "no such stage")
	}
	id := randomWord()
	err := s.redis.Set(c.Context(), "play:"+id, fmt.Sprintf("%d %d", c.user, stage.ID), time.Hour).Err()
	return object{"play_id": id, "stage": stage.Name}, err
}

// move is what a player did at a time, in milliseconds since the start.
type move struct {
	At     int64   `json:"at"`
	Kind   string  `json:"kind"`
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Points int64   `json:"points"`
}

// finishPlay rewards a play once, if its record gives the score that it claims.
func (s *server) finishPlay(c *call) (object, error) {
	var in struct {
		Play  string `json:"play_id"`
		Score int64
		Moves []move
	}
	if err := c.read(&in); err != nil {
		return nil, err
	}
	sum := int64(0)
	for _, m := range in.Moves {
		sum += m.Points
	}
	if sum != in.Score {
		return nil, refuse(http.StatusBadRequest, "the score is not that of the moves")
	}
	text, err := s.redis.GetDel(c.Context(), "play:"+in.Play).Result()
	if errors.Is(err, redis.Nil) {
		return nil, refuse(http.StatusConflict, "no such play")
	}
	if err != nil {
		return nil, err
	}
	var user, id int64
	if _, err := fmt.Sscan(text, &user, &id); err != nil || user != c.user {
		return nil, refuse(http.StatusConflict, "no such play")
	}
	stage := s.master.stage(id)
	drop := s.master.drop(stage.ID)
	var ids []int64
	err = s.inTx(c.Context(), func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(c.Context(), "UPDATE users SET exp = exp + ? WHERE id = ?", stage.Exp, c.user); err != nil {
			return err
		}
		if err := s.note(c.Context(), tx, c.user, "exp", stage.Exp, "play", c.now); err != nil {
			return err
		}
		if err := s.pay(c.Context(), tx, c.user, stage.Coins, 0, "play", c.now); err != nil {
			return err
		}
		ids, err = s.giveCards(c.Context(), tx, c.user, []int64{drop}, "play", c.now)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := s.redis.ZIncrBy(c.Context(), "ranking", float64(in.Score), strconv.FormatInt(c.user, 10)).Err(); err != nil {
		return nil, err
	}
	return object{"drop": s.master.view(userCard{ids[0], drop, 1}), "coins": stage.Coins}, nil
}

// What a battle brings.
const (
	coinsWon  = 50
	coinsLost = 10
)

// battle is won by who has the stronger deck.
func (s *server) battle(c *call) (object, error) {
	var in struct {
		Opponent int64 `json:"opponent_id"`
	}
	if err := c.read(&in); err != nil {
		return nil, err
	}
	enemy, err := s.user(c.Context(), in.Opponent)
	if errors.Is(err, sql.ErrNoRows) || in.Opponent == c.user {
		return nil, refuse(http.StatusNotFound, "no such opponent")
	}
	if err != nil {
		return nil, err
	}
	_, power, err := s.deck(c.Context(), c.user)
	if err != nil {
		return nil, err
	}
	enemyDeck, enemyPower, err := s.deck(c.Context(), in.Opponent)
	if err != nil {
		return nil, err
	}
	coins := int64(coinsLost)
	if power >= enemyPower {
		coins = coinsWon
	}
	err = s.inTx(c.Context(), func(tx *sql.Tx) error { return s.pay(c.Context(), tx, c.user, coins, 0, "battle", c.now) })
	return object{"win": power >= enemyPower, "coins": coins, "opponent": enemy.Name, "opponent_deck": enemyDeck, "opponent_power": enemyPower}, err
}
