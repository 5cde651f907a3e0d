package topology_test

import (
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/await"
	"kasoku/internal/change"
	"kasoku/internal/host"
	"kasoku/internal/host/ssh"
	"kasoku/internal/host/sshtest"
	"kasoku/internal/remedy"
)

// Environment of the process that is killed while it moves the database.
const (
	victimDir  = "KASOKU_APART_DIR" // its folder, with the changes
	victimStep = "KASOKU_APART_STEP"
	victimSSH  = "KASOKU_APART_SSH"
	guarded    = "KASOKU_APART_GUARDED"
)

// silentFor is how long the guards of these tests wait for Kasoku.
const silentFor = 6 * time.Second

// TestApartVictim is that process.
func TestApartVictim(t *testing.T) {
	dir := os.Getenv(victimDir)
	if dir == "" {
		t.Skip("it is what TestDatabaseApartKilled starts")
	}
	s := &shop{dir: filepath.Dir(dir), site: site{t: t, hosts: map[string]host.Host{}, stack: shopStack(filepath.Dir(dir))}}
	for _, name := range []string{"h1", "h2"} {
		c, err := ssh.Open(t.Context(), ssh.Options{Name: name, Destination: name, ConfigFile: os.Getenv(victimSSH), Programs: sshtest.Programs(t)})
		if err != nil {
			t.Fatal(err)
		}
		s.hosts[name] = c
	}
	f, err := os.Open(filepath.Join(dir, "changes"))
	if err != nil {
		t.Fatal(err)
	}
	var changes []change.Change
	if err := gob.NewDecoder(f).Decode(&changes); err != nil {
		t.Fatal(err)
	}
	x := s.open(filepath.Base(dir), func(o *change.Options) {
		if os.Getenv(guarded) != "" {
			o.Target = &change.TargetOptions{Name: "shop", RevertAfter: silentFor}
		}
		o.Trace = func(step string) {
			fmt.Printf("step %s\n", step)
			if strings.HasSuffix(step, os.Getenv(victimStep)) {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		}
	})
	if _, err := x.Apply(t.Context(), change.Intent{Title: "switch", Plan: "apart", Changes: changes}); err != nil {
		t.Fatal(err)
	}
	t.Fatalf("it was not killed before %s", os.Getenv(victimStep))
}

// killed starts the switch in a folder and kills it before a step. The returned
// steps are those that it came to.
func (s *shop) killed(name, step string, p remedy.Plan, guard bool) []string {
	s.t.Helper()
	dir := filepath.Join(s.dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		s.t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, "changes"))
	if err == nil {
		err = errors.Join(gob.NewEncoder(f).Encode(p.Changes), f.Close())
	}
	if err != nil {
		s.t.Fatal(err)
	}
	c := exec.Command(os.Args[0], "-test.run=^TestApartVictim$")
	c.Env = append(os.Environ(), victimDir+"="+dir, victimStep+"="+step, victimSSH+"="+s.l.SSHConfig)
	if guard {
		c.Env = append(c.Env, guarded+"=1")
	}
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		s.t.Fatalf("before %s: %v: %s", step, err, out)
	}
	var steps []string
	for line := range strings.Lines(string(out)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "step "); ok {
			steps = append(steps, name)
		}
	}
	return steps
}

// works waits until orders are taken again, and tells by whom.
func (s *shop) works() string {
	s.t.Helper()
	var who string
	await.NoError(s.t, "an order to be taken", func() (err error) {
		who, err = s.ask(fmt.Sprintf("/?order=%d", time.Now().UnixNano()))
		return err
	})
	return who
}

// TestDatabaseApartKilled kills Kasoku while the database moves to another host
// and orders come in; with LONG=1 before each step. With guards the hosts take orders again by themselves;
// `kasoku recover` brings everything back; no acknowledged order is lost.
func TestDatabaseApartKilled(t *testing.T) {
	t.Parallel() // disposable hosts are mostly waited for
	s := openShop(t)
	p := bed.Want(t, remedy.PlanAll(s.look()), "database.apart")
	before := s.seen()
	first := s.open("first")
	defer first.Close()
	under := s.prepare(first, p)
	prepared := s.sh("h1", "sha256sum /etc/mysql/mariadb.conf.d/50-server.cnf /srv/shop/config.php") + s.sh("h2", "sha256sum /etc/mysql/mariadb.conf.d/50-server.cnf")
	o := s.order(1)
	guards := map[string]string{"change4.turn.release": "h2"}
	if os.Getenv("LONG") != "" { // internal/change kills before each step of the two kinds each time
		for i, step := range append(s.killed("all", "activated", p, false), "activated") {
			if i == 0 {
				s.recovered("all", prepared)
			}
			name := fmt.Sprintf("k%d", i)
			s.killed(name, step, p, false)
			s.recovered(name, prepared)
		}
		guards = map[string]string{"change0.applied": "h1", "change4.turn.catchup": "h1", "change4.turn.follow": "h1", "change4.turn.release": "h2", "change4.applied": "h2", "activated": "h2"}
	}
	for step, want := range guards {
		name := "g" + strings.ReplaceAll(step, ".", "-")
		s.killed(name, step, p, true)
		time.Sleep(silentFor)
		var who, held string
		said := func() string {
			return fmt.Sprintf("killed before %s: %s takes orders, not %s; read-only: %s", step, who, want, held)
		}
		await.ForOr(t, "the guards", said, func() bool {
			who = s.works()
			held = s.sh("h1", "mariadb -N -e 'SELECT @@read_only'") + s.sh("h2", "mariadb -N -e 'SELECT @@read_only'")
			return who == want && held == map[string]string{"h1": "01", "h2": "10"}[want]
		})
		t.Logf("killed before %s: the hosts let %s take orders", step, who)
		s.recovered(name, prepared, func(o *change.Options) {
			o.Target = &change.TargetOptions{Name: "shop", RevertAfter: silentFor}
		})
	}
	o.end(s, "h1")
	s.unprepare(first, under)
	s.asBefore(before)
}

// recovered is the next Kasoku, which puts back what the killed one left.
func (s *shop) recovered(name, prepared string, with ...func(*change.Options)) {
	s.t.Helper()
	x := s.open(name, with...)
	if _, err := x.Recover(s.t.Context()); err != nil {
		s.t.Fatalf("%s: recover: %v", name, err)
	}
	if err := x.Close(); err != nil {
		s.t.Error(err)
	}
	if now := s.sh("h1", "sha256sum /etc/mysql/mariadb.conf.d/50-server.cnf /srv/shop/config.php") + s.sh("h2", "sha256sum /etc/mysql/mariadb.conf.d/50-server.cnf"); now != prepared {
		s.t.Errorf("%s: files are not as before:\n%s\nthey were:\n%s", name, now, prepared)
	}
	if who := s.works(); who != "h1" {
		s.t.Errorf("%s: %s takes orders", name, who)
	}
}
