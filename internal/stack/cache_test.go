package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/host"
)

// answering takes one connection, sends answer to what comes first, and
// returns the address and what came.
func answering(t *testing.T, answer string) (endpoint string, got chan string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	got = make(chan string, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			got <- err.Error()
			return
		}
		buf := make([]byte, 1000)
		n, _ := c.Read(buf)
		got <- string(buf[:n])
		io.WriteString(c, answer)
		c.Close()
	}()
	return "unix:" + path, got
}

func TestDialCacheLogin(t *testing.T) {
	ctx, h := context.Background(), host.NewLocal()
	file := filepath.Join(t.TempDir(), "pw")
	if err := os.WriteFile(file, []byte("hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		why    string
		login  Login
		answer string
		sent   string
		want   string // in the error; "" for none
	}{
		{"without a user", Login{PasswordFile: file}, "+OK\r\n", "*2\r\n$4\r\nAUTH\r\n$7\r\nhunter2\r\n", ""},
		{"with a user", Login{User: "me", PasswordFile: file}, "+OK\r\n", "*3\r\n$4\r\nAUTH\r\n$2\r\nme\r\n$7\r\nhunter2\r\n", ""},
		{"refused", Login{PasswordFile: file}, "-WRONGPASS invalid username-password pair hunter2\r\n", "*2\r\n$4\r\nAUTH\r\n$7\r\nhunter2\r\n", "refuses the user or the password (WRONGPASS)"},
		{"hung up", Login{PasswordFile: file}, "", "*2\r\n$4\r\nAUTH\r\n$7\r\nhunter2\r\n", "EOF"},
	}
	for _, c := range cases {
		endpoint, got := answering(t, c.answer)
		login := c.login
		conn, err := DialCache(ctx, h, &Service{Name: "cache", Kind: Redis, Listen: []string{endpoint}, Login: &login})
		if sent := <-got; sent != c.sent {
			t.Errorf("%s: sent %q", c.why, sent)
		}
		if conn != nil {
			conn.Close()
		}
		text := fmt.Sprint(err)
		if c.want == "" && err != nil || !strings.Contains(text, c.want) && c.want != "" || strings.Contains(text, "hunter2") {
			t.Errorf("%s: %v", c.why, err)
		}
	}
}

func TestDialCacheErrors(t *testing.T) {
	ctx, h := context.Background(), host.NewLocal()
	for want, svc := range map[string]Service{
		"is not a cache":             {Kind: Nginx, Listen: []string{"127.0.0.1:1"}},
		"write listen":               {Kind: Redis},
		"does it listen there?":      {Kind: Memcached, Listen: []string{"unix:/nonexistent/sock"}},
		"password_file /nonexistent": {Kind: Redis, Listen: []string{""}, Login: &Login{PasswordFile: "/nonexistent"}},
	} {
		svc.Name = "cache"
		if len(svc.Listen) > 0 && svc.Listen[0] == "" {
			svc.Listen[0], _ = answering(t, "")
		}
		if conn, err := DialCache(ctx, h, &svc); err == nil || conn != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	// A database still needs a user.
	if _, err := (&Login{}).credentials(ctx, h); !errors.Is(err, errNoUser) {
		t.Errorf("%v", err)
	}
}
