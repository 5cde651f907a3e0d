package evidence

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"kasoku/internal/host"
	"kasoku/internal/stack"
	"kasoku/internal/trace"
)

// probeServer runs a program in its own process group until the test ends.
func probeServer(t *testing.T, endpoint string, argv ...string) {
	t.Helper()
	path, err := program(argv[0])
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, argv[1:]...)
	cmd.Dir = t.TempDir()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
	})
	if err := within(argv[0]+" answers", func() error {
		conn, err := net.Dial("tcp", endpoint)
		if err != nil {
			return err
		}
		defer conn.Close()
		// It closed the connection itself, so it took it, and no later
		// watcher hears of it.
		conn.SetDeadline(time.Now().Add(time.Second))
		if _, err := io.WriteString(conn, "quit\r\n"); err != nil {
			return err
		}
		_, err = io.ReadAll(conn)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func localPort(t *testing.T) (endpoint, port string) {
	t.Helper()
	n, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", n), fmt.Sprint(n)
}

func startMemcached(t *testing.T) stack.Service {
	t.Helper()
	endpoint, port := localPort(t)
	argv := []string{"memcached", "-l", "127.0.0.1", "-p", port, "-U", "0"}
	if os.Getuid() == 0 {
		argv = append(argv, "-u", "nobody")
	}
	probeServer(t, endpoint, argv...)
	return stack.Service{Name: "cache", Kind: stack.Memcached, Listen: []string{endpoint}}
}

// startRedis with a password, which must never be told.
func startRedis(t *testing.T) stack.Service {
	t.Helper()
	endpoint, port := localPort(t)
	probeServer(t, endpoint, "redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--requirepass", "geheim")
	file := filepath.Join(t.TempDir(), "redis_password")
	if err := os.WriteFile(file, []byte("geheim\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return stack.Service{Name: "redis", Kind: stack.Redis, Listen: []string{endpoint}, Login: &stack.Login{PasswordFile: file}}
}

// memcachedTalk sends commands on one connection, one at a time.
func memcachedTalk(t *testing.T, endpoint string, commands ...string) {
	t.Helper()
	conn, err := net.Dial("tcp", endpoint)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	r := bufio.NewReader(conn)
	for _, c := range commands {
		if _, err := conn.Write([]byte(c + "\r\n")); err != nil {
			t.Fatal(err)
		}
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				t.Fatalf("%s: %v", c, err)
			}
			word := strings.Fields(line)[0]
			if slices.Contains([]string{"END", "STORED", "DELETED", "NOT_FOUND", "TOUCHED"}, word) {
				break
			}
		}
	}
}

// ofService lists one service's calls of a request.
func ofService(calls []trace.Call, service string) []string {
	var out []string
	for _, c := range calls {
		if c.Service == service {
			out = append(out, strings.TrimSpace(c.Kind+" "+c.Text))
		}
	}
	return out
}

func probeStack(t *testing.T) (*live, *stack.Stack, ProbeOptions) {
	t.Helper()
	l := startLive(t)
	st := &stack.Stack{Dir: l.dir, Name: "probe", Services: []stack.Service{*l.st.Service("db"), startMemcached(t), startRedis(t), {Name: "web", Kind: stack.Nginx}}}
	file := filepath.Join(l.dir, "general.log")
	vars := GeneralLogVariables(&Database{Variables: map[string]string{"general_log": "OFF", "log_output": "FILE"}}, file)
	l.set(t, vars)
	return l, st, ProbeOptions{GeneralLogs: map[string]string{"db": file}}
}

func TestProbeHearsRequests(t *testing.T) {
	l, st, o := probeStack(t)
	ctx := context.Background()
	cache, redisAt := st.Service("cache").Listen[0], st.Service("redis").Listen[0]
	memcachedTalk(t, cache, "set warm 0 0 1\r\nx")
	p, err := StartProbe(ctx, st, l.hosts, o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	kept := redis.NewClient(&redis.Options{Addr: redisAt, Password: "geheim", PoolSize: 1})
	defer kept.Close()
	if err := kept.Ping(ctx).Err(); err != nil {
		t.Fatal(err)
	}
	// Each route several times, so that connections per request can be told, and
	// that noise, which may tear a multi-get or a pipeline apart, is outvoted.
	const rounds = 9
	routes := []struct {
		name string
		act  func()
	}{
		{"/page", func() {
			if _, err := l.get("/?n=1"); err != nil {
				t.Fatal(err)
			}
		}},
		{"/gets", func() {
			memcachedTalk(t, cache, "get user:1", "get user:2", "get user:3", "set user:1 0 0 3\r\nabc", "get warm", "touch user:1 60")
		}},
		{"/multi", func() { memcachedTalk(t, cache, "get user:4 user:5 user:6 user:7") }},
		{"/redis", func() {
			for i := range 3 {
				kept.Get(ctx, fmt.Sprint("score:", i))
			}
			kept.Set(ctx, "motd", "topsecret", 0)
			kept.Set(ctx, "motd", "topsecret", 0)
		}},
		{"/pipeline", func() {
			pipe := kept.Pipeline()
			for i := range 10 {
				pipe.Get(ctx, fmt.Sprint("score:", i))
			}
			pipe.Exec(ctx)
		}},
		{"/nothing", func() {}},
	}
	var requests []trace.Request
	for range rounds {
		for _, r := range routes {
			if err := p.Mark(ctx, len(requests)); err != nil {
				t.Fatal(err)
			}
			r.act()
			requests = append(requests, trace.Request{Method: "GET", Route: r.name})
		}
	}
	calls, health, err := p.Finish(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range health {
		if !h.OK && !strings.Contains(h.Text, "before the first request") {
			t.Errorf("%+v", h)
		}
		t.Logf("%+v", h)
	}
	if len(calls) != len(requests) {
		t.Fatalf("calls of %d requests, not %d", len(calls), len(requests))
	}
	for i := range requests {
		requests[i].Calls = calls[i]
	}
	checkProbed(t, calls[len(routes):])
	found := map[string]bool{}
	for _, f := range trace.Summarize(requests, trace.Options{Source: "walk"}).Patterns {
		if strings.Contains(fmt.Sprintf("%+v", f), "topsecret") || strings.Contains(fmt.Sprintf("%+v", f), "score:0") {
			t.Errorf("a value is told: %+v", f)
		}
		if f.With > rounds/2 {
			found[f.Route+" "+f.Kind+" "+f.Service] = true
		}
	}
	want := []string{"/page connects db", "/page prepare-once db", "/gets single-gets cache", "/gets connects cache", "/multi connects cache",
		"/redis single-redis redis", "/redis same-write redis"}
	for _, w := range want {
		if !found[w] {
			t.Errorf("%s is not found", w)
		}
		delete(found, w)
	}
	if len(found) > 0 {
		t.Errorf("found although it is not there: %v", found)
	}
}

// checkProbed compares the second request of each route.
func checkProbed(t *testing.T, calls [][]trace.Call) {
	t.Helper()
	page := strings.Join(ofService(calls[0], "db"), "\n")
	for _, part := range []string{"connect\n", "prepare SELECT id, login FROM users WHERE login = ? AND password_hash <> ?", "execute SELECT id, login FROM users WHERE login = 'user1'",
		"\nUPDATE users SET city = 'c'", "execute INSERT INTO log (user_id, ip) VALUES ("} {
		if !strings.Contains(page, part) {
			t.Errorf("%q is not in\n%s", part, page)
		}
	}
	// The touch is shown as a get, and told from one by the server's counters.
	if got, want := ofService(calls[1], "cache"), []string{"connect", "get user:1", "get user:2", "get user:3", "set user:1", "get warm", "change user:1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := strings.ReplaceAll(strings.Join(ofService(calls[2], "cache"), " "), " get", ""); got != "connect user:4 user:5 user:6 user:7" {
		t.Errorf("got %q", got)
	}
	if got, want := ofService(calls[3], "redis"), []string{"GET score:0", "GET score:1", "GET score:2", "SET motd", "SET motd"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(calls[4]) != 10 || len(calls[5]) != 0 {
		t.Errorf("pipeline %d calls, nothing %d", len(calls[4]), len(calls[5]))
	}
}

// What else uses a service before the walk begins is told.
func TestProbeTellsForeignUse(t *testing.T) {
	ctx := context.Background()
	svc := startMemcached(t)
	st := &stack.Stack{Services: []stack.Service{svc, {Name: "db", Kind: stack.MariaDB}, {Name: "gone", Kind: stack.Redis, Listen: []string{"127.0.0.1:1"}}}}
	p, err := StartProbe(ctx, st, map[string]host.Host{"local": host.NewLocal()}, ProbeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	memcachedTalk(t, svc.Listen[0], "get a", "get b", "get c", "get d")
	if err := p.Mark(ctx, 0); err != nil {
		t.Fatal(err)
	}
	if err := p.Mark(ctx, 0); err == nil {
		t.Error("a mark may come twice")
	}
	calls, health, err := p.Finish(ctx)
	if err != nil || len(calls) != 1 || len(calls[0]) != 0 {
		t.Errorf("%v, %v", calls, err)
	}
	text := fmt.Sprintf("%+v", health)
	for _, part := range []string{"calls to db OK:true Text:not judged: it has no general log", "calls to gone OK:false", "calls to cache OK:false", "5 calls came before the first request"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in %s", part, text)
		}
	}
}

// A stream that breaks during the walk costs only itself; a general log that
// is off or elsewhere is told.
func TestProbeHealthOfBrokenStreams(t *testing.T) {
	l := startLive(t)
	ctx := context.Background()
	svc := startMemcached(t)
	st := &stack.Stack{Services: []stack.Service{svc, *l.st.Service("db")}}
	p, err := StartProbe(ctx, st, l.hosts, ProbeOptions{GeneralLogs: map[string]string{"db": filepath.Join(l.dir, "none.log")}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Mark(ctx, 0); err != nil {
		t.Fatal(err)
	}
	for _, s := range p.streams {
		s.close() // as a server does that ends
	}
	if err := p.Mark(ctx, 1); err != nil {
		t.Fatal(err)
	}
	calls, health, err := p.Finish(ctx)
	text := fmt.Sprintf("%+v", health)
	if err != nil || len(calls) != 2 || !strings.Contains(text, "the general log of db is off") || !strings.Contains(text, "it could be heard for 1 requests only") {
		t.Errorf("%v, %v, %s", calls, err, text)
	}
	l.set(t, map[string]string{"general_log": "ON"})
	p, err = StartProbe(ctx, &stack.Stack{Services: []stack.Service{*l.st.Service("db")}}, l.hosts, ProbeOptions{GeneralLogs: map[string]string{"db": filepath.Join(l.dir, "none.log")}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Mark(ctx, 0); err != nil {
		t.Fatal(err)
	}
	if _, health, err = p.Finish(ctx); err != nil || !strings.Contains(fmt.Sprintf("%+v", health), "does not hold what was asked") {
		t.Errorf("%v, %+v", err, health)
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if err := p.Mark(canceled, 5); err == nil {
		t.Error("a mark after the end of its context")
	}
}

// The variables are as the server prints them, so nothing is changed twice.
func TestGeneralLogVariables(t *testing.T) {
	l := startLive(t)
	db, err := ReadDatabase(context.Background(), l.db)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(l.dir, "vars.log")
	vars := GeneralLogVariables(db, file)
	if vars["general_log"] != "ON" || vars["general_log_file"] != file || len(vars) != 2 {
		t.Errorf("%v", vars)
	}
	l.set(t, vars)
	if db, err = ReadDatabase(context.Background(), l.db); err != nil {
		t.Fatal(err)
	}
	if again := GeneralLogVariables(db, file); len(again) != 0 {
		t.Errorf("asked for again: %v", again)
	}
	if err := l.db.Ping(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Size() == 0 {
		t.Errorf("%v, %v", info, err)
	}
}
