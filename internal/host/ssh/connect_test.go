package ssh_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/host"
	"kasoku/internal/host/ssh"
	"kasoku/internal/host/sshtest"
)

// wantFault opens a host that must not open, and checks what is told.
func wantFault(t *testing.T, o ssh.Options, is error, says ...string) {
	t.Helper()
	h, err := ssh.Open(t.Context(), o)
	if err == nil {
		h.Close()
		t.Fatal("opened")
	}
	if !errors.Is(err, is) {
		t.Fatalf("error %v, want %v", err, is)
	}
	for _, s := range append(says, "host "+o.Name+": ") {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("the error does not say %q:\n%v", s, err)
		}
	}
}

func TestUnknownKey(t *testing.T) {
	s := sshtest.Start(t)
	must(t, os.Remove(s.KnownHosts))
	wantFault(t, options(t, s), ssh.ErrHostKey, "No ED25519 host key is known", "compare the fingerprint")
	// Not even a configuration that trusts everybody is followed.
	trusting := sshtest.Start(t, sshtest.Client("StrictHostKeyChecking no"))
	must(t, os.Remove(trusting.KnownHosts))
	wantFault(t, options(t, trusting), ssh.ErrHostKey)
}

func TestUnknownKeyOfJumpHost(t *testing.T) {
	jump := sshtest.Start(t)
	s := sshtest.Start(t, sshtest.Via(jump))
	must(t, os.Remove(jump.KnownHosts))
	wantFault(t, options(t, s), ssh.ErrHostKey, "Host key verification failed")
}

// TestCtrlC: the terminal's signal goes to Kasoku's process group only, and ssh
// must live until everything is put back.
func TestCtrlC(t *testing.T) {
	h := open(t, sshtest.Start(t))
	if group, err := syscall.Getpgid(h.Ssh()); err != nil || group != h.Ssh() {
		t.Fatalf("ssh is in process group %d, %v; want one of its own", group, err)
	}
}

func TestChangedKey(t *testing.T) {
	s := sshtest.Start(t)
	must(t, os.Remove(filepath.Join(s.Dir, "host_key")))
	out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(s.Dir, "host_key")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s.Down()
	s.Up()
	wantFault(t, options(t, s), ssh.ErrHostKey, "REMOTE HOST IDENTIFICATION HAS CHANGED", "shows another key than before", "ssh-keygen -R")
	s.KnowHost()
	open(t, s)
}

func TestRefusedLogin(t *testing.T) {
	s := sshtest.Start(t)
	must(t, os.WriteFile(filepath.Join(s.Dir, "authorized_keys"), nil, 0o644))
	wantFault(t, options(t, s), ssh.ErrRefused, "Permission denied (publickey)", "BatchMode=yes "+s.Destination)
}

func TestUnreachable(t *testing.T) {
	s := sshtest.Start(t)
	s.Down()
	wantFault(t, options(t, s), ssh.ErrUnreachable, "Connection refused")
	o := options(t, s)
	o.Destination = "no-such-host.invalid"
	wantFault(t, o, ssh.ErrUnreachable, "Could not resolve")
	o.Destination = "-oProxyCommand=false"
	if _, err := ssh.Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), "is no ssh destination") {
		t.Fatalf("an option as destination: %v", err)
	}
}

// TestSilentServer: a server that takes the connection and says nothing.
func TestSilentServer(t *testing.T) {
	await.SkipShort(t)
	s := sshtest.Start(t)
	defer s.Hang()()
	o := options(t, s)
	o.ConnectTimeout = time.Second
	wantFault(t, o, ssh.ErrUnreachable, "timed out")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := ssh.Open(ctx, options(t, s)); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("the caller's time limit: %v", err)
	}
}

// fakeUname lets the target be another machine than it is.
func fakeUname(t *testing.T, says string) sshtest.Option {
	dir := t.TempDir()
	must(t, os.Chmod(filepath.Dir(dir), 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "uname"), []byte("#!/bin/sh\necho "+says+"\n"), 0o755))
	return sshtest.Sshd("SetEnv PATH=" + dir + ":/usr/bin:/bin")
}

func TestWrongMachine(t *testing.T) {
	await.SkipShort(t)
	for says, want := range map[string]string{
		"Linux aarch64": "the target is linux/arm64",
		"Linux vax":     `machine "vax" is none that Kasoku is built for`,
		"FreeBSD amd64": "runs FreeBSD",
	} {
		s := sshtest.Start(t, fakeUname(t, says))
		o := options(t, s)
		o.Programs = t.TempDir()
		wantFault(t, o, ssh.ErrProgram, want)
	}
}

