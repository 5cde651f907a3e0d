package load

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"kasoku/internal/await"
)

// everyLoad runs a test on each engine with one and eight users.
func everyLoad(t *testing.T, test func(t *testing.T, e Engine, users int)) {
	var all sync.WaitGroup // they mostly wait
	for _, e := range engines(false) {
		for _, users := range []int{1, 8} {
			all.Go(func() { t.Run(fmt.Sprintf("%s/%d", e, users), func(t *testing.T) { test(t, e, users) }) })
		}
	}
	all.Wait()
}

func listenAt(t *testing.T, network, address string) (l net.Listener) {
	t.Helper()
	await.NoError(t, "a free address", func() (err error) {
		if l, err = net.Listen(network, address); err != nil && !errors.Is(err, syscall.EADDRINUSE) {
			t.Fatal(err)
		}
		return err
	})
	return l
}

// A server that goes away and comes back: errors meanwhile, right answers
// before and after, on TCP and on a unix socket.
func TestServerVanishes(t *testing.T) {
	await.SkipShort(t)
	var all sync.WaitGroup // they mostly wait
	for _, network := range []string{"tcp", "unix"} {
		all.Go(func() {
			t.Run(network, func(t *testing.T) {
				everyLoad(t, func(t *testing.T, e Engine, users int) { vanish(t, network, e, users) })
			})
		})
	}
	all.Wait()
	noUsersLeft(t)
}

func vanish(t *testing.T, network string, e Engine, users int) {
	address, url, words := "127.0.0.1:0", "", "connection refused"
	if network == "unix" {
		address, words = filepath.Join(shortDir(t), "s"), "no such file"
		url = "http+unix://" + address
	}
	l := listenAt(t, network, address)
	if network == "tcp" {
		address, url = l.Addr().String(), "http://"+l.Addr().String()
	}
	var back atomic.Int64 // answers after the return
	s := &peers{open: map[net.Conn]bool{}, times: map[string]int{}}
	var returned atomic.Bool
	s.play = func(p *peer) {
		for p.ask() && p.say(okAnswer) {
			if returned.Load() {
				back.Add(1)
			}
		}
	}
	s.serve(l)
	t.Cleanup(s.end)
	o := Options{Scenario: hostileScenario(t, resting, 10*time.Second), URL: url, Workload: users, Engine: e, Warmup: -1, Window: 3 * time.Second}
	// Progress comes each 250 ms: gone with the first call, back with the third.
	calls := 0
	var gone time.Time
	var absent time.Duration
	o.Progress = func(p Progress) {
		if p.Phase != PhaseMeasure || p.Elapsed < progressEvery/2 {
			return
		}
		switch calls++; calls {
		case 1:
			gone = time.Now()
			l.Close() // removes a unix socket, too
			s.cut()
		case 3:
			again := listenAt(t, network, address)
			absent = time.Since(gone)
			returned.Store(true)
			s.serve(again)
		}
	}
	res := mustRun(t, o)
	if res.Succeeded == 0 || back.Load() == 0 || res.Errors == 0 || res.Mismatches+res.Timeouts > 0 {
		t.Errorf("%v, %d answers after the return", countsOf(res), back.Load())
	}
	// Each user tries about ten times a second, and first each may lose the
	// request under way.
	if most := float64(users) * (2 + 12*absent.Seconds()); float64(res.Errors) > most {
		t.Errorf("%d errors in %s, want at most %.0f", res.Errors, absent, most)
	}
	if !slices.ContainsFunc(res.Samples, func(m Mismatch) bool { return m.Kind == "error" && strings.Contains(m.Got, words) }) {
		t.Errorf("no error says %q: %+v", words, res.Samples)
	}
}

// shortDir is short enough for a unix socket's path.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "kl")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// Nobody listens on the unix socket: errors that say so, no spin.
func TestUnixSocketAbsent(t *testing.T) {
	for name, words := range map[string]string{"absent": "no such file", "left over": "connection refused", "no socket": "connection refused"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(shortDir(t), "s")
			switch name {
			case "left over":
				l := listenAt(t, "unix", path)
				l.(*net.UnixListener).SetUnlinkOnClose(false)
				l.Close()
			case "no socket":
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			everyLoad(t, func(t *testing.T, e Engine, users int) {
				res := mustRun(t, Options{Scenario: hostileScenario(t, okStep, time.Second), URL: "http+unix://" + path, Workload: users, Engine: e, Warmup: -1, Window: 150 * time.Millisecond})
				if res.Errors == 0 || res.Errors > int64(users)*4 || res.Succeeded+res.Mismatches+res.Timeouts > 0 || res.Connects > 0 {
					t.Errorf("%v, %d connects", countsOf(res), res.Connects)
				}
				if len(res.Samples) == 0 || !strings.Contains(res.Samples[0].Got, words) {
					t.Errorf("samples %+v, want %q", res.Samples, words)
				}
			})
		})
	}
}

// A full backlog: TCP connections hang until the time-out. A unix socket says
// at once that it is busy; then trying on and an error are both right.
func TestBacklogFull(t *testing.T) {
	await.SkipShort(t)
	for _, network := range []string{"tcp", "unix"} {
		t.Run(network, func(t *testing.T) {
			url := fullBacklog(t, network)
			everyLoad(t, func(t *testing.T, e Engine, users int) {
				res := mustRun(t, Options{Scenario: hostileScenario(t, okStep, 200*time.Millisecond), URL: url, Workload: users, Engine: e, Warmup: -1, Window: 300 * time.Millisecond})
				if res.Timeouts+res.Errors == 0 || res.Succeeded+res.Mismatches > 0 || network == "tcp" && res.Errors > 0 || res.Errors > int64(users)*5 {
					t.Errorf("%v", countsOf(res))
				}
			})
		})
	}
	noUsersLeft(t)
}

// fullBacklog is a listener whose queue is full and that accepts nobody.
func fullBacklog(t *testing.T, network string) (url string) {
	t.Helper()
	family, address := syscall.AF_INET, syscall.Sockaddr(&syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	if network == "unix" {
		path := filepath.Join(shortDir(t), "s")
		family, address, url = syscall.AF_UNIX, &syscall.SockaddrUnix{Name: path}, "http+unix://"+path
	}
	fd, err := syscall.Socket(family, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := errors.Join(syscall.Bind(fd, address), syscall.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	to := strings.TrimPrefix(url, "http+unix://")
	if network == "tcp" {
		name, err := syscall.Getsockname(fd)
		if err != nil {
			t.Fatal(err)
		}
		to = fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port)
		url = "http://" + to
	}
	for range 3 { // fill it
		d := net.Dialer{Timeout: 50 * time.Millisecond}
		if c, err := d.Dial(network, to); err == nil {
			t.Cleanup(func() { c.Close() })
		}
	}
	return url
}
