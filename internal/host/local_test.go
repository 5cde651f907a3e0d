package host_test

import (
	"context"
	"errors"
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
	"kasoku/internal/host/hosttest"
)

func TestLocal(t *testing.T) {
	await.SkipShort(t)
	hosttest.Suite(t, func(*testing.T) host.Host { return host.NewLocal() })
}

func TestFaultyWithoutFaults(t *testing.T) {
	await.SkipShort(t)
	hosttest.Suite(t, func(*testing.T) host.Host { return hosttest.NewFaulty(host.NewLocal()) })
}

func TestFaulty(t *testing.T) {
	ctx, file := t.Context(), filepath.Join(t.TempDir(), "f")
	h := hosttest.NewFaulty(host.NewLocal())
	h.Arm(hosttest.Fault{Op: hosttest.Replace, N: 2, Err: hosttest.ErrDiskFull})
	h.Arm(hosttest.Fault{Op: hosttest.Run, Match: "false", Exit: 3, Stderr: "no"})
	h.Arm(hosttest.Fault{Op: hosttest.Remove, Cut: true})

	x := host.Replace{Mode: 0o600, UID: -1, GID: -1}
	if err := h.ReplaceFile(ctx, file, []byte("1"), x); err != nil {
		t.Fatal(err)
	}
	if err := h.ReplaceFile(ctx, file, []byte("2"), x); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the second call: %v", err)
	}
	if r, err := h.Run(ctx, host.Command{Argv: []string{"false"}}); err != nil || r.ExitCode != 3 || string(r.Stderr) != "no" {
		t.Fatalf("run: %+v, %v", r, err)
	}
	if err := h.Remove(ctx, file, host.HashOf([]byte("1"))); !errors.Is(err, hosttest.ErrLost) {
		t.Fatalf("cut: %v", err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Fatal("a cut operation must have happened")
	}
	if h.Hits() != 3 || h.Calls(hosttest.Replace) != 2 {
		t.Fatalf("%d hits, %d calls", h.Hits(), h.Calls(hosttest.Replace))
	}
}

// TestMain lets the test binary be the process that holds a lock or runs a
// command when it is killed.
func TestMain(m *testing.M) {
	switch os.Getenv("KASOKU_TEST_CHILD") {
	case "lock":
		unlock, err := host.NewLocal().Lock(context.Background(), os.Args[1])
		if err != nil {
			os.Exit(1)
		}
		defer unlock()
		os.Stdout.WriteString("locked\n")
		select {}
	case "run":
		host.NewLocal().Run(context.Background(), host.Command{Argv: []string{"sh", "-c", "echo $$ >" + os.Args[1] + "; exec sleep 300"}, Timeout: time.Hour})
	}
	os.Exit(m.Run())
}

// TestLockSurvivesNobody: a killed holder leaves no lock behind.
func TestLockSurvivesNobody(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lock")
	child := exec.Command(os.Args[0], file)
	child.Env = append(os.Environ(), "KASOKU_TEST_CHILD=lock")
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 7)
	if _, err := out.Read(line); err != nil {
		t.Fatal(err)
	}
	h := host.NewLocal()
	_, err = h.Lock(t.Context(), file)
	if !errors.Is(err, host.ErrLocked) || !strings.Contains(err.Error(), "process "+strconv.Itoa(child.Process.Pid)) {
		t.Fatalf("a lock that another process holds: %v", err)
	}
	child.Process.Kill()
	child.Wait()
	unlock, err := h.Lock(t.Context(), file)
	if err != nil {
		t.Fatalf("after the holder was killed: %v", err)
	}
	unlock()
}

// TestRunDiesWithKasoku: a command does not go on when Kasoku is killed, or it
// would race with the recovery.
func TestRunDiesWithKasoku(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	child := exec.Command(os.Args[0], file)
	child.Env = append(os.Environ(), "KASOKU_TEST_CHILD=run")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	pid := 0
	await.For(t, "the child's number", func() bool {
		b, _ := os.ReadFile(file)
		pid, _ = strconv.Atoi(strings.TrimSpace(string(b)))
		return pid > 0
	})
	child.Process.Kill()
	child.Wait()
	await.For(t, "the child's death", func() bool {
		b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		return err != nil || strings.Contains(string(b), ") Z ")
	})
}

// TestReplaceKeepsAccessList: a POSIX access control list is an extended
// attribute whose mask chmod would change.
func TestReplaceKeepsAccessList(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, []byte("1"), 0o640); err != nil {
		t.Fatal(err)
	}
	// Version 2; owner rw-, user 33 r--, group r--, mask r--, others ---.
	acl := []byte("\x02\x00\x00\x00" + "\x01\x00\x06\x00\xff\xff\xff\xff" + "\x02\x00\x04\x00\x21\x00\x00\x00" +
		"\x04\x00\x04\x00\xff\xff\xff\xff" + "\x10\x00\x04\x00\xff\xff\xff\xff" + "\x20\x00\x00\x00\xff\xff\xff\xff")
	if err := syscall.Setxattr(file, "system.posix_acl_access", acl, 0); errors.Is(err, syscall.ENOTSUP) {
		t.Log("not judged: this file system has no access control lists")
		return
	} else if err != nil {
		t.Fatal(err)
	}
	if err := host.NewLocal().ReplaceFile(t.Context(), file, []byte("2"), host.Replace{Expect: host.HashOf([]byte("1"))}); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 100)
	n, err := syscall.Getxattr(file, "system.posix_acl_access", got)
	if err != nil || string(got[:n]) != string(acl) {
		t.Fatalf("access list %x, %v; want %x", got[:max(n, 0)], err, acl)
	}
}