// TestWrongProgram: what would not run on the target is not sent there.
func TestWrongProgram(t *testing.T) {
	await.SkipShort(t)
	s := sshtest.Start(t)
	o := options(t, s)
	o.Programs = t.TempDir()
	name := filepath.Join(o.Programs, "kasoku-linux-"+runtime.GOARCH)

	source := filepath.Join(t.TempDir(), "main.go")
	must(t, os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o644))
	build := exec.Command("go", "build", "-o", name, source)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=riscv64")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	wantFault(t, o, ssh.ErrProgram, "is for EM_RISCV")

	shell, err := os.ReadFile("/bin/sh")
	must(t, err)
	must(t, os.WriteFile(name, shell, 0o755))
	wantFault(t, o, ssh.ErrProgram, "is not static")

	must(t, os.WriteFile(name, []byte("#!/bin/sh\n"), 0o755))
	wantFault(t, o, ssh.ErrProgram, "is no Linux program")

	o = options(t, s)
	o.Version = "another"
	wantFault(t, o, ssh.ErrProgram, "is version dev, this program another")
	wantEmpty(t, o.Folder)
}

// wantEmpty fails if the folder with the target's programs is still there.
func wantEmpty(t *testing.T, dir string) {
	t.Helper()
	await.For(t, dir+" to be removed", func() bool { _, err := os.Lstat(dir); return os.IsNotExist(err) })
}

func TestNoexec(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("mounting a file system needs root")
	}
	home := t.TempDir()
	must(t, os.Chmod(filepath.Dir(home), 0o755))
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "noexec,mode=0700", "kasoku-test", home).CombinedOutput(); err != nil {
		t.Skipf("this machine does not let root mount: %s", out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", home).Run() })
	s := sshtest.Start(t, sshtest.Sshd("SetEnv HOME="+home))

	o := options(t, s)
	o.Folder = home + "/programs"
	wantFault(t, o, ssh.ErrProgram, "programs may not be run there (noexec)")

	o.Folder = "" // the next place serves
	h, err := ssh.Open(t.Context(), o)
	must(t, err)
	path, err := h.Program(t.Context())
	must(t, err)
	if strings.HasPrefix(path, home) || !strings.HasPrefix(path, "/var/tmp/kasoku-") {
		t.Errorf("the program is at %s", path)
	}
	must(t, h.Close())
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the program is still there: %v", err)
	}
	left, err := os.ReadDir(home)
	must(t, err)
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestNoisyLogin: a shell whose start-up files print does not disturb.
func TestNoisyLogin(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Chmod(filepath.Dir(dir), 0o755))
	noisy := filepath.Join(dir, "noisy")
	must(t, os.WriteFile(noisy, []byte("#!/bin/sh\necho Welcome; printf 'kasoku-00 no newline'; echo warning >&2\nexec $SSH_ORIGINAL_COMMAND\n"), 0o755))
	h := open(t, sshtest.Start(t, sshtest.Sshd("ForceCommand "+noisy)))
	wantRuns(t, h)
}

func wantRuns(t *testing.T, h host.Host) {
	t.Helper()
	r, err := h.Run(t.Context(), host.Command{Argv: []string{"echo", "here"}})
	if err != nil || string(r.Stdout) != "here\n" {
		t.Fatalf("%q, %v", r.Stdout, err)
	}
}

// TestSmallCalls: the cost of one call is a round trip, not a login: all go through
// the one ssh that was started, and it starts nothing at the other end.
func TestSmallCalls(t *testing.T) {
	h := open(t, sshtest.Start(t))
	file := filepath.Join(t.TempDir(), "f")
	must(t, os.WriteFile(file, bytes.Repeat([]byte("x"), 1000), 0o644))
	r, err := h.Run(t.Context(), host.Command{Argv: []string{"sh", "-c", "echo $PPID"}})
	must(t, err)
	// What a process's ended children used, and how many page faults they had
	// (cminflt, cmajflt, cutime, cstime; proc_pid_stat(5)): it changes with each child.
	children := func() []string {
		text, err := os.ReadFile("/proc/" + strings.TrimSpace(string(r.Stdout)) + "/stat")
		must(t, err)
		f := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		return []string{f[8], f[10], f[13], f[14]}
	}
	await.For(t, "the shell's end to be seen", func() bool { return children()[0] != "0" })
	ssh, before := h.Ssh(), children()
	for range 40 {
		_, err := h.ReadFile(t.Context(), file)
		must(t, err)
	}
	if after := children(); h.Ssh() != ssh || !slices.Equal(after, before) {
		t.Fatalf("ssh was process %d, then %d; of the helper's children it was told %v, then %v", ssh, h.Ssh(), before, after)
	}
}

