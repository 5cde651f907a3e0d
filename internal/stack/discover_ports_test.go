package stack

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"kasoku/internal/host"
)

// ranged is a host whose system gives out the ports from 32768 to 60999.
type ranged struct{ host.Host }

func (r ranged) ReadFile(ctx context.Context, path string) ([]byte, error) {
	if path == freePorts {
		return []byte("32768\t60999\n"), nil
	}
	if filepath.Base(path) == "environ" {
		return []byte("HOME=/\x00METRICS_PORT=40001\x00"), nil
	}
	return r.Host.ReadFile(ctx, path)
}

// A port that the system gave to a program for the time being is another one after a
// restart, so it is nothing that the service must listen at.
func TestPortsOfTheMomentAreNotListen(t *testing.T) {
	d := &discovery{h: ranged{host.NewLocal()}}
	app := &instance{master: &process{procStat: procStat{pid: 7}, cmdline: []string{"java", "-Dadmin=40002", "Main"}}}
	for _, c := range []struct {
		why          string
		listen, want []string
		named        []string
	}{
		{"RMI beside the server", []string{"[::]:8080", "[::]:43083"}, []string{"[::]:8080"}, nil},
		{"nginx passes requests there", []string{"127.0.0.1:43083", "[::]:8080"}, []string{"127.0.0.1:43083", "[::]:8080"}, []string{"127.0.0.1:43083"}},
		{"its environment and its command line say so", []string{"0.0.0.0:40001", "0.0.0.0:40002", "0.0.0.0:8080"}, []string{"0.0.0.0:40001", "0.0.0.0:40002", "0.0.0.0:8080"}, nil},
		{"it has no other", []string{"127.0.0.1:50000"}, []string{"127.0.0.1:50000"}, nil},
		{"sockets with a path have no port", []string{"0.0.0.0:43083", "unix:/run/app.sock"}, []string{"unix:/run/app.sock"}, nil},
	} {
		app.svc.Listen = slices.Clone(c.listen)
		d.settled(t.Context(), app, c.named)
		if !slices.Equal(app.svc.Listen, c.want) {
			t.Errorf("%s: listens at %v, want %v", c.why, app.svc.Listen, c.want)
		}
	}
}

// A socket that only the application's own user may connect to is how it is controlled; one
// that others may use, or that somebody names, is an endpoint.
func TestSocketsOfControlAreNotListen(t *testing.T) {
	dir := t.TempDir()
	socket := func(folder string, mode, folderMode os.FileMode) string {
		at := filepath.Join(dir, folder)
		must(t, os.Mkdir(at, 0o755))
		l, err := net.Listen("unix", filepath.Join(at, "s"))
		must(t, err)
		t.Cleanup(func() { l.Close() })
		must(t, os.Chmod(filepath.Join(at, "s"), mode))
		must(t, os.Chmod(at, folderMode))
		return "unix:" + filepath.Join(at, "s")
	}
	own, hidden, open := socket("own", 0o600, 0o755), socket("hidden", 0o777, 0o700), socket("open", 0o660, 0o750)
	named := socket("named", 0o600, 0o755)
	d := &discovery{h: ranged{host.NewLocal()}}
	app := &instance{master: &process{procStat: procStat{pid: 7}, cmdline: []string{"gunicorn", "--bind", named, "app:app"}}}
	for _, c := range []struct {
		why          string
		listen, want []string
		passed       []string
	}{
		{"beside a port", []string{"127.0.0.1:8000", own, hidden}, []string{"127.0.0.1:8000"}, nil},
		{"others of its group may connect", []string{"127.0.0.1:8000", open}, []string{"127.0.0.1:8000", open}, nil},
		{"the command names it", []string{"127.0.0.1:8000", named}, []string{"127.0.0.1:8000", named}, nil},
		{"a web server passes requests there", []string{"127.0.0.1:8000", own}, []string{"127.0.0.1:8000", own}, []string{own}},
		{"it has no other", []string{own}, []string{own}, nil},
	} {
		app.svc.Listen = slices.Clone(c.listen)
		d.settled(t.Context(), app, c.passed)
		if !slices.Equal(app.svc.Listen, c.want) {
			t.Errorf("%s: listens at %v, want %v", c.why, app.svc.Listen, c.want)
		}
	}
}

// A server on [::] that takes connections of IPv4 is reached at 127.0.0.1; one of IPv6
// alone is not.
func TestFrontDoorOfBothFamilies(t *testing.T) {
	d := &discovery{h: host.NewLocal()}
	for _, only := range []int{0, 1} {
		cfg := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
			return c.Control(func(fd uintptr) {
				if err := syscall.SetsockoptInt(int(fd), syscall.IPPROTO_IPV6, syscall.IPV6_V6ONLY, only); err != nil {
					t.Error(os.NewSyscallError("setsockopt", err))
				}
			})
		}}
		l, err := cfg.Listen(t.Context(), "tcp6", "[::]:0")
		must(t, err)
		defer l.Close()
		port := l.Addr().(*net.TCPAddr).Port
		want := fmt.Sprintf("127.0.0.1:%d", port)
		if only == 1 {
			want = fmt.Sprintf("[::1]:%d", port)
		}
		if got := d.both(t.Context(), fmt.Sprintf("[::1]:%d", port)); got != want {
			t.Errorf("IPV6_V6ONLY %d: the door is %s, want %s", only, got, want)
		}
	}
	if got := d.both(t.Context(), "10.0.0.1:80"); got != "10.0.0.1:80" {
		t.Errorf("another address became %s", got)
	}
}
