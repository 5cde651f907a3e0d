package web

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/tune"
)

func TestTokenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", TokenFile)
	one, err := Token(path)
	must(t, err)
	two, err := Token(path)
	must(t, err)
	info, err := os.Stat(path)
	must(t, err)
	if one != two || len(one) != 64 || info.Mode().Perm() != 0o600 {
		t.Errorf("%q %q %v", one, two, info.Mode())
	}
	must(t, os.Chmod(path, 0o644))
	if _, err = Token(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("one that others can read: %v", err)
	}
	must(t, os.WriteFile(path, []byte("short\n"), 0o600))
	must(t, os.Chmod(path, 0o600))
	if _, err = Token(path); err == nil || !strings.Contains(err.Error(), "32") {
		t.Errorf("a short one: %v", err)
	}
}

// TestLastLook: who looks at a session when it ends gets its end, and is waited
// for until its page was read again, but not for long.
func TestLastLook(t *testing.T) {
	p := newSample(t)
	for _, reads := range []bool{true, false} {
		x, err := Start(t.Context(), StartOptions{Options: Options{Stack: "x", Store: p.store, Dir: p.dir}, Listen: "127.0.0.1:0"})
		must(t, err)
		if x.patience = 100 * time.Millisecond; reads {
			x.patience = time.Hour
		}
		b := &browser{t: t, url: strings.TrimSuffix(x.URL, "/"), client: http.DefaultClient}
		st := b.stream(t, "")
		await.For(t, "the viewer", func() bool { return x.hub.Viewers() > 0 })
		x.Publish(tune.Live{Session: p.session})
		began := time.Now()
		x.Publish(tune.Live{Session: p.session, Ended: true})
		stopped := make(chan time.Duration, 1)
		go func() {
			x.Stop()
			stopped <- time.Since(began)
		}()
		for !st.next().Ended {
		}
		if reads {
			if status, _ := b.get("/"); status != http.StatusOK {
				t.Errorf("the last page: %d", status)
			}
		}
		await.Ends(t, "the server", func() {
			if took := <-stopped; !reads && took < x.patience {
				t.Errorf("nobody read the page again, and it ended after %s", took)
			}
		})
	}
	x, err := Start(t.Context(), StartOptions{Options: Options{Stack: "x", Store: p.store, Dir: p.dir}, Listen: "127.0.0.1:0"})
	must(t, err)
	x.Publish(tune.Live{Session: p.session, Ended: true})
	x.patience = time.Hour
	await.Ends(t, "a server that nobody looked at", x.Stop)
}

// TestANameIsForOthers: who gives the server a name has every page behind the token.
func TestANameIsForOthers(t *testing.T) {
	p := newSample(t)
	x, err := Start(t.Context(), StartOptions{Options: Options{Stack: "x", Store: p.store, Dir: p.dir, Names: []string{"tuner.example.com"}}, Listen: "127.0.0.1:0"})
	must(t, err)
	defer x.Stop()
	for _, host := range []string{"tuner.example.com", "localhost", ""} {
		b := &browser{t: t, url: strings.TrimSuffix(x.URL, "/"), client: http.DefaultClient}
		if res, _ := b.do("GET", "/", nil, func(r *http.Request) { r.Host = host }); res.StatusCode != http.StatusUnauthorized {
			t.Errorf("asked as %q: %d", host, res.StatusCode)
		}
	}
	if told := x.Told(); !strings.Contains(told, "#token=") {
		t.Errorf("it told %q", told)
	}
}

// TestStart: loopback is open for reading, every address is behind the token,
// Stop ends streams at once.
func TestStart(t *testing.T) {
	p := newSample(t)
	for listen, status := range map[string]int{"127.0.0.1:0": 200, "0.0.0.0:0": 401} {
		x, err := Start(t.Context(), StartOptions{Options: Options{Stack: "x", Store: p.store, Dir: p.dir}, Listen: listen})
		must(t, err)
		at := "http://127.0.0.1:" + x.URL[strings.LastIndex(x.URL, ":")+1:]
		res, err := http.Get(at)
		must(t, err)
		res.Body.Close()
		if res.StatusCode != status {
			t.Errorf("%s: %d", listen, res.StatusCode)
		}
		if status == 200 {
			b := &browser{t: t, url: strings.TrimSuffix(at, "/"), client: http.DefaultClient}
			x.Publish(tune.Live{Session: 1})
			st := b.stream(t, "")
			st.next()
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		must(t, x.Wait(ctx))
		if _, err = http.Get(at); err == nil {
			t.Errorf("%s: it still answers", listen)
		}
	}
	if _, err := Start(t.Context(), StartOptions{Options: Options{Store: p.store, Dir: p.dir}, Listen: "nonsense"}); err == nil {
		t.Error("no error about the address")
	}
}
