package web

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// TokenFile is where Start keeps the token in the .kasoku folder.
const TokenFile = "web-token"

// leastToken is the shortest token that is taken from a file, bytes: 128 bits
// as hexadecimal.
const leastToken = 32

// Token reads the token in path, or writes a new random one there, readable by
// its owner only. It is an error if others can read the file or the token is
// too short to be safe.
func Token(path string) (string, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return newToken(path)
	}
	if err != nil {
		return "", fmt.Errorf("token of the dashboard: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("token of the dashboard: others can read %s; chmod 600 it, or delete it for a new one", path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("token of the dashboard: %w", err)
	}
	token := strings.TrimSpace(string(b))
	if len(token) < leastToken {
		return "", fmt.Errorf("token of the dashboard: %s holds %d characters; write at least %d, or delete it for a new one", path, len(token), leastToken)
	}
	return token, nil
}

func newToken(path string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("token of the dashboard: %w", err)
	}
	token := random()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", fmt.Errorf("token of the dashboard: %w", err)
	}
	_, err = f.WriteString(token + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("token of the dashboard: write %s: %w", path, err)
	}
	return token, nil
}

// random is 256 bits as hexadecimal.
func random() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it never fails (crypto/rand)
	return hex.EncodeToString(b)
}

// Bounds of logins: enough for every screen of a team; a working day.
const (
	mostLogins  = 64
	loginsAfter = 12 * time.Hour
)

// login is one browser that showed the token.
type login struct {
	csrf  string // its forms carry it
	since time.Time
}

func (l *login) csrfFits(got string) bool {
	return l != nil && subtle.ConstantTimeCompare([]byte(l.csrf), []byte(got)) == 1
}

// cookie's name carries the port, because cookies do not know ports and two
// dashboards on one machine would log each other out.
func cookie(r *http.Request) string {
	_, port, _ := strings.Cut(strings.TrimPrefix(r.Host, "["), "]:")
	if port == "" {
		_, port, _ = strings.Cut(r.Host, ":")
	}
	for _, c := range port {
		if c < '0' || c > '9' {
			return "kasoku"
		}
	}
	return "kasoku" + port
}

// loginOf the request; nil if it has none.
func (s *Server) loginOf(r *http.Request) *login {
	c, err := r.Cookie(cookie(r))
	if err != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// Looked up by its hash: how long a map takes tells nothing about it.
	l := s.logins[sha256.Sum256([]byte(c.Value))]
	if l == nil || time.Since(l.since) > loginsAfter {
		return nil
	}
	return l
}

// logIn exchanges the token for a cookie that scripts cannot read and other
// sites cannot send.
func (s *Server) logIn(w http.ResponseWriter, r *http.Request) {
	// Both are hashed first, so that not even the length shows in the time.
	want, got := sha256.Sum256([]byte(s.o.Token)), sha256.Sum256([]byte(r.PostFormValue("token")))
	if s.o.Token == "" || !hmac.Equal(want[:], got[:]) {
		s.loginPage(w, r, http.StatusForbidden, "That is not the token.")
		return
	}
	value := random()
	s.mu.Lock()
	if len(s.logins) >= mostLogins {
		s.dropOldest()
	}
	s.logins[sha256.Sum256([]byte(value))] = &login{csrf: random(), since: time.Now()}
	s.mu.Unlock()
	http.SetCookie(w, &http.Cookie{Name: cookie(r), Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: encrypted(r), MaxAge: int(loginsAfter.Seconds())})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// dropOldest login; s.mu is held.
func (s *Server) dropOldest() {
	var oldest [sha256.Size]byte
	first := true
	for k, l := range s.logins {
		if first || l.since.Before(s.logins[oldest].since) {
			oldest, first = k, false
		}
	}
	delete(s.logins, oldest)
}

func (s *Server) loginPage(w http.ResponseWriter, r *http.Request, status int, problem string) {
	s.render(w, r, status, "login", page{Title: "Log in"}, problem)
}
