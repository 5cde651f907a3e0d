package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// runner is the database or a transaction.
type runner interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func randomWord() string {
	b := make([]byte, 16)
	rand.Read(b) // never fails (crypto/rand)
	return hex.EncodeToString(b)
}

const day = 24 * time.Hour

// player lets only who has a session play.
func (s *server) player(h handler) handler {
	return func(c *call) (object, error) {
		id, err := s.redis.Get(c.Context(), "session:"+c.Header.Get("X-Session")).Int64()
		if errors.Is(err, redis.Nil) {
			return nil, refuse(http.StatusUnauthorized, "no session")
		}
		if err != nil {
			return nil, err
		}
		c.user = id
		return h(c)
	}
}

func (s *server) newSession(ctx context.Context, user int64) (string, error) {
	token := randomWord()
	return token, s.redis.Set(ctx, "session:"+token, user, day).Err()
}

// What a newcomer has.
const (
	firstStones = 900
	firstCoins  = 1000
)

var firstCards = []int64{1, 2, 3, 4, 5}

func (s *server) register(c *call) (object, error) {
	var in struct{ Name, Device string }
	if err := c.read(&in); err != nil {
		return nil, err
	}
	if in.Name == "" || in.Device == "" {
		return nil, refuse(http.StatusBadRequest, "name and device are needed")
	}
	err := s.inTx(c.Context(), func(tx *sql.Tx) error {
		done, err := tx.ExecContext(c.Context(), "INSERT INTO users (name, device, coins, stones, exp, created_at) VALUES (?, ?, 0, 0, 0, ?)", in.Name, in.Device, c.now)
		if err != nil {
			return err
		}
		if c.user, err = done.LastInsertId(); err != nil {
			return err
		}
		ids, err := s.giveCards(c.Context(), tx, c.user, firstCards, "start", c.now)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(c.Context(), "INSERT INTO decks (user_id, card_1, card_2, card_3, card_4, card_5) VALUES (?, ?, ?, ?, ?, ?)",
			c.user, ids[0], ids[1], ids[2], ids[3], ids[4]); err != nil {
			return err
		}
		return s.pay(c.Context(), tx, c.user, firstCoins, firstStones, "start", c.now)
	})
	if err != nil {
		return nil, err
	}
	token, err := s.newSession(c.Context(), c.user)
	return object{"session": token}, err
}

func (s *server) login(c *call) (object, error) {
	var in struct {
		User   int64 `json:"user_id"`
		Device string
	}
	if err := c.read(&in); err != nil {
		return nil, err
	}
	var device string
	err := s.db.QueryRowContext(c.Context(), "SELECT device FROM users WHERE id = ?", in.User).Scan(&device)
	if errors.Is(err, sql.ErrNoRows) || err == nil && device != in.Device {
		return nil, refuse(http.StatusForbidden, "unknown device")
	}
	if err != nil {
		return nil, err
	}
	c.user = in.User
	token, err := s.newSession(c.Context(), c.user)
	return object{"session": token}, err
}

func (s *server) home(*call) (object, error) { return object{}, nil }

// column is one value of a user.
func column(ctx context.Context, db runner, user int64, name string) (value int64, err error) {
	err = db.QueryRowContext(ctx, "SELECT "+name+" FROM users WHERE id = ?", user).Scan(&value)
	return value, err
}

// userView is what the client shows of a user.
type userView struct {
	ID        int64  `json:"id"`
	Name      string `json:"name"`
	Coins     int64  `json:"coins"`
	Stones    int64  `json:"stones"`
	Exp       int64  `json:"exp"`
	Level     int64  `json:"level"`
	NextLevel int64  `json:"next_level_exp"`
}

func (s *server) user(ctx context.Context, id int64) (u userView, err error) {
	u.ID = id
	if err := s.db.QueryRowContext(ctx, "SELECT name FROM users WHERE id = ?", id).Scan(&u.Name); err != nil {
		return u, err
	}
	if u.Coins, err = column(ctx, s.db, id, "coins"); err != nil {
		return u, err
	}
	if u.Stones, err = column(ctx, s.db, id, "stones"); err != nil {
		return u, err
	}
	if u.Exp, err = column(ctx, s.db, id, "exp"); err != nil {
		return u, err
	}
	u.Level, u.NextLevel = s.master.level(u.Exp)
	return u, nil
}

// common is what every answer tells besides its own.
func (s *server) common(c *call) (object, error) {
	u, err := s.user(c.Context(), c.user)
	if err != nil {
		return nil, err
	}
	deck, power, err := s.deck(c.Context(), c.user)
	if err != nil {
		return nil, err
	}
	var waiting int
	if err := s.db.QueryRowContext(c.Context(), "SELECT COUNT(*) FROM presents WHERE user_id = ? AND received_at IS NULL", c.user).Scan(&waiting); err != nil {
		return nil, err
	}
	rank, err := s.redis.ZRevRank(c.Context(), "ranking", strconv.FormatInt(c.user, 10)).Result()
	if errors.Is(err, redis.Nil) {
		rank, err = -1, nil
	}
	return object{
		"user": u, "deck": deck, "power": power, "presents": waiting, "rank": rank + 1,
		"gachas": s.master.openGachas(c.now), "featured": s.master.shop(true), "news": s.master.latestNews(c.now),
	}, err
}
