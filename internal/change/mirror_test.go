package change

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

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
		n.Arm(hosttest.Fault{Op: op, Times: -1, Err: hosttest.Lost})
	}
}

// pair is the lab with nginx on one host and MariaDB on another.
type pair struct {
	lab
	dir      string
	web, db  *named
	warnings []string
}

func (l lab) pair(t *testing.T) *pair {
	t.Helper()
	p := &pair{lab: l, dir: l.project(t)}
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
	o.Target = &TargetOptions{Name: "lab", RevertAfter: liveDeadline}
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
	p.samePast(t)
}

// TestCutOffHost: the network to one host goes. That host puts its part back by
// itself, the controller the rest, and nothing is done twice.
func TestCutOffHost(t *testing.T) {
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
	must(t, until(limit, func() error {
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
	h.Arm(hosttest.Fault{Op: hosttest.Run, Match: "touch -c", Times: -1, Err: hosttest.Lost})
}

// TestTakenOver: the network comes back after the host has put itself back. The
// controller learns it at its next step, does not go on, and can begin anew.
func TestTakenOver(t *testing.T) {
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

// mirrored is a fixture whose host keeps a copy; its guard stays quiet.
func mirrored(t *testing.T) (*fixture, func() Options) {
	f := newFixture(t)
	must(t, f.x.Close())
	options := func() Options {
		o := f.options()
		o.Target = &TargetOptions{Name: "shop", Base: filepath.Join(f.dir, ".kasoku", "host"), RevertAfter: time.Hour}
		return o
	}
	x, err := Open(t.Context(), options())
	must(t, err)
	f.x = x
	return f, options
}

func (f *fixture) copyDir() string {
	f.t.Helper()
	all, err := filepath.Glob(filepath.Join(f.dir, ".kasoku/host/*/journal"))
	must(f.t, err)
	if len(all) != 1 {
		f.t.Fatalf("copies: %v", all)
	}
	return all[0]
}

// TestLostJournal: the controller's folder is lost, or damaged; the host's copy
// brings everything back.
func TestLostJournal(t *testing.T) {
	for _, damage := range []func(dir string) error{
		os.RemoveAll,
		func(dir string) error {
			return os.WriteFile(filepath.Join(dir, journalFile), []byte("{}\n"), 0o600)
		},
	} {
		f, options := mirrored(t)
		changes := f.plan()
		before := f.tree()
		tx, err := f.apply(changes[:5]...)
		must(t, err)
		must(t, f.x.Keep(t.Context(), tx.ID))
		must(t, f.x.Close())
		must(t, damage(JournalDir(f.options().Dir)))
		base := filepath.Join(f.dir, ".kasoku", "host")
		err = FromTarget(t.Context(), f.options().Dir, host.NewLocal(), base, "", "another stack")
		wantText(t, err, "shop", f.options().Dir)
		must(t, FromTarget(t.Context(), f.options().Dir, host.NewLocal(), base, "", "shop"))
		f.x, err = Open(t.Context(), options())
		must(t, err)
		wantEqual(t, "history", states(f.x.History()), "1 kept")
		must(t, f.x.UndoAll(t.Context()))
		wantEqual(t, "files", f.tree(), before)
	}
}

// TestTwoStories: a .kasoku folder that was restored from a backup does not
// know what its successor did; nothing is done until a person decides.
func TestTwoStories(t *testing.T) {
	f, options := mirrored(t)
	journal := f.journalPath()
	conf := f.file("web.conf", "a\n")
	early := content(t, journal)
	tx, err := f.apply(edit1(conf, "a\n", "b\n", "web", Reload))
	must(t, err)
	must(t, f.x.Keep(t.Context(), tx.ID))
	must(t, f.x.Close())
	whole := content(t, journal)
	// What was only lost at the end is taken from the copy.
	must(t, os.WriteFile(journal, []byte(early), 0o600))
	f.x, err = Open(t.Context(), options())
	must(t, err)
	wantEqual(t, "history", states(f.x.History()), "1 kept")
	must(t, f.x.Close())
	wantEqual(t, "journal", content(t, journal), whole)
	// But it cannot have gone on in another way.
	must(t, os.WriteFile(journal, []byte(early+line(t, record{N: 2, Op: opNoted, Error: "x"})), 0o600))
	_, err = Open(t.Context(), options())
	wantErr(t, err, errApart)
	wantText(t, err, "line 2", "restored", filepath.Join(f.copyDir(), journalFile))
	wantEqual(t, "content", content(t, conf), "b\n")
	must(t, os.WriteFile(journal, []byte(whole), 0o600))
	f.x, err = Open(t.Context(), options())
	must(t, err)
}

// TestOldFormat: a journal of format 1 is read and gone on with.
func TestOldFormat(t *testing.T) {
	f, options := mirrored(t)
	must(t, f.x.Close())
	must(t, os.RemoveAll(filepath.Join(f.dir, ".kasoku", "host")))
	conf := f.file("web.conf", "b\n")
	c := edit1(conf, "a\n", "b\n", "web", Reload)
	c.forgetBytes()
	c.Before.UID, c.Before.GID, c.After.UID, c.After.GID = -1, -1, -1, -1
	must(t, f.x.journal.saveBlob(t.Context(), []byte("a\n")))
	must(t, f.x.journal.saveBlob(t.Context(), []byte("b\n")))
	old := line(t, record{N: 1, Format: 1}) + line(t, record{N: 2, Tx: 1, Op: opBegin, Changes: []Change{c}}) + line(t, record{N: 3, Tx: 1, Op: opIntent, Change: new(int)}) +
		line(t, record{N: 4, Tx: 1, Op: opActivated}) + line(t, record{N: 5, Tx: 1, Op: opKept})
	must(t, os.WriteFile(f.journalPath(), []byte(old), 0o600))
	var err error
	f.x, err = Open(t.Context(), options())
	must(t, err)
	wantEqual(t, "history", states(f.x.History()), "1 kept")
	must(t, f.x.UndoAll(t.Context()))
	wantEqual(t, "content", content(t, conf), "a\n")
	if now := content(t, f.journalPath()); !strings.HasPrefix(now, old) || !strings.Contains(now, `"kasoku_journal":2`) {
		t.Fatalf("journal:\n%s", now)
	}
}

// TestCopyOverABadLine: appends whose answer is lost, that are cut in the
// middle, or for which the host's disk is full.
func TestCopyOverABadLine(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault hosttest.Fault
		fails bool // Apply, which then has put everything back
	}{
		{"answer lost", hosttest.Fault{Op: hosttest.Run, Match: "journal.jsonl", N: 4, Cut: true}, false},
		{"disk full", hosttest.Fault{Op: hosttest.Run, Match: "journal.jsonl", N: 4, Exit: 4, Stderr: "No space left on device"}, true},
		{"disk stays full", hosttest.Fault{Op: hosttest.Run, Match: "journal.jsonl", N: 4, Times: 3, Exit: 4, Stderr: "No space left on device"}, true},
		{"not sent", hosttest.Fault{Op: hosttest.Run, Match: "journal.jsonl", N: 4, Err: hosttest.Lost}, true},
		{"not sent, and not needed", hosttest.Fault{Op: hosttest.Run, Match: "journal.jsonl", N: 5, Err: hosttest.Lost}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, options := mirrored(t)
			conf := f.file("web.conf", "a\n")
			before := f.tree()
			f.host.Arm(c.fault)
			_, err := f.apply(edit1(conf, "a\n", "b\n", "web", Reload))
			if (err != nil) != c.fails {
				t.Fatalf("apply: %v", err)
			}
			if c.fails {
				wantEqual(t, "files", f.tree(), before)
			}
			must(t, f.x.UndoAll(t.Context()))
			must(t, f.x.Close())
			wantEqual(t, "files", f.tree(), before)
			wantEqual(t, "copy", content(t, filepath.Join(f.copyDir(), journalFile)), content(t, f.journalPath()))
			f.x, err = Open(t.Context(), options())
			must(t, err)
		})
	}
}

// TestTornCopy: the host lost power while a line was written to its copy.
func TestTornCopy(t *testing.T) {
	f, options := mirrored(t)
	conf := f.file("web.conf", "a\n")
	tx, err := f.apply(edit1(conf, "a\n", "b\n", "web", Reload))
	must(t, err)
	must(t, f.x.Keep(t.Context(), tx.ID))
	must(t, f.x.Close())
	path := filepath.Join(f.copyDir(), journalFile)
	whole := content(t, path)
	for _, cut := range []int{len(whole) - 1, len(whole) - 40, 10, 0} {
		must(t, os.WriteFile(path, []byte(whole[:cut]), 0o600))
		f.x, err = Open(t.Context(), options())
		must(t, err)
		must(t, f.x.Close())
		wantEqual(t, "copy", content(t, path), content(t, f.journalPath()))
	}
	f.x, err = Open(t.Context(), options())
	must(t, err)
}

// TestEditMeanwhile: what somebody else writes is never overwritten, and told
// with a diff and the place where their bytes are saved.
func TestEditMeanwhile(t *testing.T) {
	f, _ := mirrored(t)
	conf := f.file("web.conf", "a\npassword = old\n")
	change := edit1(conf, "a\npassword = old\n", "b\npassword = old\n", "web", Reload)
	theirs := "b\npassword = secret7\nmine\n"
	edit := func() { must(t, os.WriteFile(conf, []byte(theirs), 0o640)) }

	// Right before it is written.
	f.trace = func(step string) {
		if step == "tx1.change0.look" {
			edit()
		}
	}
	_, err := f.apply(change)
	wantErr(t, err, ErrChanged)
	saved := filepath.Join(JournalDir(f.options().Dir), "blobs", string(host.HashOf([]byte(theirs))))
	wantText(t, err, "+mine", saved)
	wantEqual(t, "saved", content(t, saved), theirs)
	wantEqual(t, "content", content(t, conf), theirs)

	// At keep, and before it is put back.
	f.trace = nil
	f.file("web.conf", "a\npassword = old\n")
	tx, err := f.apply(change)
	must(t, err)
	edit()
	for _, err := range []error{f.x.Keep(t.Context(), tx.ID), f.x.Revert(t.Context(), tx.ID)} {
		var conflict *ConflictError
		if !errors.As(err, &conflict) {
			t.Fatalf("no conflict: %v", err)
		}
		wantText(t, err, "+mine", saved, "changed by someone else")
		if strings.Contains(err.Error(), "secret7") {
			t.Errorf("a secret is shown: %v", err)
		}
	}
	wantEqual(t, "content", content(t, conf), theirs)
	must(t, f.x.Abandon(t.Context(), tx.ID))

	// And later: verify tells who, as far as the file tells it.
	tx, err = f.apply(edit1(conf, theirs, "c\n", "web", Reload))
	must(t, err)
	must(t, f.x.Keep(t.Context(), tx.ID))
	edit()
	open, err := os.Open(conf)
	must(t, err)
	defer open.Close()
	drift, err := f.x.Verify(t.Context())
	must(t, err)
	if len(drift) != 1 || drift[0].Saved != saved || drift[0].Trace == nil {
		t.Fatalf("drift: %+v", drift)
	}
	tr := drift[0].Trace
	if time.Since(tr.ChangeTime) > time.Minute || tr.UID != os.Getuid() || len(tr.OpenBy) == 0 || !strings.Contains(strings.Join(tr.OpenBy, " "), itoa(os.Getpid())) {
		t.Fatalf("trace: %+v", tr)
	}
	must(t, os.WriteFile(conf, []byte("c\n"), 0o640))
}

func TestParseTrace(t *testing.T) {
	tr := parseTrace("stat 1700000000 1700000060 33 www-data\nopen 12 (vim)\npackage nginx-common\nlog 2023-11-14 22:13:30 upgrade nginx-common:all 1.22.1-8 1.22.1-9\n")
	text := tr.String()
	for _, part := range []string{"2023-11-14T22:14:20Z", "www-data (33)", "12 (vim)", "nginx-common", "dpkg.log: 2023-11-14 22:13:30 upgrade"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in:\n%s", part, text)
		}
	}
	wantEqual(t, "gone", parseTrace("").Unknown, "it is not there")
}

// booting is a host where something starts programs at boot; it writes down
// what it is told, and keeps the files elsewhere.
type booting struct {
	host.Host
	how, root string
	told      []string
}

func (b *booting) Run(ctx context.Context, c host.Command) (host.Result, error) {
	if len(c.Argv) > 2 && c.Argv[2] == bootScript {
		return host.Result{Stdout: []byte(b.how + "\n")}, nil
	}
	if c.Argv[0] == "systemctl" {
		b.told = append(b.told, strings.Join(c.Argv[2:], " "))
		return host.Result{}, nil
	}
	return b.Host.Run(ctx, c)
}

func (b *booting) moved(path string) string {
	if strings.HasPrefix(path, "/etc/") {
		return b.root + path
	}
	return path
}
func (b *booting) ReadFile(ctx context.Context, path string) ([]byte, error) {
	return b.Host.ReadFile(ctx, b.moved(path))
}
func (b *booting) ReplaceFile(ctx context.Context, path string, data []byte, r host.Replace) error {
	return b.Host.ReplaceFile(ctx, b.moved(path), data, r)
}
func (b *booting) Remove(ctx context.Context, path string, expect host.Hash) error {
	return b.Host.Remove(ctx, b.moved(path), expect)
}

// TestBootEntry: it is journaled before it is written, and gone when the guard
// is disarmed. systemd and cron are stand-ins that write down what they are
// told; whether systemd takes the unit, systemd-analyze says where it is.
func TestBootEntry(t *testing.T) {
	for how, dir := range map[string]string{"systemd": "/etc/systemd/system", "cron": "/etc/cron.d"} {
		t.Run(how, func(t *testing.T) {
			f, options := mirrored(t)
			must(t, f.x.Close())
			b := &booting{Host: host.NewLocal(), how: how, root: t.TempDir()}
			must(t, os.MkdirAll(b.root+dir, 0o755))
			o := options()
			o.Hosts = map[string]host.Host{"local": b}
			o.Stack.Services[3].Control.Unit = "mariadb"
			x, err := Open(t.Context(), o)
			must(t, err)
			conf := f.file("web.conf", "a\n")
			tx, err := x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{edit1(conf, "a\n", "b\n", "web", Reload)}})
			must(t, err)
			entry := parseEntry(x.journal.entries["local"])
			text := content(t, b.root+entry.Path)
			if filepath.Dir(entry.Path) != dir || !strings.Contains(text, " guard boot "+filepath.Dir(f.copyDir())) {
				t.Fatalf("entry %v:\n%s", entry, text)
			}
			if how == "systemd" && !strings.Contains(text, "After=local-fs.target mariadb.service\n") {
				t.Fatalf("it does not wait for the database:\n%s", text)
			}
			must(t, x.Keep(t.Context(), tx.ID))
			must(t, x.Close())
			if _, err := os.Stat(b.root + entry.Path); !errors.Is(err, os.ErrNotExist) {
				t.Fatalf("%s is left: %v", entry.Path, err)
			}
			want := map[string]string{"systemd": "daemon-reload, enable NAME, disable NAME, daemon-reload", "cron": ""}[how]
			wantEqual(t, "systemctl", strings.ReplaceAll(strings.Join(b.told, ", "), filepath.Base(entry.Path), "NAME"), want)
			lines := content(t, f.journalPath())
			if a, z := strings.Index(lines, `"arming"`), strings.Index(lines, `"disarmed"`); a < 0 || z < a {
				t.Fatalf("the journal does not tell it:\n%s", lines)
			}
			f.x, err = Open(t.Context(), options())
			must(t, err)
		})
	}
}

