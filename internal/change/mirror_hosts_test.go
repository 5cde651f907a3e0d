package change

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/host"
	"kasoku/internal/host/hosttest"
	"kasoku/internal/stack"
)

// named is this machine under another name, with a folder of its own for
// Kasoku's state, and a connection that can be cut.
type named struct {
	*hosttest.Faulty
	name, base string
}

func newNamed(name, base string) *named {
	return &named{hosttest.NewFaulty(host.NewLocal()), name, base}
}

func (n *named) Name() string { return n.name }

func (n *named) Run(ctx context.Context, c host.Command) (host.Result, error) {
	r, err := n.Faulty.Run(ctx, c)
	if err == nil && len(c.Argv) > 2 && c.Argv[2] == where {
		_, rest, _ := strings.Cut(string(r.Stdout), "\n")
		r.Stdout = []byte(n.base + "\n" + rest)
	}
	return r, err
}

// cut loses the connection for good.
func (n *named) cut() {
	for _, op := range []hosttest.Op{hosttest.Run, hosttest.Read, hosttest.Stat, hosttest.List, hosttest.Replace, hosttest.Remove, hosttest.MakeDir, hosttest.RmDir, hosttest.Lock} {
		n.Arm(hosttest.Fault{Op: op, Times: -1, Err: hosttest.ErrLost})
	}
}

// pair is the lab with nginx on one host and MariaDB on another.
type pair struct {
	lab
	dir      string
	web, db  *named
	after    time.Duration // deadline of the guards
	warnings []string
}

func (l lab) pair(t *testing.T) *pair {
	t.Helper()
	p := &pair{lab: l, dir: l.project(t), after: liveDeadline}
	for name, h := range map[string]**named{"web1": &p.web, "db1": &p.db} {
		base, err := os.MkdirTemp(l.dir, name)
		must(t, err)
		*h = newNamed(name, base)
	}
	return p
}

// again is the hosts with new connections.
func (p *pair) again() {
	p.web, p.db = newNamed("web1", p.web.base), newNamed("db1", p.db.base)
}

func (p *pair) options() Options {
	o := p.lab.options(p.dir)
	o.Stack = &stack.Stack{Version: 1, Name: "lab", Services: []stack.Service{
		{Name: "web", Kind: stack.Nginx, Host: "web1", TalksTo: []string{"db"}}, {Name: "db", Kind: stack.MariaDB, Host: "db1"}}}
	o.Hosts = map[string]host.Host{"web1": p.web, "db1": p.db}
	o.Target = &TargetOptions{Name: "lab", RevertAfter: p.after}
	o.Warn = func(s string) { p.warnings = append(p.warnings, s) }
	db := o.DB
	o.DB = func(ctx context.Context, service string) (*sql.DB, error) {
		// The login goes over the same connection.
		if _, err := p.db.Stat(ctx, "/"); err != nil {
			return nil, err
		}
		return db(ctx, service)
	}
	return o
}

func (p *pair) open(t *testing.T) *Executor {
	t.Helper()
	x, err := Open(t.Context(), p.options())
	must(t, err)
	return x
}

func (p *pair) changes() []Change {
	site := edit1(p.path("conf/site.conf"), siteBefore, siteAfter, "web", Reload)
	site.Host = "web1"
	return []Change{site, {Kind: KindVariable, Service: "db", Variable: "max_connections", BeforeValue: "151", AfterValue: "200"}}
}

func (p *pair) copyOf(t *testing.T, h *named) string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(h.base, "*", "journal"))
	must(t, err)
	if len(all) != 1 {
		t.Fatalf("host %s has copies %v", h.name, all)
	}
	return all[0]
}

func (p *pair) samePast(t *testing.T) {
	t.Helper()
	ours := content(t, filepath.Join(JournalDir(p.dir), journalFile))
	for _, h := range []*named{p.web, p.db} {
		wantEqual(t, "copy of "+h.name, content(t, filepath.Join(p.copyOf(t, h), journalFile)), ours)
	}
}

