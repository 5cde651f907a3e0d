package change

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"kasoku/internal/host"
	"kasoku/internal/host/hosttest"
)

func itoa(i int) string { return strconv.Itoa(i) }

// plan is one change of every kind that needs no database.
func (f *fixture) plan() []Change {
	conf := filepath.Join(f.dir, "web.conf")
	if _, err := os.Stat(conf); err != nil {
		f.file("web.conf", "a\nb\n")
		f.file("real.ini", "x=1\n")
		must(f.t, os.Symlink("real.ini", filepath.Join(f.dir, "php.ini")))
	}
	flag := filepath.Join(f.dir, "flag")
	dir := filepath.Join(f.dir, "kasoku-cache")
	return []Change{
		edit1(conf, "a\nb\n", "a\nc\n", "web", Reload),
		edit1(conf, "a\nc\n", "a\nd\n", "web", Reload), // the same file again
		edit1(filepath.Join(f.dir, "php.ini"), "x=1\n", "x=2\n", "shop", Restart),
		{Kind: KindDir, Path: dir, After: &FileState{Mode: 0o750, UID: -1, GID: -1}},
		create(filepath.Join(dir, "new.conf"), "new\n", "web"),
		{Kind: KindExec, Apply: []string{"touch", flag}, Undo: []string{"rm", "-f", flag}},
		{Kind: KindRestart, Service: "db", Activate: Restart},
	}
}

func TestApplyRevertKeepUndo(t *testing.T) {
	f := newFixture(t)
	changes := f.plan()
	before := f.tree()

	tx, err := f.apply(changes...)
	must(t, err)
	after := f.tree()
	wantEqual(t, "activation", f.did(), "restart db, restart php, reload web")
	wantEqual(t, "file", content(t, filepath.Join(f.dir, "web.conf")), "a\nd\n")
	wantEqual(t, "linked file", content(t, filepath.Join(f.dir, "real.ini")), "x=2\n")
	if s, _ := os.Stat(filepath.Join(f.dir, "kasoku-cache", "new.conf")); s.Mode() != 0o604 {
		t.Fatalf("mode of a created file: %v", s.Mode())
	}
	wantEqual(t, "pending", states(f.x.Pending()), "1 applied")

	must(t, f.x.Revert(t.Context(), tx.ID))
	wantEqual(t, "after revert", f.tree(), before)
	wantEqual(t, "activation of revert", f.did(), "restart db, restart php, reload web")

	// The interleaved experiment applies the same plan again, also when it
	// has only what the journal holds.
	tx, err = f.apply(tx.Changes...)
	must(t, err)
	must(t, f.x.Keep(t.Context(), tx.ID))
	wantErr(t, f.x.Revert(t.Context(), tx.ID), ErrUnknown)
	if got := stripTimes(f.tree()); got != stripTimes(after) {
		t.Fatalf("the second time:\n%s\nwant\n%s", got, after)
	}
	drift, err := f.x.Verify(t.Context())
	must(t, err)
	if len(drift) != 0 {
		t.Fatalf("drift %v", drift)
	}
	f.reopen()
	txs, err := f.x.Recover(t.Context())
	if err != nil || txs != nil {
		t.Fatalf("nothing was pending, recovered %v, %v", txs, err)
	}
	wantEqual(t, "history", states(f.x.History()), "1 reverted, 2 kept")
	wantEqual(t, "kept", states(f.x.Kept()), "2 kept")
	read, err := Read(f.options().Dir)
	must(t, err)
	wantEqual(t, "read without the lease", states(read), "1 reverted, 2 kept")
	loaded, err := Load(f.options().Dir, read[1])
	must(t, err)
	wantEqual(t, "loaded diff", Diff(loaded.Changes[0]), "--- a"+f.dir+"/web.conf\n+++ b"+f.dir+"/web.conf\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n")

	must(t, f.x.Undo(t.Context(), tx.ID, false))
	wantEqual(t, "after undo", f.tree(), before)
	wantEqual(t, "history", states(f.x.History()), "1 reverted, 2 undone")
}

// stripTimes drops modification times, which differ between two writes.
func stripTimes(tree string) string {
	var out []string
	for line := range strings.Lines(tree) {
		fields := strings.Fields(line)
		out = append(out, strings.Join(fields[:min(len(fields), 5)], " "))
	}
	return strings.Join(out, "\n")
}

