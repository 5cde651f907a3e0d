package main

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"
)

// user is a row of users.
type user struct {
	ID                 int64
	Login              string
	passwordHash, salt string
}

// previousLogin is what the personal page shows of an earlier login.
type previousLogin struct {
	CreatedAt string // "2006-01-02 15:04:05", UTC
	IP        string
}

// attempt is one try to log in.
type attempt struct {
	login, password, ip string
}

// Reasons why an attempt failed; each is the notice that is shown.
const (
	noticeBanned     = "Your address is banned."
	noticeLocked     = "This account is locked."
	noticeWrong      = "Wrong username or password."
	noticeNeedsLogin = "You must be logged in."
)

// clientAddress is the first address of X-Forwarded-For, else what nginx saw,
// else the peer's.
func clientAddress(r *http.Request) string {
	forwarded, _, _ := strings.Cut(r.Header.Get("X-Forwarded-For"), ",")
	if forwarded = strings.TrimSpace(forwarded); net.ParseIP(forwarded) != nil {
		return forwarded
	}
	if ip := r.Header.Get("X-Real-IP"); ip != "" {
		return ip
	}
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	return host
}

func passwordHashOf(password, salt string) string {
	sum := sha256.Sum256([]byte(password + ":" + salt))
	return hex.EncodeToString(sum[:])
}

// attemptLogin logs the attempt. It returns the user, or nil and the notice.
func (s *server) attemptLogin(ctx context.Context, a attempt) (*user, string, error) {
	u, err := s.userByLogin(ctx, a.login)
	if err != nil {
		return nil, "", err
	}
	notice, err := s.judge(ctx, u, a)
	if err != nil {
		return nil, "", err
	}
	if err := s.logAttempt(ctx, u, a, notice == ""); err != nil {
		return nil, "", err
	}
	if notice != "" {
		return nil, notice, nil
	}
	return u, "", nil
}

// judge returns why the attempt fails, "" if it succeeds.
func (s *server) judge(ctx context.Context, u *user, a attempt) (string, error) {
	banned, err := s.ipBanned(ctx, a.ip)
	if err != nil {
		return "", err
	}
	if banned {
		return noticeBanned, nil
	}
	if u == nil {
		return noticeWrong, nil
	}
	locked, err := s.userLocked(ctx, u.ID)
	if err != nil {
		return "", err
	}
	if locked {
		return noticeLocked, nil
	}
	if passwordHashOf(a.password, u.salt) != u.passwordHash {
		return noticeWrong, nil
	}
	return "", nil
}

func (s *server) logAttempt(ctx context.Context, u *user, a attempt, succeeded bool) error {
	var id sql.NullInt64
	if u != nil {
		id = sql.NullInt64{Int64: u.ID, Valid: true}
	}
	_, err := s.db.ExecContext(ctx,
		"INSERT INTO login_log (created_at, user_id, login, ip, succeeded) VALUES (?, ?, ?, ?, ?)",
		time.Now().UTC().Format(time.DateTime), id, a.login, a.ip, succeeded)
	return err
}

// userLocked: too many failures since the user's last success.
func (s *server) userLocked(ctx context.Context, id int64) (bool, error) {
	var failures int
	err := s.db.QueryRowContext(ctx,
		"SELECT COUNT(1) AS failures FROM login_log WHERE user_id = ? AND id > IFNULL("+
			"(SELECT id FROM login_log WHERE user_id = ? AND succeeded = 1 ORDER BY id DESC LIMIT 1), 0)",
		id, id).Scan(&failures)
	return failures >= s.settings.userLockThreshold, err
}

// ipBanned: too many failures since the address's last success.
func (s *server) ipBanned(ctx context.Context, ip string) (bool, error) {
	var failures int
	err := s.db.QueryRowContext(ctx,
		"SELECT COUNT(1) AS failures FROM login_log WHERE ip = ? AND id > IFNULL("+
			"(SELECT id FROM login_log WHERE ip = ? AND succeeded = 1 ORDER BY id DESC LIMIT 1), 0)",
		ip, ip).Scan(&failures)
	return failures >= s.settings.ipBanThreshold, err
}

func (s *server) userByLogin(ctx context.Context, login string) (*user, error) {
	return s.oneUser(ctx, "SELECT id, login, password_hash, salt FROM users WHERE login = ?", login)
}

func (s *server) userByID(ctx context.Context, id int64) (*user, error) {
	return s.oneUser(ctx, "SELECT id, login, password_hash, salt FROM users WHERE id = ?", id)
}

// oneUser returns nil if there is no such user.
func (s *server) oneUser(ctx context.Context, query string, arg any) (*user, error) {
	var u user
	err := s.db.QueryRowContext(ctx, query, arg).Scan(&u.ID, &u.Login, &u.passwordHash, &u.salt)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &u, nil
}

// previousLogin is the login before the current one, or the only one; nil if
// there is none.
func (s *server) previousLogin(ctx context.Context, id int64) (*previousLogin, error) {
	rows, err := s.db.QueryContext(ctx,
		"SELECT created_at, ip FROM login_log WHERE succeeded = 1 AND user_id = ? ORDER BY id DESC LIMIT 2", id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var last *previousLogin
	for rows.Next() {
		last = &previousLogin{}
		if err := rows.Scan(&last.CreatedAt, &last.IP); err != nil {
			return nil, err
		}
	}
	return last, rows.Err()
}