// vanish ends an Executor as a kill would: it tells nobody.
func vanish(t *testing.T, x *Executor) {
	t.Helper()
	for _, g := range x.targets {
		if g.guard != nil {
			g.guard.stop()
			<-g.guard.done
		}
		if g.unlock != nil {
			must(t, g.unlock())
		}
	}
	must(t, x.journal.out.Close())
	must(t, x.unlock())
}

// TestTwoHosts: each has all lines, and only the bytes of its own files.
func TestTwoHosts(t *testing.T) {
	l := newLab(t)
	l.asFound(t)
	before := l.seen(t)
	p := l.pair(t)
	p.after = time.Hour // no host puts anything back by itself, however long this takes
	x := p.open(t)
	tx, err := x.Apply(t.Context(), Intent{Title: "both", Changes: p.changes()})
	must(t, err)
	must(t, x.Keep(t.Context(), tx.ID))
	must(t, x.Close())
	p.samePast(t)
	for h, want := range map[*named]int{p.web: 2, p.db: 0} {
		blobs, err := os.ReadDir(filepath.Join(p.copyOf(t, h), "blobs"))
		must(t, err)
		if len(blobs) != want {
			t.Errorf("host %s has %d saved files, want %d", h.name, len(blobs), want)
		}
	}
	readme := content(t, filepath.Join(p.copyOf(t, p.db), "README.txt"))
	for _, part := range []string{`copy on host "db1"`, "guard revert " + filepath.Dir(p.copyOf(t, p.db)), "SET GLOBAL"} {
		if !strings.Contains(readme, part) {
			t.Errorf("README.txt of db1 does not say %q", part)
		}
	}
	x = p.open(t)
	must(t, x.UndoAll(t.Context()))
	must(t, x.Close())
	wantEqual(t, "after undo", l.seen(t), before)
	for _, h := range []*named{p.web, p.db} {
		if all, err := filepath.Glob(filepath.Join(h.base, "*")); err != nil || len(all) > 0 {
			t.Errorf("host %s still has %v (%v)", h.name, all, err)
		}
	}
}

// TestCutOffHost: the network to one host goes. That host puts its part back by
// itself, the controller the rest, and nothing is done twice.
func TestCutOffHost(t *testing.T) {
	await.SkipShort(t)
	l := newLab(t)
	l.asFound(t)
	before := l.seen(t)
	p := l.pair(t)
	x := p.open(t)
	tx, err := x.Apply(t.Context(), Intent{Title: "both", Changes: p.changes()})
	must(t, err)
	must(t, x.targets["db1"].unlock()) // the lease goes with the connection
	p.db.cut()
	x.forget("db")
	err = x.Revert(t.Context(), tx.ID)
	wantText(t, err, "connection lost")
	answer, err := l.serves()
	must(t, err)
	wantEqual(t, "web1", answer, "before")
	must(t, await.Until(func() error {
		if now := l.seen(t); now != before {
			return errors.New("db1 does not put itself back")
		}
		return nil
	}))
	g := guarded{lab: l, base: p.db.base}
	g.settled(t, phaseDone)
	wantEqual(t, "here", states(x.History()), "1 reverting")
	x.targets["db1"].unlock = nil
	_ = x.Close() // it cannot reach db1

	p.again()
	x = p.open(t)
	if told := strings.Join(p.warnings, "\n"); !strings.Contains(told, "host db1 put tx 1 (both) back by itself") {
		t.Errorf("nobody was told: %q", told)
	}
	_, err = x.Recover(t.Context())
	must(t, err)
	wantEqual(t, "history", states(x.History()), "1 reverted")
	must(t, x.Close())
	wantEqual(t, "both", l.seen(t), before)
	p.samePast(t)
}