func TestLease(t *testing.T) {
	f := newFixture(t)
	_, err := Open(t.Context(), f.options())
	wantErr(t, err, ErrBusy)
	wantText(t, err, strconv.Itoa(os.Getpid()))
	if s, _ := os.Stat(filepath.Join(f.options().Dir, "journal")); s.Mode().Perm() != 0o700 {
		t.Fatalf("the journal's folder has mode %v", s.Mode())
	}
}

func TestPreconditions(t *testing.T) {
	f := newFixture(t)
	conf := f.file("web.conf", "a\n")
	f.file("kasoku-there", "")
	before := f.tree()
	at := func(name string) string { return filepath.Join(f.dir, name) }
	for _, c := range []struct {
		name   string
		change Change
		is     error
		says   string
	}{
		{"edited since the plan", edit1(conf, "other\n", "b\n", "web", Reload), ErrChanged, conf},
		{"deleted since the plan", edit1(at("gone"), "a\n", "b\n", "web", Reload), ErrChanged, "absent"},
		{"to be created, but there", create(conf, "x", "web"), ErrChanged, conf},
		{"relative path", edit1("web.conf", "a\n", "b\n", "web", Reload), nil, "absolute"},
		{"no new bytes", Change{Kind: KindFile, Path: conf}, nil, "no new bytes"},
		{"wrong hash", Change{Kind: KindFile, Path: conf, Before: stateOf("a\n"), After: &FileState{Hash: "12", Content: []byte("b")}}, nil, "hash"},
		{"directory of another name", Change{Kind: KindDir, Path: at("cache")}, nil, "kasoku"},
		{"directory that is there", Change{Kind: KindDir, Path: at("kasoku-there")}, ErrChanged, "there already"},
		{"no undo command", Change{Kind: KindExec, Apply: []string{"true"}}, nil, "undo"},
		{"unknown host", Change{Kind: KindExec, Host: "x", Apply: []string{"true"}, Undo: []string{"true"}}, nil, `"x"`},
		{"unknown service", edit1(conf, "a\n", "b\n", "nobody", Reload), nil, "nobody"},
		{"unknown kind", Change{Kind: "dance"}, nil, "dance"},
		{"restart of nothing", Change{Kind: KindRestart}, nil, "service"},
		{"variable without a name", Change{Kind: KindVariable, Service: "db"}, nil, "name"},
		{"index without columns", Change{Kind: KindIndex, Service: "db", Index: &Index{Schema: "s", Table: "t", Name: "i"}}, nil, "columns"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := f.apply(edit1(conf, "a\n", "c\n", "php", Reload), c.change)
			if c.name == "edited since the plan" || c.change.Path == conf {
				_, err = f.apply(c.change)
			}
			wantText(t, err, c.says)
			if c.is != nil {
				wantErr(t, err, c.is)
			}
		})
	}
	_, err := f.apply()
	wantText(t, err, "nothing")
	dir := Change{Kind: KindDir, Path: at("kasoku-x")}
	_, err = f.apply(dir, dir)
	wantText(t, err, "twice")
	wantEqual(t, "files", f.tree(), before)
	if len(f.x.History()) != 0 || f.did() != "" {
		t.Fatal("a plan that does not fit left traces")
	}
}

// TestFailures: whatever fails, everything is as it was, and the error says
// what failed.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault hosttest.Fault
		fail  string // a controller's call
		says  string
		did   string // reloads and restarts in all
		began bool   // the journal knows of it
	}{
		{name: "disk full while saving the bytes from before", fault: hosttest.Fault{Op: hosttest.Replace, Match: "blobs", N: 2, Err: hosttest.ErrDiskFull}, says: "no space left"},
		{name: "disk full at the third file", fault: hosttest.Fault{Op: hosttest.Replace, Match: "php.ini", Err: hosttest.ErrDiskFull}, says: "no space left", began: true},
		{name: "permission lost", fault: hosttest.Fault{Op: hosttest.Replace, Match: "new.conf", Err: hosttest.ErrDenied}, says: "permission", began: true},
		{name: "answer lost after the write", fault: hosttest.Fault{Op: hosttest.Replace, Match: "web.conf", N: 2, Cut: true}, says: "connection lost", began: true},
		{name: "answer lost after making the directory", fault: hosttest.Fault{Op: hosttest.MakeDir, Match: "kasoku-cache", Cut: true}, says: "connection lost", began: true},
		{name: "command fails", fault: hosttest.Fault{Op: hosttest.Run, Match: "touch", Exit: 3, Stderr: "password=geheim no such thing"}, says: "exit status 3: password=[hidden] no such thing", began: true},
		{name: "configuration refused", fail: "check web", says: "injected", began: true},
		{name: "reload fails", fail: "reload web", says: "injected", did: "restart db, restart php, reload web", began: true},
		{name: "service does not come up", fail: "healthy php", says: "injected", did: "restart db, restart php", began: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t)
			changes := f.plan()
			before := f.tree()
			if c.fault.Op != "" {
				f.host.Arm(c.fault)
			}
			down := 0
			if c.fail != "" {
				f.fail[c.fail] = errors.New("injected")
				f.trace = func(step string) {
					if strings.Contains(step, "reverting") {
						delete(f.fail, c.fail) // the old configuration works
						down = len(f.calls)
					}
				}
			}
			_, err := f.apply(changes...)
			wantText(t, err, c.says)
			wantEqual(t, "files", f.tree(), before)
			if c.fail != "" {
				f.calls = f.calls[:down]
				wantEqual(t, "activation before the undo", f.did(), c.did)
			}
			if began := len(f.x.History()) > 0; began != c.began {
				t.Fatalf("begun: %v", began)
			}
			if len(f.x.Pending()) > 0 {
				t.Fatalf("pending: %v", f.x.Pending())
			}
			f.host.Disarm()
			f.reopen()
			if _, err := f.apply(changes...); err != nil {
				t.Fatalf("the same plan, now without the fault: %v", err)
			}
		})
	}
}

