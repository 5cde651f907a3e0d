package ssh_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/host"
	"kasoku/internal/host/ssh"
	"kasoku/internal/host/sshtest"
)

// group is a command that starts a child and never ends; both are in one
// process group.
type group struct {
	file string
	err  chan error
}

func start(t *testing.T, h host.Host) *group {
	t.Helper()
	g := &group{file: filepath.Join(t.TempDir(), "pids"), err: make(chan error, 1)}
	go func() {
		_, err := h.Run(t.Context(), g.command())
		g.err <- err
	}()
	g.pids(t)
	return g
}

func (g *group) command() host.Command {
	return host.Command{Argv: []string{"sh", "-c", "sleep 300 & echo $! $$ >" + g.file + ".new; mv " + g.file + ".new " + g.file + "; wait"}, Timeout: time.Hour}
}

func (g *group) pids(t *testing.T) []int {
	t.Helper()
	var out []int
	await.For(t, "the command's start", func() bool {
		b, err := os.ReadFile(g.file)
		for _, f := range strings.Fields(string(b)) {
			pid, _ := strconv.Atoi(f)
			out = append(out, pid)
		}
		return err == nil
	})
	return out
}

func (g *group) wantDead(t *testing.T) {
	t.Helper()
	for _, pid := range g.pids(t) {
		await.For(t, fmt.Sprint("the death of process ", pid), func() bool { return !alive(pid) })
	}
}

func (g *group) wantLost(t *testing.T) {
	t.Helper()
	select {
	case err := <-g.err:
		if !errors.Is(err, ssh.ErrLost) || !strings.Contains(err.Error(), "host web1: ") {
			t.Fatalf("a command whose connection is lost: %v", err)
		}
	case <-time.After(await.Limit):
		t.Fatal("a command whose connection is lost does not return")
	}
}

func alive(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	state := b[bytes.LastIndexByte(b, ')')+2]
	return state != 'Z' && state != 'X'
}

func TestCutInRun(t *testing.T) {
	await.SkipShort(t)
	s := sshtest.Start(t)
	h := open(t, s)
	path, err := h.Program(t.Context())
	must(t, err)
	before, err := os.Stat(path)
	must(t, err)
	g := start(t, h)
	s.Cut()
	g.wantLost(t)
	wantRuns(t, h)
	g.wantDead(t)
	if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
		t.Errorf("the program was copied again, or is gone: %v", err)
	}
	must(t, h.Close())
	wantEmpty(t, filepath.Dir(path))
}

// TestHelperKilled: the far side's helper dies without a word.
func TestHelperKilled(t *testing.T) {
	await.SkipShort(t)
	h := open(t, sshtest.Start(t))
	file := filepath.Join(t.TempDir(), "lock")
	unlock, err := h.Lock(t.Context(), file)
	must(t, err)
	r, err := h.Run(t.Context(), host.Command{Argv: []string{"sh", "-c", "echo $PPID"}})
	must(t, err)
	helper, err := strconv.Atoi(strings.TrimSpace(string(r.Stdout)))
	must(t, err)
	g := &group{file: filepath.Join(t.TempDir(), "pids"), err: make(chan error, 1)}
	go func() {
		_, err := h.Run(t.Context(), host.Command{Argv: []string{"sh", "-c", "echo $$ >" + g.file + ".new; mv " + g.file + ".new " + g.file + "; exec sleep 300"}, Timeout: time.Hour})
		g.err <- err
	}()
	g.pids(t)
	must(t, syscall.Kill(helper, syscall.SIGKILL))
	g.wantLost(t)
	g.wantDead(t)
	wantRuns(t, h)
	if _, err := host.NewLocal().Lock(t.Context(), file); !errors.Is(err, host.ErrLocked) {
		t.Fatalf("the lock on the new connection: %v", err)
	}
	must(t, unlock())
}

// TestPastEndsFirst: the far side does not see that the connection is gone, but
// what ran there ends before the next connection is used.
func TestPastEndsFirst(t *testing.T) {
	await.SkipShort(t)
	s := sshtest.Start(t)
	h := open(t, s, func(o *ssh.Options) { o.Silence = 10 * time.Minute })
	g := start(t, h)
	goOn := s.HangSessions()
	defer goOn()
	must(t, syscall.Kill(h.Ssh(), syscall.SIGKILL))
	g.wantLost(t)
	for _, pid := range g.pids(t) {
		if !alive(pid) {
			t.Fatal("the command ended by itself; this test shows nothing")
		}
	}
	if _, err := h.Stat(t.Context(), "/"); err != nil {
		t.Fatal(err)
	}
	for _, pid := range g.pids(t) {
		if alive(pid) {
			t.Fatalf("process %d of the lost connection lives while the new one is used", pid)
		}
	}
}