// TestUnreachableHost: recovery does the rest, and says what is left.
func TestUnreachableHost(t *testing.T) {
	await.SkipShort(t)
	l := newLab(t)
	l.asFound(t)
	before := l.seen(t)
	p := l.pair(t)
	x := p.open(t)
	_, err := x.Apply(t.Context(), Intent{Title: "both", Changes: p.changes()})
	must(t, err)
	vanish(t, x)
	o := p.options()
	delete(o.Hosts, "web1")
	o.Unreachable = map[string]error{"web1": errors.New("no route to host")}
	x, err = Open(t.Context(), o)
	must(t, err)
	_, err = x.Recover(t.Context())
	wantText(t, err, "web1", "no route to host", "conf/site.conf")
	wantEqual(t, "db1", l.ask(t, "SHOW GLOBAL VARIABLES LIKE 'max_connections'"), "151")
	must(t, x.Close())
	x = p.open(t)
	_, err = x.Recover(t.Context())
	must(t, err)
	must(t, x.Close())
	wantEqual(t, "both", l.seen(t), before)
	p.samePast(t)
}

// TestInDoubt: between the hosts' agreement and the controller's word, no host
// puts its part back while another may have been told to keep it.
func TestInDoubt(t *testing.T) {
	await.SkipShort(t)
	l := newLab(t)
	l.asFound(t)
	before := l.seen(t)
	p := l.pair(t)
	x := p.open(t)
	tx, err := x.Apply(t.Context(), Intent{Title: "both", Changes: p.changes()})
	must(t, err)
	must(t, x.decide(t.Context(), x.journal.tx(tx.ID)))
	applied := l.seen(t)
	vanish(t, x)
	for _, h := range []*named{p.web, p.db} {
		guarded{lab: l, base: h.base}.settled(t, phaseDone)
	}
	wantEqual(t, "in doubt", l.seen(t), applied)
	x = p.open(t)
	_, err = x.Recover(t.Context())
	must(t, err)
	must(t, x.Close())
	wantEqual(t, "recovered", l.seen(t), before)
}

// silence makes the heartbeats to a host fail, and takes the lease away as the
// end of its connection does.
func silence(t *testing.T, x *Executor, h *named) {
	t.Helper()
	must(t, x.targets[h.name].unlock())
	h.Arm(hosttest.Fault{Op: hosttest.Run, Match: "touch -c", Times: -1, Err: hosttest.ErrLost})
}

// TestTakenOver: the network comes back after the host has put itself back. The
// controller learns it at its next step, does not go on, and can begin anew.
func TestTakenOver(t *testing.T) {
	await.SkipShort(t)
	l := newLab(t)
	l.asFound(t)
	before := l.seen(t)
	p := l.pair(t)
	x := p.open(t)
	tx, err := x.Apply(t.Context(), Intent{Title: "one", Changes: p.changes()[:1]})
	must(t, err)
	silence(t, x, p.web)
	guarded{lab: l, base: p.web.base}.settled(t, phaseDone)
	wantErr(t, x.Keep(t.Context(), tx.ID), ErrChanged) // the file is not as it was applied
	p.web.Disarm()
	_, err = x.Apply(t.Context(), Intent{Title: "two", Changes: p.changes()[:1]})
	must(t, err)
	wantEqual(t, "history", states(x.History()), "1 reverted, 2 applied")
	must(t, x.Revert(t.Context(), 2))
	must(t, x.Close())
	wantEqual(t, "in the end", l.seen(t), before)
}

// TestStrayWrite: the controller is held up right before it writes, for so long
// that the host has put itself back. What it then writes does not stay.
func TestStrayWrite(t *testing.T) {
	await.SkipShort(t)
	l := newLab(t)
	l.asFound(t)
	before := l.seen(t)
	p := l.pair(t)
	o := p.options()
	var x *Executor
	held := false
	o.Trace = func(step string) {
		if step == "tx1.change0.write" && !held {
			held = true
			silence(t, x, p.web)
			guarded{lab: l, base: p.web.base}.settled(t, phaseDone)
			p.web.Disarm()
			// As if it had been held up after heard.
			x.targets["web1"].guard.renewed.Store(int64(sinceBoot()))
		}
	}
	x, err := Open(t.Context(), o)
	must(t, err)
	_, err = x.Apply(t.Context(), Intent{Title: "one", Changes: p.changes()[:1]})
	wantErr(t, err, ErrTakenOver)
	wantEqual(t, "history", states(x.History()), "1 reverted")
	must(t, x.Close())
	wantEqual(t, "in the end", l.seen(t), before)
}
