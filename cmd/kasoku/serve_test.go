package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
)

// TestServe: the command prints where it is, takes its token, puts a change of
// a real file back, and ends with its context.
func TestServe(t *testing.T) {
	dir := undoProject(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r, w := io.Pipe()
	a := newApp(&CLI{File: filepath.Join(dir, "kasoku.yaml"), Quiet: true}, io.Discard, w)
	ended := make(chan error, 1)
	go func() {
		ended <- (&ServeCmd{Listen: "127.0.0.1:0"}).Run(ctx, a)
		w.Close()
	}()
	lines := bufio.NewScanner(r)
	var said []string
	for len(said) < 2 && lines.Scan() {
		said = append(said, lines.Text())
	}
	if len(said) < 2 {
		t.Fatalf("it said %q and ended: %v", said, <-ended)
	}
	go func() { // what is told later
		for lines.Scan() {
		}
	}()
	at := strings.TrimPrefix(said[0], "dashboard: ")
	_, token, found := strings.Cut(said[1], "#token=")
	stored, err := os.ReadFile(filepath.Join(dir, ".kasoku", "web-token"))
	if info, _ := os.Stat(filepath.Join(dir, ".kasoku", "web-token")); err != nil || info.Mode().Perm() != 0o600 || !found || strings.TrimSpace(string(stored)) != token {
		t.Fatalf("%q, token file %v %v", said, err, info)
	}
	jar, _ := cookiejar.New(nil)
	c := &http.Client{Jar: jar, Timeout: time.Minute}
	ask := func(method, path string, form url.Values) string {
		t.Helper()
		q, err := http.NewRequest(method, at+path, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		if form != nil {
			q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			q.Header.Set("Origin", strings.TrimSuffix(at, "/"))
		}
		res, err := c.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, _ := io.ReadAll(res.Body)
		return string(b)
	}
	if page := ask("GET", "journal", nil); !strings.Contains(page, "edit b") {
		t.Errorf("no journal: %s", page)
	}
	ask("POST", "login", url.Values{"token": {token}})
	undo := func(id string) string {
		page := ask("GET", "journal/"+id, nil)
		_, csrf, _ := strings.Cut(page, `name="csrf" value="`)
		csrf, _, _ = strings.Cut(csrf, `"`)
		return ask("POST", "journal/"+id+"/undo", url.Values{"csrf": {csrf}})
	}
	if page := undo("1"); !strings.Contains(page, "kasoku undo 3 1") {
		t.Errorf("a change that a later one builds on: %s", page)
	}
	if page := undo("4"); !strings.Contains(page, "undone") {
		t.Errorf("%s", page)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "b")); err != nil || string(b) != "two\n" {
		t.Errorf("b is %q %v", b, err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// TestWebFlag: --web stands alone or names an address.
func TestWebFlag(t *testing.T) {
	for args, want := range map[string]string{"tune": "", "tune --web": "127.0.0.1:7399", "tune --web=127.0.0.1:8": "127.0.0.1:8", "run --web --label x": "127.0.0.1:7399",
		"try --web --set a.b=c": "127.0.0.1:7399", "try --set a.b=c --web=127.0.0.1:0": "127.0.0.1:0", "compare --web a b": "127.0.0.1:7399", "compare a b": ""} {
		var cli CLI
		parser, err := kong.New(&cli, kong.Vars{"lab_packages": "x"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = parser.Parse(strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		if got := string(cli.Tune.Web + cli.Run.Web + cli.Try.Web + cli.Compare.Web); got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}