// TestHungNetwork: both sides notice, and the command ends.
func TestHungNetwork(t *testing.T) {
	await.SkipShort(t)
	s := sshtest.Start(t)
	h := open(t, s, func(o *ssh.Options) { o.Silence = 3 * time.Second })
	g := start(t, h)
	defer s.HangSessions()()
	g.wantLost(t)
	g.wantDead(t)
	wantRuns(t, h)
}

// TestCutInReplace: whenever the connection is cut, the file is replaced once,
// and nothing else is left.
func TestCutInReplace(t *testing.T) {
	await.SkipShort(t)
	s := sshtest.Start(t)
	h := open(t, s)
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	content := func(i int) []byte { return bytes.Repeat([]byte{byte('a' + i%26)}, 3<<20) }
	must(t, os.WriteFile(file, content(0), 0o640))
	when := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	rounds := 10 // each takes a second to connect again
	if os.Getenv("LONG") != "" {
		rounds = 25
	} else if testing.Short() {
		rounds = 5
	}
	for i := range rounds {
		delay := time.Duration(rand.IntN(40_000)) * time.Microsecond
		cut := time.AfterFunc(delay, s.Cut)
		err := h.ReplaceFile(t.Context(), file, content(i+1), host.Replace{Expect: host.HashOf(content(i)), ModTime: when})
		cut.Stop()
		if err != nil {
			t.Fatalf("replaced %d, cut after %s: %v", i, delay, err)
		}
		got, err := os.ReadFile(file)
		if err != nil || !bytes.Equal(got, content(i+1)) {
			t.Fatalf("after replacing %d, cut after %s: %d bytes of %.1s, %v", i, delay, len(got), got, err)
		}
		info, err := os.Stat(file)
		must(t, err)
		if info.Mode() != 0o640 || !info.ModTime().Equal(when) {
			t.Fatalf("mode %v, time %v", info.Mode(), info.ModTime())
		}
	}
	await.For(t, "temporary files to go", func() bool {
		entries, err := os.ReadDir(dir)
		return err == nil && len(entries) == 1
	})
	if err := h.ReplaceFile(t.Context(), file, nil, host.Replace{Expect: host.HashOf([]byte("other"))}); !errors.Is(err, host.ErrChanged) {
		t.Fatalf("another hash: %v", err)
	}
}

func TestCutInRead(t *testing.T) {
	await.SkipShort(t)
	s := sshtest.Start(t)
	h := open(t, s)
	file := filepath.Join(t.TempDir(), "big")
	data := bytes.Repeat([]byte("0123456789abcdef"), 4<<20)
	must(t, os.WriteFile(file, data, 0o644))
	cut := time.AfterFunc(20*time.Millisecond, s.Cut)
	defer cut.Stop()
	got, err := h.ReadFile(t.Context(), file)
	must(t, err)
	if !bytes.Equal(got, data) {
		t.Fatalf("%d bytes came back", len(got))
	}
}

// TestAway: a host that does not come back within patience is told so, and is
// used again when it does.
func TestAway(t *testing.T) {
	await.SkipShort(t)
	s := sshtest.Start(t)
	h := open(t, s)
	s.Down()
	waitLost(t, h)
	_, err := h.Stat(t.Context(), "/")
	if !errors.Is(err, ssh.ErrLost) || !errors.Is(err, ssh.ErrUnreachable) || !strings.Contains(err.Error(), "tried 3 times") {
		t.Fatalf("a host that is down: %v", err)
	}
	s.Up()
	wantRuns(t, h)
}

func TestCutConnection(t *testing.T) {
	s := sshtest.Start(t)
	h := open(t, s)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	c, err := h.DialContext(t.Context(), "tcp", l.Addr().String())
	must(t, err)
	far, err := l.Accept()
	must(t, err)
	s.Cut()
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, ssh.ErrLost) {
		t.Fatalf("read: %v", err)
	}
	must(t, far.SetReadDeadline(time.Now().Add(20*time.Second)))
	if _, err := far.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("the far end was not closed: %v", err)
	}
}