// TestUndoActivatesOnlyWhatWasTold: nginx -t failed, so no service was told
// anything, and none is disturbed by the undo.
func TestUndoActivatesOnlyWhatWasTold(t *testing.T) {
	f := newFixture(t)
	f.fail["check web"] = errors.New("unknown directive")
	_, err := f.apply(f.plan()...)
	wantText(t, err, "unknown directive")
	wantEqual(t, "activation", f.did(), "")
	f.fail = map[string]error{"reload web": errors.New("no")}
	_, err = f.apply(f.plan()[:2]...)
	wantText(t, err, "no")
	// The gentle way back fails as well, so web is restarted.
	wantEqual(t, "activation", f.did(), "reload web, reload web, restart web")
}

func TestServiceStaysDown(t *testing.T) {
	f := newFixture(t)
	changes := f.plan()
	before := f.tree()
	f.fail["healthy web"] = errors.New("connection refused")
	_, err := f.apply(changes...)
	wantText(t, err, "connection refused", "could not be put back")
	wantEqual(t, "files are back all the same", f.tree(), before)
	wantEqual(t, "pending", states(f.x.Pending()), "1 reverting")
	_, err = f.apply(changes...)
	wantErr(t, err, ErrPending)

	f.reopen()
	delete(f.fail, "healthy web")
	f.did()
	txs, err := f.x.Recover(t.Context())
	must(t, err)
	wantEqual(t, "recovered", states(txs), "1 reverted")
	wantEqual(t, "activation", f.did(), "restart db, restart php, reload web")
	wantText(t, errors.New(txs[0].Error), "connection refused")
}

func TestCancelled(t *testing.T) {
	f := newFixture(t)
	changes := f.plan()
	before := f.tree()
	ctx, cancel := context.WithCancel(t.Context())
	f.trace = func(step string) {
		if step == "tx1.change4.write" {
			cancel()
		}
	}
	_, err := f.x.Apply(ctx, Intent{Title: "test", Changes: changes})
	wantErr(t, err, context.Canceled)
	wantEqual(t, "files", f.tree(), before)
	wantEqual(t, "state", states(f.x.History()), "1 reverted")
}

