package stack

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/host"
	"kasoku/internal/host/ssh"
	"kasoku/internal/host/sshtest"
)

// named is this machine under another name.
type named struct {
	*host.Local
	name string
}

func (n named) Name() string { return n.name }

// fakeSSH answers for the destinations of ok, and refuses others, as soon as so
// many are asked together.
func fakeSSH(t *testing.T, together int32, ok ...string) (closed *atomic.Int32) {
	t.Helper()
	closed = &atomic.Int32{}
	var asked atomic.Int32
	all := make(chan struct{})
	real := openSSH
	t.Cleanup(func() { openSSH = real })
	openSSH = func(ctx context.Context, o ssh.Options) (host.Host, func() error, error) {
		if asked.Add(1) == together {
			close(all)
		}
		select {
		case <-all:
		case <-time.After(await.Limit):
			return nil, nil, errors.New("the others were not asked meanwhile")
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
		if !slices.Contains(ok, o.Destination) {
			return nil, nil, errors.New("connection refused")
		}
		return named{host.NewLocal(), o.Name}, func() error { closed.Add(1); return nil }, nil
	}
	return closed
}

func twoHosts() *Stack {
	return &Stack{Hosts: map[string]HostConfig{"web1": {SSH: "root@web"}, "db1": {SSH: "root@db"}, "spare": {SSH: "root@spare"}},
		Services: []Service{{Name: "web", Kind: Nginx, Host: "web1"}, {Name: "php", Kind: PHPFPM, Host: "web1"}, {Name: "db", Kind: MariaDB, Host: "db1"}}}
}

func TestOpenHosts(t *testing.T) {
	closed := fakeSSH(t, 2, "root@web", "root@db")
	hosts, end, err := OpenHosts(context.Background(), twoHosts())
	must(t, err)
	var names []string
	for name, h := range hosts {
		names = append(names, name)
		if h.Name() != name {
			t.Errorf("host %s is called %s", name, h.Name())
		}
	}
	slices.Sort(names)
	if want := []string{"db1", "local", "web1"}; !slices.Equal(names, want) {
		t.Errorf("open are %v, want %v: a host without services need not be reached", names, want)
	}
	must(t, end())
	must(t, end())
	if n := closed.Load(); n != 2 {
		t.Errorf("%d hosts were closed, want each once", n)
	}
}

// Every host that fails is named, and what was opened is closed again.
func TestOpenHostsFails(t *testing.T) {
	closed := fakeSSH(t, 1, "root@web")
	st := twoHosts()
	st.Services = append(st.Services, Service{Name: "cache", Kind: Redis, Host: "spare"})
	_, _, err := OpenHosts(context.Background(), st)
	if err == nil {
		t.Fatal("two hosts refuse and there is no error")
	}
	for _, want := range []string{"open host db1 (ssh root@db)", "open host spare (ssh root@spare)", "connection refused"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
	if n := closed.Load(); n != 1 {
		t.Errorf("%d hosts were closed, want the one that was open", n)
	}
}

func TestFrontHost(t *testing.T) {
	st := twoHosts()
	if f := st.FrontHost(); f != "web1" {
		t.Errorf("front host %q, want that of the first service", f)
	}
	st.Services = append(st.Services, Service{Name: "cache"})
	if f := st.FrontHost(); f != LocalHost {
		t.Errorf("front host %q, want this machine as a service runs here", f)
	}
}

// Paths of a service on another host are not relative to a folder of this one.
func TestRemotePathsAreAbsolute(t *testing.T) {
	text := `version: 1
hosts: {db1: {ssh: root@db1, ssh_config: lab/ssh.conf}}
services:
  - {name: db, kind: mariadb, host: db1, config: /etc/mysql/my.cnf, control: {unit: mariadb}, login: {user: root, password_file: secret}}
load: {scenario: s.yaml, url: "http://127.0.0.1"}
`
	_, err := parse("kasoku.yaml", []byte(text), "/here")
	if err == nil || !strings.Contains(err.Error(), "login.password_file") && !strings.Contains(err.Error(), `"secret" is relative`) {
		t.Fatalf("a relative password_file on another host: %v", err)
	}
	s, err := parse("kasoku.yaml", []byte(strings.Replace(text, "secret", "/etc/db-secret", 1)), "/here")
	must(t, err)
	if got := s.Hosts["db1"].SSHConfig; got != "/here/lab/ssh.conf" {
		t.Errorf("ssh_config is %q", got)
	}
	out, err := s.Render()
	must(t, err)
	again, err := parse("kasoku.yaml", out, "/here")
	must(t, err)
	if again.Hosts["db1"] != s.Hosts["db1"] || again.Service("db").Login.PasswordFile != "/etc/db-secret" {
		t.Errorf("written and read again it differs:\n%s", out)
	}
}

// Over a real sshd. What is sent is the part that serves a controller, as the whole program takes
// a second of CPU for each host (internal/host/ssh sends that). On a machine that is busy all takes
// longer, and no time limit is the subject.
func TestOpenHostsSSH(t *testing.T) {
	await.SkipShort(t)
	server := sshtest.Start(t)
	t.Setenv("KASOKU_PROGRAMS", sshtest.Helper(t))
	real := openSSH
	t.Cleanup(func() { openSSH = real })
	var moves atomic.Int32
	openSSH = func(ctx context.Context, o ssh.Options) (host.Host, func() error, error) {
		o.ConnectTimeout, o.Silence = time.Hour, time.Hour
		moved := o.Moved
		o.Moved = func() { moves.Add(1); moved() }
		return real(context.WithoutCancel(ctx), o)
	}
	st := twoHosts()
	for name := range st.Hosts {
		st.Hosts[name] = HostConfig{SSH: server.Destination, SSHConfig: server.ConfigFile}
	}
	hosts, end, err := OpenHosts(context.Background(), st)
	must(t, err)
	defer func() { must(t, end()) }()
	if _, err := hosts["db1"].ReadFile(context.Background(), "/proc/stat"); err != nil {
		t.Error(err)
	}
	if moves.Load() < 2 {
		t.Errorf("the copy told of itself %d times", moves.Load())
	}
}

// A line on which the copy takes ten minutes is slow; one on which nothing moves for a minute is
// dead, and its error says so.
func TestSlowLine(t *testing.T) {
	real := openSSH
	t.Cleanup(func() { openSSH = real })
	for pieces, works := range map[int]bool{20: true, 3: false} {
		synctest.Test(t, func(t *testing.T) {
			openSSH = func(ctx context.Context, o ssh.Options) (host.Host, func() error, error) {
				for range pieces {
					select {
					case <-time.After(openTimeout / 2):
						o.Moved()
					case <-ctx.Done():
						return nil, nil, ctx.Err()
					}
				}
				if !works {
					<-ctx.Done()
					return nil, nil, ctx.Err()
				}
				return named{host.NewLocal(), o.Name}, func() error { return nil }, nil
			}
			began := time.Now()
			_, _, err := OpenHost(t.Context(), "web", HostConfig{SSH: "root@web"})
			if took := time.Since(began); works && (err != nil || took != 20*openTimeout/2) ||
				!works && (!errors.Is(err, errStill) || took != 3*openTimeout/2+openTimeout) {
				t.Errorf("%d pieces: after %s: %v", pieces, took, err)
			}
		})
	}
}
