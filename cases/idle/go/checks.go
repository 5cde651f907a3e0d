package main

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
)

// playerHandler answers a player who has passed all checks.
type playerHandler func(r *http.Request, user, now int64) (object, error)

func (s *server) masterVersion(ctx context.Context) (version string, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT master_version FROM version_masters WHERE status = 1").Scan(&version)
	return version, err
}

// versioned lets clients pass that have the master data in force.
func (s *server) versioned(h handler) handler {
	return func(r *http.Request, now int64) (object, error) {
		version, err := s.masterVersion(r.Context())
		if err != nil {
			return nil, err
		}
		if r.Header.Get("X-Master-Version") != version {
			return nil, &failure{http.StatusUnprocessableEntity, object{"error": "other master version", "master_version": version}}
		}
		return h(r, now)
	}
}

// player lets the user of the path pass who has a session, is not banned, and
// comes from a known device.
func (s *server) player(h playerHandler) handler {
	return s.versioned(func(r *http.Request, now int64) (object, error) {
		user, err := number(r, "user")
		if err != nil {
			return nil, err
		}
		if err := s.checkBan(r.Context(), user); err != nil {
			return nil, err
		}
		if err := s.checkSession(r, user, now); err != nil {
			return nil, err
		}
		if err := s.checkDevice(r.Context(), user, r.Header.Get("X-Viewer")); err != nil {
			return nil, err
		}
		return h(r, user, now)
	})
}

func (s *server) checkBan(ctx context.Context, user int64) error {
	var id int64
	err := s.db.QueryRowContext(ctx, "SELECT id FROM user_bans WHERE user_id = ? AND deleted_at IS NULL", user).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return refuse(http.StatusForbidden, "banned")
}

func (s *server) checkSession(r *http.Request, user, now int64) error {
	var id, owner, expires int64
	err := s.db.QueryRowContext(r.Context(), "SELECT id, user_id, expired_at FROM user_sessions WHERE session = ? AND deleted_at IS NULL",
		r.Header.Get("X-Session")).Scan(&id, &owner, &expires)
	if errors.Is(err, sql.ErrNoRows) {
		return refuse(http.StatusUnauthorized, "no session")
	}
	if err != nil {
		return err
	}
	if owner != user {
		return refuse(http.StatusForbidden, "another user's")
	}
	if expires < now {
		if _, err := s.db.ExecContext(r.Context(), "UPDATE user_sessions SET deleted_at = ? WHERE id = ?", now, id); err != nil {
			return err
		}
		return refuse(http.StatusUnauthorized, "the session has expired")
	}
	return nil
}

func (s *server) checkDevice(ctx context.Context, user int64, viewer string) error {
	var id int64
	err := s.db.QueryRowContext(ctx, "SELECT id FROM user_devices WHERE user_id = ? AND viewer = ?", user, viewer).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return refuse(http.StatusForbidden, "unknown device")
	}
	return err
}

// Kinds of one-time tokens.
const (
	forDraws = 1
	forGear  = 2
)

// newToken makes a token that the next act of this kind uses up; earlier ones end.
func (s *server) newToken(ctx context.Context, user int64, kind int, now int64) (string, error) {
	if _, err := s.db.ExecContext(ctx, "UPDATE user_one_time_tokens SET deleted_at = ? WHERE user_id = ? AND token_type = ? AND deleted_at IS NULL",
		now, user, kind); err != nil {
		return "", err
	}
	id, err := s.newID(ctx)
	if err != nil {
		return "", err
	}
	token := randomWord()
	_, err = s.db.ExecContext(ctx, "INSERT INTO user_one_time_tokens (id, user_id, token, token_type, created_at, expired_at) VALUES (?, ?, ?, ?, ?, ?)",
		id, user, token, kind, now, now+600)
	return token, err
}

// useToken uses a token up.
func (s *server) useToken(ctx context.Context, user int64, kind int, token string, now int64) error {
	var id, owner, expires int64
	err := s.db.QueryRowContext(ctx, "SELECT id, user_id, expired_at FROM user_one_time_tokens WHERE token = ? AND token_type = ? AND deleted_at IS NULL",
		token, kind).Scan(&id, &owner, &expires)
	if errors.Is(err, sql.ErrNoRows) || err == nil && (owner != user || expires < now) {
		return refuse(http.StatusBadRequest, "invalid token")
	}
	if err != nil {
		return err
	}
	done, err := s.db.ExecContext(ctx, "UPDATE user_one_time_tokens SET deleted_at = ? WHERE id = ? AND deleted_at IS NULL", now, id)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n != 1 {
		return refuse(http.StatusBadRequest, "invalid token")
	}
	return nil
}