// TestEditedMeanwhile: a file is never written over someone else's edit.
func TestEditedMeanwhile(t *testing.T) {
	f := newFixture(t)
	changes := f.plan()
	conf, ini := filepath.Join(f.dir, "web.conf"), filepath.Join(f.dir, "real.ini")
	before := f.tree()

	// Between plan and write, at the last moment.
	f.trace = func(step string) {
		if step == "tx1.change2.write" {
			must(t, os.WriteFile(ini, []byte("theirs\n"), 0o640))
		}
	}
	_, err := f.apply(changes...)
	wantErr(t, err, ErrChanged)
	wantEqual(t, "their edit", content(t, ini), "theirs\n")
	wantEqual(t, "our edit", content(t, conf), "a\nb\n")
	wantEqual(t, "state", states(f.x.History()), "1 reverted")
	f.trace = nil
	f.file("real.ini", "x=1\n")
	wantEqual(t, "files", f.tree(), before)

	// Between apply and revert: the rest is put back, theirs is left alone.
	tx, err := f.apply(changes...)
	must(t, err)
	must(t, os.WriteFile(ini, []byte("theirs\n"), 0o640))
	err = f.x.Revert(t.Context(), tx.ID)
	var conflict *ConflictError
	if !errors.As(err, &conflict) || conflict.Object != filepath.Join(f.dir, "php.ini") || conflict.Change != 2 {
		t.Fatalf("error %v", err)
	}
	if b, err := os.ReadFile(conflict.Blob); err != nil || string(b) != "x=1\n" {
		t.Fatalf("the bytes from before are not in %s", conflict.Blob)
	}
	wantEqual(t, "their edit", content(t, ini), "theirs\n")
	wantEqual(t, "our edit", content(t, conf), "a\nb\n")
	f.reopen()
	_, err = f.x.Recover(t.Context())
	if !errors.As(err, &conflict) {
		t.Fatalf("recover: %v", err)
	}
	wantEqual(t, "pending", states(f.x.Pending()), "2 reverting")

	// A person puts the old bytes there: recovery is content.
	f.file("real.ini", "x=1\n")
	_, err = f.x.Recover(t.Context())
	must(t, err)
	wantEqual(t, "files", f.tree(), before)

	// Or leaves the edit and says so.
	tx, err = f.apply(changes...)
	must(t, err)
	must(t, os.WriteFile(ini, []byte("theirs\n"), 0o640))
	wantErr(t, f.x.Abandon(t.Context(), tx.ID), ErrUnknown) // not before it was tried
	if f.x.Revert(t.Context(), tx.ID) == nil {
		t.Fatal("no conflict")
	}
	must(t, f.x.Abandon(t.Context(), tx.ID))
	wantEqual(t, "history", states(f.x.History()), "1 reverted, 2 reverted, 3 reverted")
}

func TestModeChangedMeanwhile(t *testing.T) {
	f := newFixture(t)
	conf := f.file("web.conf", "a\n")
	tx, err := f.apply(edit1(conf, "a\n", "b\n", "web", Reload))
	must(t, err)
	must(t, os.Chmod(conf, 0o600))
	drift, err := f.x.Verify(t.Context())
	must(t, err)
	if len(drift) != 1 || !strings.Contains(drift[0].String(), "mode 0600 instead of 0640") {
		t.Fatalf("drift %v", drift)
	}
	wantText(t, f.x.Revert(t.Context(), tx.ID), "mode 0600 instead of 0640")
	wantEqual(t, "content", content(t, conf), "a\n")
	must(t, os.Chmod(conf, 0o640))
	_, err = f.x.Recover(t.Context())
	must(t, err)
}

// TestUndoOrder: a kept change under another one on the same file is not
// undone alone.
func TestUndoOrder(t *testing.T) {
	f := newFixture(t)
	conf, other := f.file("web.conf", "0"), f.file("other", "0")
	dir := filepath.Join(f.dir, "kasoku-d")
	before := f.tree()
	for _, changes := range [][]Change{
		{edit1(conf, "0", "1", "web", Reload), {Kind: KindDir, Path: dir}},
		{edit1(other, "0", "1", "web", Reload)},
		{edit1(conf, "1", "2", "web", Reload), edit1(other, "1", "2", "web", Reload)},
		{edit1(other, "2", "3", "php", Reload)},
		{create(filepath.Join(dir, "f"), "x", "db")},
	} {
		tx, err := f.apply(changes...)
		must(t, err)
		must(t, f.x.Keep(t.Context(), tx.ID))
	}
	later := func(id int64) string {
		var e *LaterError
		if err := f.x.Undo(t.Context(), id, false); !errors.As(err, &e) {
			t.Fatalf("undo %d: %v", id, err)
		}
		return states(e.Later)
	}
	wantEqual(t, "on 1", later(1), "5 kept, 4 kept, 3 kept")
	wantEqual(t, "on 2", later(2), "4 kept, 3 kept")
	wantEqual(t, "on 3", later(3), "4 kept")
	f.did()
	must(t, f.x.Undo(t.Context(), 3, true))
	wantEqual(t, "each service once", f.did(), "reload php, reload web")
	wantEqual(t, "conf", content(t, conf)+content(t, other), "11")
	wantEqual(t, "kept", states(f.x.Kept()), "1 kept, 2 kept, 5 kept")

	must(t, os.WriteFile(other, []byte("theirs"), 0o640))
	drift, err := f.x.Verify(t.Context())
	must(t, err)
	if len(drift) != 1 || drift[0].Tx != 2 || drift[0].Object != other {
		t.Fatalf("drift %v", drift)
	}
	var conflict *ConflictError
	if err := f.x.UndoAll(t.Context()); !errors.As(err, &conflict) || conflict.Tx != 2 {
		t.Fatalf("undo all: %v", err)
	}
	wantEqual(t, "history", states(f.x.History()), "1 undone, 2 undoing, 3 undone, 4 undone, 5 undone")
	f.file("other", "0")
	must(t, f.x.UndoAll(t.Context()))
	wantEqual(t, "files", f.tree(), before)
	must(t, f.x.UndoAll(t.Context()))
}

