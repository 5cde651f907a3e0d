package main

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
)

// register makes a new user with three pieces of gear, and logs in.
func (s *server) register(r *http.Request, now int64) (object, error) {
	var in struct {
		Viewer   string `json:"viewer"`
		Platform int    `json:"platform"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	if in.Viewer == "" || in.Platform < 1 {
		return nil, refuse(http.StatusBadRequest, "viewer and platform are needed")
	}
	ctx := r.Context()
	id, err := s.newID(ctx)
	if err != nil {
		return nil, err
	}
	var out object
	err = s.inTx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `INSERT INTO users (id, name, coins, last_reward_at, last_activated_at, registered_at, created_at, updated_at)
			VALUES (?, ?, 0, ?, 0, ?, ?, ?)`, id, "newcomer", now, now, now, now); err != nil {
			return err
		}
		device, err := s.newID(ctx)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO user_devices (id, user_id, viewer, platform, created_at) VALUES (?, ?, ?, ?, ?)",
			device, id, in.Viewer, in.Platform, now); err != nil {
			return err
		}
		var cards [3]int64
		for i := range cards {
			c, err := s.addCard(ctx, tx, id, 2, now)
			if err != nil {
				return err
			}
			cards[i] = c.ID
		}
		if err := s.addDeck(ctx, tx, id, cards, now); err != nil {
			return err
		}
		out, err = s.enter(ctx, tx, id, now)
		return err
	})
	return out, err
}

// login makes a session; the first login of a day brings what the day brings.
func (s *server) login(r *http.Request, now int64) (object, error) {
	var in struct {
		User   int64  `json:"user_id"`
		Viewer string `json:"viewer"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	ctx := r.Context()
	if _, err := getUser(ctx, s.db, in.User); errors.Is(err, sql.ErrNoRows) {
		return nil, refuse(http.StatusNotFound, "no such user")
	} else if err != nil {
		return nil, err
	}
	if err := s.checkBan(ctx, in.User); err != nil {
		return nil, err
	}
	if err := s.checkDevice(ctx, in.User, in.Viewer); err != nil {
		return nil, err
	}
	var out object
	err := s.inTx(ctx, func(tx *sql.Tx) (err error) {
		out, err = s.enter(ctx, tx, in.User, now)
		return err
	})
	return out, err
}

// enter ends the user's sessions and begins one.
func (s *server) enter(ctx context.Context, tx *sql.Tx, id, now int64) (object, error) {
	if _, err := tx.ExecContext(ctx, "UPDATE user_sessions SET deleted_at = ? WHERE user_id = ? AND deleted_at IS NULL", now, id); err != nil {
		return nil, err
	}
	sessionID, err := s.newID(ctx)
	if err != nil {
		return nil, err
	}
	session := randomWord()
	if _, err := tx.ExecContext(ctx, "INSERT INTO user_sessions (id, user_id, session, created_at, expired_at) VALUES (?, ?, ?, ?, ?)",
		sessionID, id, session, now, now+86400); err != nil {
		return nil, err
	}
	u, err := getUser(ctx, tx, id)
	if err != nil {
		return nil, err
	}
	bonuses, sent := []bonus{}, 0
	if u.LastActivatedAt/86400 != now/86400 {
		if bonuses, err = s.giveBonuses(ctx, tx, id, now); err != nil {
			return nil, err
		}
		if sent, err = s.sendPresents(ctx, tx, id, now); err != nil {
			return nil, err
		}
	}
	if _, err := tx.ExecContext(ctx, "UPDATE users SET last_activated_at = ?, updated_at = ? WHERE id = ?", now, now, id); err != nil {
		return nil, err
	}
	if u, err = getUser(ctx, tx, id); err != nil {
		return nil, err
	}
	return object{"session": session, "user": u, "bonuses": bonuses, "presents_sent": sent}, nil
}

// bonus is a login bonus and how often the user has had it.
type bonus struct {
	ID       int64 `json:"login_bonus_id"`
	Sequence int   `json:"sequence"`
}

// bonusMaster is a row of login_bonus_masters.
type bonusMaster struct {
	id     int64
	days   int
	looped bool
}

// giveBonuses gives the login bonuses of the day.
func (s *server) giveBonuses(ctx context.Context, tx *sql.Tx, userID, now int64) ([]bonus, error) {
	rows, err := tx.QueryContext(ctx, "SELECT id, days, looped FROM login_bonus_masters WHERE start_at <= ? AND end_at >= ? ORDER BY id", now, now)
	masters, err := readAll(rows, err, func(m *bonusMaster) []any { return []any{&m.id, &m.days, &m.looped} })
	if err != nil {
		return nil, err
	}
	given := []bonus{}
	for _, m := range masters {
		b, done, err := s.giveBonus(ctx, tx, userID, m, now)
		if err != nil {
			return nil, err
		}
		if !done {
			given = append(given, b)
		}
	}
	return given, nil
}

// giveBonus gives the next reward of one bonus; done: there is none left.
func (s *server) giveBonus(ctx context.Context, tx *sql.Tx, userID int64, m bonusMaster, now int64) (b bonus, done bool, err error) {
	var id int64
	var last, loops int
	err = tx.QueryRowContext(ctx, "SELECT id, last_sequence, loop_count FROM user_login_bonuses WHERE user_id = ? AND login_bonus_id = ?",
		userID, m.id).Scan(&id, &last, &loops)
	fresh := errors.Is(err, sql.ErrNoRows)
	if err != nil && !fresh {
		return b, false, err
	}
	last++
	if last > m.days {
		if !m.looped {
			return b, true, nil
		}
		last, loops = 1, loops+1
	}
	var kind int
	var item, amount int64
	if err := tx.QueryRowContext(ctx, "SELECT item_type, item_id, amount FROM login_bonus_reward_masters WHERE login_bonus_id = ? AND sequence = ?",
		m.id, last).Scan(&kind, &item, &amount); err != nil {
		return b, false, err
	}
	if err := s.obtain(ctx, tx, userID, kind, item, amount, "bonus", now); err != nil {
		return b, false, err
	}
	b = bonus{m.id, last}
	if !fresh {
		_, err = tx.ExecContext(ctx, "UPDATE user_login_bonuses SET last_sequence = ?, loop_count = ?, updated_at = ? WHERE id = ?", last, loops, now, id)
		return b, false, err
	}
	if id, err = s.newID(ctx); err != nil {
		return b, false, err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO user_login_bonuses (id, user_id, login_bonus_id, last_sequence, loop_count, updated_at)
		VALUES (?, ?, ?, ?, 1, ?)`, id, userID, m.id, last, now)
	return b, false, err
}

// presentAll is a row of present_all_masters.
type presentAll struct {
	id int64
	present
}

// sendPresents sends the presents for all that the user has not had, and says
// how many.
func (s *server) sendPresents(ctx context.Context, tx *sql.Tx, userID, now int64) (sent int, err error) {
	rows, err := tx.QueryContext(ctx, "SELECT id, item_type, item_id, amount, message FROM present_all_masters WHERE start_at <= ? AND end_at >= ? ORDER BY id", now, now)
	all, err := readAll(rows, err, func(p *presentAll) []any {
		p.CreatedAt = now
		return []any{&p.id, &p.ItemType, &p.ItemID, &p.Amount, &p.Message}
	})
	if err != nil {
		return 0, err
	}
	for _, p := range all {
		var had int64
		err := tx.QueryRowContext(ctx, "SELECT id FROM user_present_all_history WHERE user_id = ? AND present_all_id = ?", userID, p.id).Scan(&had)
		if err == nil {
			continue
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return 0, err
		}
		if _, err := s.addPresent(ctx, tx, userID, p.present); err != nil {
			return 0, err
		}
		id, err := s.newID(ctx)
		if err != nil {
			return 0, err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO user_present_all_history (id, user_id, present_all_id, received_at) VALUES (?, ?, ?, ?)",
			id, userID, p.id, now); err != nil {
			return 0, err
		}
		sent++
	}
	return sent, nil
}
