package hosttest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/host"
)

// echo answers every connection with what it reads, and closes it after the
// word "end".
func echo(t *testing.T, network, address string) net.Listener {
	t.Helper()
	l, err := net.Listen(network, address)
	must(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				b := make([]byte, 64<<10)
				for {
					n, err := c.Read(b)
					if err != nil {
						return
					}
					if _, err := c.Write(b[:n]); err != nil || bytes.HasSuffix(b[:n], []byte("end")) {
						return
					}
				}
			}()
		}
	}()
	return l
}

// suiteDial: connections to TCP and unix endpoints as the host sees them.
func suiteDial(t *testing.T, h host.Host) {
	socket := filepath.Join(t.TempDir(), "s")
	tcp := echo(t, "tcp", "127.0.0.1:0").Addr().String()
	echo(t, "unix", socket)
	for network, address := range map[string]string{"tcp": tcp, "unix": socket} {
		t.Run(network, func(t *testing.T) {
			suiteConn(t, h, network, address)
		})
	}
	_, err := h.DialContext(t.Context(), "unix", filepath.Join(t.TempDir(), "none"))
	wantErr(t, err, syscall.ENOENT)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	must(t, l.Close())
	_, err = h.DialContext(t.Context(), "tcp", l.Addr().String())
	wantErr(t, err, syscall.ECONNREFUSED)
}

func suiteConn(t *testing.T, h host.Host, network, address string) {
	ctx, cancel := context.WithCancel(t.Context())
	c, err := h.DialContext(ctx, network, address)
	must(t, err)
	defer c.Close()
	cancel() // bounds connecting only
	if a := c.RemoteAddr(); a.Network() != network || a.String() != address {
		t.Errorf("connected to %s %s, want %s %s", a.Network(), a, network, address)
	}
	// More than any buffer on the way holds.
	data := bytes.Repeat([]byte("0123456789"), 800_000)
	go func() { _, _ = c.Write(data) }()
	got := make([]byte, len(data))
	_, err = io.ReadFull(c, got)
	must(t, err)
	if !bytes.Equal(got, data) {
		t.Fatal("other bytes came back")
	}
	must(t, c.SetReadDeadline(time.Now().Add(30*time.Millisecond)))
	_, err = c.Read(got)
	wantErr(t, err, os.ErrDeadlineExceeded)
	must(t, c.SetReadDeadline(time.Time{}))
	_, err = c.Write([]byte("end"))
	must(t, err)
	rest, err := io.ReadAll(c)
	must(t, err)
	if string(rest) != "end" {
		t.Fatalf("before the end came %q", rest)
	}

	c, err = h.DialContext(t.Context(), network, address)
	must(t, err)
	read := make(chan error, 1)
	go func() { _, err := c.Read(make([]byte, 1)); read <- err }()
	time.Sleep(20 * time.Millisecond)
	must(t, c.Close())
	select {
	case err := <-read:
		wantErr(t, err, net.ErrClosed)
	case <-time.After(await.Limit):
		t.Fatal("closing does not end a read that waits")
	}
	if _, err := c.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Fatalf("write after close: %v", err)
	}
}

// suiteProgram: the program that Program tells runs on the host. The test binary
// is one for host.Local.
func suiteProgram(t *testing.T, h host.Host) {
	path, err := h.Program(t.Context())
	must(t, err)
	s, err := h.Stat(t.Context(), path)
	must(t, err)
	if !s.Mode.IsRegular() || s.Mode.Perm()&0o100 == 0 {
		t.Fatalf("the program %s is %v", path, s.Mode)
	}
	argv := []string{path, "version"}
	if own, err := os.Executable(); err == nil && own == path {
		argv = []string{path, "-test.list", "^TestNone$"}
	}
	r, err := h.Run(t.Context(), host.Command{Argv: argv})
	must(t, err)
	if r.ExitCode != 0 || argv[1] == "version" && strings.TrimSpace(string(r.Stdout)) == "" {
		t.Fatalf("%v ended with %d: %s%s", argv, r.ExitCode, r.Stdout, r.Stderr)
	}
}