// TestStackedApplied: the lower of two applied transactions on one file is not
// reverted under the upper one.
func TestStackedApplied(t *testing.T) {
	f := newFixture(t)
	conf := f.file("web.conf", "0")
	before := f.tree()
	for i, c := range []Change{edit1(conf, "0", "1", "web", Reload), edit1(conf, "1", "2", "web", Reload)} {
		if tx, err := f.apply(c); err != nil || tx.ID != int64(i+1) {
			t.Fatal(tx, err)
		}
	}
	var later *LaterError
	if err := f.x.Revert(t.Context(), 1); !errors.As(err, &later) {
		t.Fatalf("error %v", err)
	}
	f.reopen()
	txs, err := f.x.Recover(t.Context())
	must(t, err)
	wantEqual(t, "recovered", states(txs), "2 reverted, 1 reverted")
	wantEqual(t, "files", f.tree(), before)
}

// TestDebris: a half-written copy that a kill left beside a file is removed,
// another project's is not.
func TestDebris(t *testing.T) {
	f := newFixture(t)
	conf := f.file("web.conf", "a\n")
	theirs := f.file(host.TempPrefix("/elsewhere")+"1", "")
	before := f.tree()
	_, err := f.apply(edit1(conf, "a\n", "b\n", "web", Reload))
	must(t, err)
	f.file(host.TempPrefix(conf)+"2", "half")
	f.reopen()
	_, err = f.x.Recover(t.Context())
	must(t, err)
	wantEqual(t, "files", f.tree(), before)
	wantEqual(t, "theirs", content(t, theirs), "")
}

func TestDamagedBlob(t *testing.T) {
	f := newFixture(t)
	conf := f.file("web.conf", "a\n")
	tx, err := f.apply(edit1(conf, "a\n", "b\n", "web", Reload))
	must(t, err)
	blob := f.x.journal.blobPath(tx.Changes[0].Before.Hash)
	must(t, os.WriteFile(blob, []byte("rot"), 0o600))
	wantText(t, f.x.Revert(t.Context(), tx.ID), blob, "damaged")
	wantEqual(t, "content", content(t, conf), "b\n")
	wantEqual(t, "pending", states(f.x.Pending()), "1 reverting")
	must(t, os.WriteFile(blob, []byte("a\n"), 0o600))
	must(t, f.x.Revert(t.Context(), tx.ID))
	wantEqual(t, "content", content(t, conf), "a\n")
}

// What someone else has put in place of a file in a directory of Kasoku's own
// stays when the directory goes, and so does the directory.
func TestDirectoryHoldsSomeoneElsesFile(t *testing.T) {
	for _, row := range []struct{ name, step string }{{"before it is written", "tx1.change1.intent"}, {"after", "tx1.activated"}} {
		t.Run(row.name, func(t *testing.T) {
			f := newFixture(t)
			dir := filepath.Join(f.dir, "kasoku-cache")
			file := filepath.Join(dir, "new")
			f.trace = func(step string) {
				if step == row.step {
					must(t, os.WriteFile(file, []byte("theirs"), 0o644))
				}
			}
			tx, err := f.apply(Change{Kind: KindDir, Path: dir}, create(file, "ours", ""))
			if err == nil {
				err = f.x.Keep(t.Context(), tx.ID)
			}
			wantErr(t, err, ErrChanged)
			_, err = f.x.Recover(t.Context())
			var conflict *ConflictError
			if !errors.As(err, &conflict) {
				t.Errorf("recover: %v", err)
			}
			wantEqual(t, "their file", content(t, file), "theirs")
			must(t, os.Remove(file))
			if _, err := f.x.Recover(t.Context()); err != nil {
				t.Errorf("after they took it away: %v", err)
			}
			if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the directory is still there: %v", err)
			}
		})
	}
}