// TestGuardDoesNotStoreLogins: they are in the guard's memory and nowhere else.
func TestGuardDoesNotStoreLogins(t *testing.T) {
	f, options := mirrored(t)
	must(t, f.x.Close())
	o := options()
	o.Stack.Services[3].Login = &stack.Login{User: "kasoku", PasswordEnv: "DB_PASSWORD"}
	o.Target.Login = func(context.Context, string) (Login, error) {
		return Login{User: "kasoku", Password: "planted-7f3a"}, nil
	}
	x, err := Open(t.Context(), o)
	must(t, err)
	conf := f.file("web.conf", "a\n")
	_, err = x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{edit1(conf, "a\n", "b\n", "web", Reload)}})
	must(t, err)
	var s guardState
	must(t, json.Unmarshal([]byte(content(t, filepath.Join(filepath.Dir(f.copyDir()), stateFile))), &s))
	must(t, filepath.WalkDir(filepath.Join(f.dir, ".kasoku"), func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && d.Name() != programFile && strings.Contains(content(t, path), "planted-7f3a") {
			t.Errorf("the password is in %s", path)
		}
		return err
	}))
	for _, name := range []string{"cmdline", "environ"} {
		if strings.Contains(content(t, filepath.Join("/proc", itoa(s.PID), name)), "planted-7f3a") {
			t.Errorf("the password is in the guard's %s", name)
		}
	}
	must(t, x.UndoAll(t.Context()))
	must(t, x.Close())
	must(t, until(limit, func() error {
		if syscall.Kill(s.PID, 0) == nil {
			return errors.New("the guard lives on")
		}
		return nil
	}))
	f.x, err = Open(t.Context(), options())
	must(t, err)
}

// BenchmarkCopies is one edit applied and put back, with and without a copy of
// the journal on the host.
func BenchmarkCopies(b *testing.B) {
	for _, with := range []bool{false, true} {
		b.Run(map[bool]string{false: "journal only", true: "with a copy"}[with], func(b *testing.B) {
			dir := b.TempDir()
			o := Options{Dir: filepath.Join(dir, ".kasoku")}
			if with {
				o.Target = &TargetOptions{Base: filepath.Join(dir, "host"), RevertAfter: time.Hour}
			}
			conf := filepath.Join(dir, "web.conf")
			if err := os.WriteFile(conf, []byte("a\n"), 0o640); err != nil {
				b.Fatal(err)
			}
			x, err := Open(b.Context(), o)
			if err != nil {
				b.Fatal(err)
			}
			change := edit1(conf, "a\n", "b\n", "", None)
			change.Service = ""
			for b.Loop() {
				tx, err := x.Apply(b.Context(), Intent{Title: "t", Changes: []Change{change}})
				if err == nil {
					err = x.Revert(b.Context(), tx.ID)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(x.journal.lines)/float64(b.N), "lines/op")
			if err := x.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
