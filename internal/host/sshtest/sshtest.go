// Package sshtest starts a real sshd for tests, with keys, ports and
// configuration of its own. The machine's own ssh is not touched.
package sshtest

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/host/hosttest"
)

// Server is one sshd on 127.0.0.1 and an ssh configuration that reaches it.
type Server struct {
	Destination string // as ssh takes it with ConfigFile
	ConfigFile  string // for ssh -F
	KnownHosts  string // the file that ConfigFile names
	Dir         string // keys, configuration, and sshd's log
	Port        int

	t      testing.TB
	user   string
	config string // sshd's
	cmd    *exec.Cmd
}

// Option changes a Server before it starts.
type Option func(*options)

type options struct {
	user  string
	sshd  []string
	hosts []string
	via   *Server
}

// User logs in as another user than the test's own, which needs root.
func User(name string) Option { return func(o *options) { o.user = name } }

// Sshd adds lines to sshd_config.
func Sshd(lines ...string) Option { return func(o *options) { o.sshd = append(o.sshd, lines...) } }

// Client adds lines to the Host's part of the ssh configuration.
func Client(lines ...string) Option { return func(o *options) { o.hosts = append(o.hosts, lines...) } }

// Via makes ssh go through another Server (ProxyJump).
func Via(s *Server) Option { return func(o *options) { o.via = s } }

// Start starts an sshd, which ends with the test.
func Start(t testing.TB, opts ...Option) *Server {
	t.Helper()
	var o options
	for _, f := range opts {
		f(&o)
	}
	if o.user == "" {
		u, err := user.Current()
		check(t, err, "find the current user")
		o.user = u.Username
	}
	s := &Server{t: t, Dir: folder(t), user: o.user, Port: hosttest.FreePort(t)}
	s.Destination = fmt.Sprintf("kasoku-test-%d", s.Port)
	s.ConfigFile, s.KnownHosts = filepath.Join(s.Dir, "ssh_config"), filepath.Join(s.Dir, "known_hosts")
	s.config = filepath.Join(s.Dir, "sshd_config")
	s.keys()
	s.write(s.config, s.sshdConfig(o.sshd))
	s.write(s.ConfigFile, s.sshConfig(o))
	s.Up()
	t.Cleanup(s.Down)
	return s
}