func TestCloseEndsAll(t *testing.T) {
	s := sshtest.Start(t)
	h := open(t, s)
	path, err := h.Program(t.Context())
	must(t, err)
	g := start(t, h)
	// What would wait for its other end does not hold up the goodbye.
	_, err = h.Lock(t.Context(), filepath.Join(t.TempDir(), "lock"))
	must(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	_, err = h.DialContext(t.Context(), "tcp", l.Addr().String())
	must(t, err)
	must(t, h.Close())
	for _, pid := range g.pids(t) {
		if alive(pid) {
			t.Errorf("process %d lives after Close", pid)
		}
	}
	if err := <-g.err; err == nil {
		t.Error("Run succeeded")
	}
	if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
		t.Errorf("after Close: %v", err)
	}
}

// TestMain lets the test binary be a controller that is killed.
func TestMain(m *testing.M) {
	if os.Getenv("KASOKU_TEST_CONTROLLER") != "" {
		o := ssh.Options{Name: "web1", Destination: os.Args[1], ConfigFile: os.Args[2], Programs: os.Args[3], Folder: os.Args[4]}
		h, err := ssh.OpenWith(context.Background(), o, 100*time.Millisecond, nil)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		_, err = h.Run(context.Background(), (&group{file: os.Args[5]}).command())
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// TestControllerKilled: nothing that it ran lives on, and the program goes.
func TestControllerKilled(t *testing.T) {
	await.SkipShort(t)
	s := sshtest.Start(t)
	o := options(t, s)
	g := &group{file: filepath.Join(t.TempDir(), "pids")}
	child := exec.Command(os.Args[0], o.Destination, o.ConfigFile, o.Programs, o.Folder, g.file)
	child.Env, child.Stderr = append(os.Environ(), "KASOKU_TEST_CONTROLLER=1"), os.Stderr
	must(t, child.Start())
	g.pids(t)
	must(t, child.Process.Kill())
	_ = child.Wait()
	g.wantDead(t)
	wantEmpty(t, o.Folder)
}

// flip changes one byte of what it reads.
type flip struct {
	r  io.Reader
	at int64
}

func (f *flip) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if f.at >= 0 && f.at < int64(n) {
		p[f.at] ^= 1
	}
	f.at -= int64(n)
	return n, err
}

// TestDamagedOnTheWay: a program that is not what was sent is never run.
func TestDamagedOnTheWay(t *testing.T) {
	await.SkipShort(t)
	s := sshtest.Start(t)
	o := options(t, s)
	for _, at := range []int64{0, 500_000} {
		_, err := ssh.OpenWith(t.Context(), o, 0, func(r io.Reader) io.Reader { return &flip{r, at} })
		if !errors.Is(err, ssh.ErrProgram) || !strings.Contains(err.Error(), "did not arrive as it was sent") {
			t.Fatalf("byte %d changed: %v", at, err)
		}
		wantEmpty(t, o.Folder)
	}
}

func TestDiskFull(t *testing.T) {
	await.SkipShort(t)
	if os.Getuid() != 0 {
		t.Skip("mounting a file system needs root")
	}
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=1m", "kasoku-test", dir).CombinedOutput(); err != nil {
		t.Skipf("this machine does not let root mount: %s", out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", dir).Run() })
	s := sshtest.Start(t)
	h := open(t, s)
	err := h.ReplaceFile(t.Context(), filepath.Join(dir, "f"), make([]byte, 2<<20), host.Replace{Mode: 0o600, UID: -1, GID: -1})
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "no space left on device") {
		t.Fatalf("a full disk: %v", err)
	}
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) > 0 {
		t.Fatalf("left behind: %v", entries)
	}
	o := options(t, s)
	o.Folder = filepath.Join(dir, "programs")
	wantFault(t, o, ssh.ErrProgram, "No space left on device")
	wantEmpty(t, o.Folder)
}

// TestSecretsAreNotInArguments: what goes to a command by its environment or
// standard input is in no process's arguments.
func TestSecretsAreNotInArguments(t *testing.T) {
	await.SkipShort(t)
	h := open(t, sshtest.Start(t))
	const secret = "planted-4c1f9e"
	found := make(chan string, 1)
	_, err := h.Run(t.Context(), host.Command{
		Argv: []string{"sleep", "0.2"}, Env: []string{"MYSQL_PWD=" + secret}, Stdin: []byte(secret),
		Started: func(int) {
			entries, _ := os.ReadDir("/proc")
			for _, e := range entries {
				if b, err := os.ReadFile("/proc/" + e.Name() + "/cmdline"); err == nil && bytes.Contains(b, []byte(secret)) {
					found <- string(b)
					return
				}
			}
			found <- ""
		},
	})
	must(t, err)
	if args := <-found; args != "" {
		t.Fatalf("in the arguments of a process: %q", args)
	}
}
