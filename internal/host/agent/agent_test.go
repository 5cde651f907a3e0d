package agent

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/host"
	"kasoku/internal/host/hosttest"
)

// alone is a Client as a host.Host, which never connects again.
type alone struct{ *Client }

func (alone) Name() string { return "pipe" }
func (a alone) Lock(ctx context.Context, path string) (func() error, error) {
	return a.Client.Lock(ctx, path, 0)
}
func (a alone) Program(context.Context) (string, error) { return a.Hello().Program, nil }

// pair is a helper in this process and its client.
func pair(t *testing.T) (*Client, <-chan error) {
	t.Helper()
	near, far := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- Serve(t.Context(), far, Options{Version: "v", Nonce: "n"}) }()
	// The greeting is one write of a pipe without buffer.
	b := make([]byte, 4096)
	n, err := near.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	line, ok := strings.CutPrefix(strings.TrimSpace(string(b[:n])), "n ")
	if !ok {
		t.Fatalf("greeting %q", b[:n])
	}
	hello, err := ParseHello(line)
	if err != nil || hello.Version != "v" || hello.Helper.PID != os.Getpid() {
		t.Fatalf("greeting %+v, %v", hello, err)
	}
	c, err := NewClient(near, hello, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c, served
}

func TestContract(t *testing.T) {
	await.SkipShort(t)
	hosttest.Suite(t, func(t *testing.T) host.Host { c, _ := pair(t); return alone{c} })
}

func TestByeEndsServe(t *testing.T) {
	c, served := pair(t)
	if err := c.Bye(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-served:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(await.Limit):
		t.Fatal("the helper goes on after goodbye")
	}
	if _, err := c.Stat(t.Context(), "/"); !errors.Is(err, ErrLost) {
		t.Fatalf("after goodbye: %v", err)
	}
	if _, err := os.Stat(c.Hello().Program); err != nil {
		t.Fatalf("a helper removed a program that is not Kasoku's copy: %v", err)
	}
}

func TestErrorsCross(t *testing.T) {
	for _, want := range []error{
		fs.ErrNotExist, fs.ErrPermission, fs.ErrExist, host.ErrChanged, host.ErrLocked, context.Canceled, context.DeadlineExceeded,
		syscall.ENOSPC, syscall.ELOOP, syscall.EROFS, exec.ErrNotFound,
	} {
		sent := fmt.Errorf("replace f: %w", want)
		var buf bytes.Buffer
		if err := writeFrame(&buf, answer{Done: true, Err: toWire(sent)}); err != nil {
			t.Fatal(err)
		}
		var got answer
		if err := readFrame(&buf, &got); err != nil {
			t.Fatal(err)
		}
		if got.Err == nil || !errors.Is(got.Err, want) || got.Err.Error() != sent.Error() {
			t.Errorf("%v became %v", sent, got.Err)
		}
		if errors.Is(got.Err, fs.ErrClosed) {
			t.Errorf("%v became something else, too", sent)
		}
	}
	if toWire(nil) != nil {
		t.Error("no error became one")
	}
	if !errors.Is(toWire(syscall.ENOENT), fs.ErrNotExist) || !errors.Is(toWire(syscall.EACCES), fs.ErrPermission) {
		t.Error("error numbers lost their meaning")
	}
}

func TestProcessText(t *testing.T) {
	me, err := thisProcess()
	if err != nil {
		t.Fatal(err)
	}
	back, err := ParseProcess(me.String())
	if err != nil || back != me || !me.alive() {
		t.Fatalf("%v became %v, %v", me, back, err)
	}
	for _, other := range []Process{{me.PID, me.Start + 1, me.Boot}, {me.PID, me.Start, "another"}, {1 << 30, 1, me.Boot}} {
		if other.alive() {
			t.Errorf("%v is taken for this process", other)
		}
		if err := other.end(t.Context()); err != nil {
			t.Errorf("end %v, which is gone: %v", other, err)
		}
	}
	for _, bad := range []string{"", "1", "1:2", "x:2:b", "-1:2:b", "0:1:b"} {
		if _, err := ParseProcess(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

// TestStubbornPast: a helper that does not end is killed, and so are the groups
// of its commands.
func TestStubbornPast(t *testing.T) {
	await.SkipShort(t)
	file := filepath.Join(t.TempDir(), "pid")
	// A command in a group of its own, as Run starts it; setsid(1) makes one.
	old := exec.Command("sh", "-c", `trap "" TERM; setsid sh -c 'sleep 300 & echo $! >`+file+`.new; mv `+file+`.new `+file+`; wait' & while :; do sleep 1; done`)
	if err := old.Start(); err != nil {
		t.Fatal(err)
	}
	go old.Wait()
	var b []byte
	await.For(t, "the command to start", func() bool {
		b, _ = os.ReadFile(file)
		return len(b) > 0
	})
	var child int
	fmt.Sscan(string(b), &child)
	st, err := readStat(old.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	me, err := thisProcess()
	if err != nil {
		t.Fatal(err)
	}
	if err := (Process{old.Process.Pid, st.start, me.Boot}).end(t.Context()); err != nil {
		t.Fatal(err)
	}
	await.Gone(t, child)
}

func TestHelloOfAnotherProtocol(t *testing.T) {
	for _, line := range []string{"", "hello", "hello {", `hello {"Protocol":99}`, "arrived /x"} {
		if _, err := ParseHello(line); err == nil {
			t.Errorf("%q was taken", line)
		}
	}
}

// FuzzFrame: no bytes make a frame's reader panic or take memory that was not
// sent.
func FuzzFrame(f *testing.F) {
	var buf bytes.Buffer
	if err := writeFrame(&buf, request{Op: opRun, Command: command{Argv: []string{"x"}}, Body: 3}, []byte("abc")); err != nil {
		f.Fatal(err)
	}
	f.Add(buf.Bytes())
	f.Add(binary.BigEndian.AppendUint32(nil, 1<<31))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bytes.NewReader(b)
		var q request
		if err := readFrame(r, &q); err != nil {
			return
		}
		if body, err := readBody(r, q.Body); err == nil && int64(len(body)) != q.Body {
			t.Fatalf("%d bytes for a body of %d", len(body), q.Body)
		} else if err != nil && err != io.ErrUnexpectedEOF && q.Body >= 0 && q.Body <= maxBody {
			t.Fatalf("body of %d: %v", q.Body, err)
		}
	})
}