func check(t testing.TB, err error, what string) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// folder is short and readable by other users, unlike t.TempDir.
func folder(t testing.TB) string {
	dir, err := os.MkdirTemp("", "kasoku-sshd-")
	check(t, err, "make a folder for sshd")
	check(t, os.Chmod(dir, 0o755), "open it to the users who log in")
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func (s *Server) write(path, text string) {
	s.t.Helper()
	check(s.t, os.WriteFile(path, []byte(text), 0o644), "write "+path)
}

// keys makes the host's and the user's, and lets each know the other.
func (s *Server) keys() {
	for _, name := range []string{"host_key", "user_key"} {
		out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", filepath.Join(s.Dir, name)).CombinedOutput()
		check(s.t, err, "make a key (is openssh-client installed?): "+string(out))
	}
	public, err := os.ReadFile(filepath.Join(s.Dir, "user_key.pub"))
	check(s.t, err, "read the user's key")
	s.write(filepath.Join(s.Dir, "authorized_keys"), string(public))
	s.KnowHost()
}

// KnowHost writes the host's present key into known_hosts.
func (s *Server) KnowHost() {
	s.t.Helper()
	public, err := os.ReadFile(filepath.Join(s.Dir, "host_key.pub"))
	check(s.t, err, "read the host's key")
	s.write(s.KnownHosts, fmt.Sprintf("[127.0.0.1]:%d %s", s.Port, public))
}

func (s *Server) sshdConfig(more []string) string {
	lines := append([]string{
		"ListenAddress 127.0.0.1", fmt.Sprint("Port ", s.Port),
		"HostKey " + filepath.Join(s.Dir, "host_key"),
		"AuthorizedKeysFile " + filepath.Join(s.Dir, "authorized_keys"),
		"PidFile none", "UsePAM no", "PasswordAuthentication no", "KbdInteractiveAuthentication no",
		"PermitRootLogin prohibit-password", "StrictModes no", "MaxStartups 100", "MaxSessions 100",
		"PrintMotd no", "UseDNS no",
	}, more...)
	return strings.Join(lines, "\n") + "\n"
}

func (s *Server) sshConfig(o options) string {
	lines := []string{
		"Host " + s.Destination, "HostName 127.0.0.1", fmt.Sprint("Port ", s.Port), "User " + s.user,
		"IdentityFile " + filepath.Join(s.Dir, "user_key"), "IdentitiesOnly yes", "IdentityAgent none",
		"UserKnownHostsFile " + s.KnownHosts, "GlobalKnownHostsFile /dev/null", "UpdateHostKeys no",
	}
	lines = append(lines, o.hosts...)
	text := ""
	if o.via != nil {
		lines = append(lines, "ProxyJump "+o.via.Destination)
		b, err := os.ReadFile(o.via.ConfigFile)
		check(s.t, err, "read the jump host's configuration")
		text = string(b) + "\n"
	}
	return text + strings.Join(lines, "\n    ") + "\n"
}

// Up starts sshd, also again after Down, and waits until it answers.
func (s *Server) Up() {
	s.t.Helper()
	program, err := exec.LookPath("sshd")
	if err != nil {
		program = "/usr/sbin/sshd" // often not in an ordinary user's PATH
	}
	if os.Getuid() == 0 {
		check(s.t, os.MkdirAll("/run/sshd", 0o755), "make sshd's folder")
	}
	log := filepath.Join(s.Dir, "sshd.log")
	s.cmd = exec.Command(program, "-D", "-f", s.config, "-E", log)
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatalf("start sshd: %v; install the package openssh-server (make deps-test)", err)
	}
	said := func() string {
		b, _ := os.ReadFile(log)
		return string(b)
	}
	await.ForOr(s.t, "sshd", said, func() bool { return await.Dial(fmt.Sprint("127.0.0.1:", s.Port)) == nil })
}

// Down ends sshd and cuts all of its connections.
func (s *Server) Down() {
	if s.cmd == nil {
		return
	}
	sessions := s.sessions()
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	s.cmd = nil
	signal(sessions, syscall.SIGCONT)
	signal(sessions, syscall.SIGKILL)
}

// Cut kills the sshd processes of all connections; new ones are answered.
func (s *Server) Cut() { signal(s.sessions(), syscall.SIGKILL) }

// Hang stops all connections as a network does that loses every packet: nothing
// is closed, nothing is answered. New connections are not answered either. The
// returned function lets all go on.
func (s *Server) Hang() (goOn func()) {
	all := append(s.sessions(), s.cmd.Process.Pid)
	signal(all, syscall.SIGSTOP)
	return func() { signal(all, syscall.SIGCONT) }
}

// HangSessions is Hang for the present connections only.
func (s *Server) HangSessions() (goOn func()) {
	all := s.sessions()
	signal(all, syscall.SIGSTOP)
	return func() { signal(all, syscall.SIGCONT) }
}

func signal(pids []int, sig syscall.Signal) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, sig)
	}
}

// sessions are the sshd processes that this sshd started for connections, not
// what they run.
func (s *Server) sessions() []int {
	parents := map[int]int{}
	entries, err := os.ReadDir("/proc")
	check(s.t, err, "list processes")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		b, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(b), "(")
		name, rest, _ := strings.Cut(rest, ")")
		if f := strings.Fields(rest); strings.HasPrefix(name, "sshd") && len(f) > 1 {
			parents[pid], _ = strconv.Atoi(f[1])
		}
	}
	var out []int
	for pid := range parents {
		for p := parents[pid]; p > 1; p = parents[p] {
			if p == s.cmd.Process.Pid {
				out = append(out, pid)
				break
			}
		}
	}
	return out
}