// TestOpenIsQuickTheSecondTime: the same program is not sent again.
func TestProgramIsReused(t *testing.T) {
	await.SkipShort(t)
	s := sshtest.Start(t)
	first := open(t, s)
	path, err := first.Program(t.Context())
	must(t, err)
	before, err := os.Stat(path)
	must(t, err)
	second, err := ssh.Open(t.Context(), options(t, s))
	must(t, err)
	after, err := os.Stat(path)
	must(t, err)
	if !os.SameFile(before, after) {
		t.Error("the program was copied a second time")
	}
	must(t, second.Close())
	if _, err := os.Stat(path); err != nil {
		t.Errorf("another helper still runs the program: %v", err)
	}
	wantRuns(t, first)

	// One that was damaged since is not run.
	must(t, first.Keep(t.Context()))
	must(t, first.Close())
	must(t, os.WriteFile(path, []byte("#!/bin/sh\necho hacked\n"), 0o700))
	third := open(t, s)
	wantRuns(t, third)
	info, err := os.Stat(path)
	must(t, err)
	if info.Size() != before.Size() {
		t.Errorf("the program has %d bytes, want %d", info.Size(), before.Size())
	}
	must(t, third.Discard(t.Context()))
}

// beside opens another host before the first byte is read.
type beside struct {
	io.Reader
	open func()
}

func (b *beside) Read(p []byte) (int, error) {
	if b.open != nil {
		b.open()
		b.open = nil
	}
	return b.Reader.Read(p)
}

// Where two controllers send the program at once, the one that arrives last must not take
// the place of the one that is run: that one's end would remove the other's.
func TestTwoSendTheProgramAtOnce(t *testing.T) {
	await.SkipShort(t)
	s := sshtest.Start(t)
	var other *ssh.Host
	h, err := ssh.OpenWith(t.Context(), options(t, s), time.Minute, func(r io.Reader) io.Reader {
		return &beside{r, func() {
			var err error
			if other, err = ssh.Open(t.Context(), options(t, s)); err != nil {
				t.Fatal(err)
			}
		}}
	})
	must(t, err)
	path, err := other.Program(t.Context())
	must(t, err)
	must(t, h.Close())
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the program of one that goes on: %v", err)
	}
	must(t, other.Close())
	if _, err := os.Stat(path); err == nil {
		t.Error("the program stays when the last one has ended")
	}
}

func TestKeep(t *testing.T) {
	await.SkipShort(t)
	s := sshtest.Start(t)
	h, err := ssh.Open(t.Context(), options(t, s))
	must(t, err)
	path, err := h.Program(t.Context())
	must(t, err)
	must(t, h.Keep(t.Context()))
	must(t, h.Close())
	if out, err := exec.Command(path, "version").CombinedOutput(); err != nil || len(out) == 0 {
		t.Fatalf("the kept program: %s, %v", out, err)
	}
	h, err = ssh.Open(t.Context(), options(t, s))
	must(t, err)
	must(t, h.Discard(t.Context()))
	must(t, h.Close())
	wantEmpty(t, filepath.Dir(path))
	if _, err := h.Stat(t.Context(), "/"); !errors.Is(err, ssh.ErrClosed) {
		t.Fatalf("after Close: %v", err)
	}
	must(t, h.Close())
}

// TestSudo: an ordinary user whose helper runs as root.
func TestSudo(t *testing.T) {
	await.SkipShort(t)
	if os.Getuid() != 0 {
		t.Skip("making a user needs root")
	}
	name := fmt.Sprintf("kasoku%d", os.Getpid())
	if out, err := exec.Command("useradd", "--create-home", "--shell", "/bin/sh", "--password", "*", name).CombinedOutput(); err != nil {
		t.Fatalf("make a user: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("userdel", "--force", "--remove", name).Run() })
	s := sshtest.Start(t, sshtest.User(name))
	o := options(t, s)
	o.Folder = "" // in the user's home

	h, err := ssh.Open(t.Context(), o)
	must(t, err)
	if _, err := h.ReadFile(t.Context(), "/etc/shadow"); !errors.Is(err, os.ErrPermission) {
		t.Fatalf("an ordinary user reads a secret file: %v", err)
	}
	must(t, h.Close())

	o.Sudo = true
	wantFault(t, o, ssh.ErrRefused, "a password is required", "without a password")

	rule := "/etc/sudoers.d/" + name
	must(t, os.WriteFile(rule, []byte("Defaults:"+name+" use_pty\n"+name+" ALL=(ALL) NOPASSWD: ALL\n"), 0o440))
	t.Cleanup(func() { os.Remove(rule) })
	h, err = ssh.Open(t.Context(), o)
	must(t, err)
	if _, err := h.ReadFile(t.Context(), "/etc/shadow"); err != nil {
		t.Fatalf("with sudo: %v", err)
	}
	r, err := h.Run(t.Context(), host.Command{Argv: []string{"id", "-u"}})
	if err != nil || string(r.Stdout) != "0\n" {
		t.Fatalf("the helper's user: %q, %v", r.Stdout, err)
	}
	path, err := h.Program(t.Context())
	must(t, err)
	if !strings.HasPrefix(path, "/home/"+name+"/.") {
		t.Errorf("the program is at %s", path)
	}
	must(t, h.Close())
	wantEmpty(t, filepath.Dir(path))
}
