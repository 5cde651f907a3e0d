package change

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/host"
	"kasoku/internal/host/hosttest"
)

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

// TestUndoAllLeavesNothing: as found is without Kasoku's own folder; what another
// project has there stays, and so does all while something is in force.
func TestUndoAllLeavesNothing(t *testing.T) {
	f, options := mirrored(t)
	base := filepath.Join(f.dir, ".kasoku", "host")
	again := func() {
		t.Helper()
		must(t, f.x.Close())
		var err error
		f.x, err = Open(t.Context(), options())
		must(t, err)
	}
	conf := f.file("web.conf", "a\n")
	for range 2 {
		tx, err := f.apply(edit1(conf, "a\n", "b\n", "web", Reload))
		must(t, err)
		must(t, f.x.Keep(t.Context(), tx.ID))
		again()
		must(t, f.x.Undo(t.Context(), tx.ID, false))
		again()
	}
	if content(t, filepath.Join(f.copyDir(), journalFile)) != content(t, f.journalPath()) {
		t.Error("undo of one change: the copy is another than the journal")
	}
	tx, err := f.apply(edit1(conf, "a\n", "b\n", "web", Reload))
	must(t, err)
	must(t, f.x.Keep(t.Context(), tx.ID))
	other := filepath.Join(base, "0123456789abcdef")
	must(t, os.Mkdir(other, 0o700))
	must(t, f.x.UndoAll(t.Context()))
	must(t, f.x.Close())
	left, err := os.ReadDir(base)
	must(t, err)
	if names := fmt.Sprint(left); !strings.Contains(names, filepath.Base(other)) || !strings.Contains(names, leaseFile) || len(left) != 3 {
		t.Errorf("left beside another project: %s", names)
	}
	must(t, os.Remove(other))
	f.x, err = Open(t.Context(), options()) // it makes its folder anew
	must(t, err)
	tx, err = f.apply(edit1(conf, "a\n", "b\n", "web", Reload))
	must(t, err)
	if content(t, filepath.Join(f.copyDir(), journalFile)) != content(t, f.journalPath()) {
		t.Error("taken up again: the copy is another than the journal")
	}
	must(t, f.x.Keep(t.Context(), tx.ID))
	must(t, f.x.UndoAll(t.Context()))
	must(t, f.x.Close())
	if _, err := os.Stat(base); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", base, err)
	}
	f.x, err = Open(t.Context(), options())
	must(t, err)
}

// TestLostJournalFails: whatever fails while a journal is written from the host's
// copy is told, and what is there until then does not count as a journal.
func TestLostJournalFails(t *testing.T) {
	f, _ := mirrored(t)
	tx, err := f.apply(f.plan()[:5]...)
	must(t, err)
	must(t, f.x.Keep(t.Context(), tx.ID))
	must(t, f.x.Close())
	from := f.copyDir()
	lines := []byte(content(t, filepath.Join(from, journalFile)))
	for op, least := range map[hosttest.Op]int{hosttest.MakeDir: 2, hosttest.List: 1, hosttest.Read: 1, hosttest.Replace: 3} {
		failed := 0
		for ; ; failed++ {
			h := hosttest.NewFaulty(host.NewLocal())
			h.Arm(hosttest.Fault{Op: op, N: failed + 1, Err: hosttest.ErrDiskFull})
			j := &journal{dir: filepath.Join(t.TempDir(), "journal"), host: h}
			err := j.fill(t.Context(), h, from, lines)
			got, readErr := os.ReadFile(filepath.Join(j.dir, journalFile))
			if err == nil {
				must(t, readErr)
				wantEqual(t, "journal", string(got), string(lines))
				break
			}
			wantErr(t, err, hosttest.ErrDiskFull)
			if !os.IsNotExist(readErr) {
				t.Errorf("%s %d failed, and there is a journal: %v", op, failed+1, readErr)
			}
		}
		if failed < least {
			t.Errorf("%s failed %d times without being told, want at least %d", op, failed, least)
		}
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
	await.SkipShort(t)
	for _, c := range []struct {
		name  string
		fault hosttest.Fault
		fails bool // Apply, which then has put everything back
	}{
		{"answer lost", hosttest.Fault{Op: hosttest.Run, Match: "journal.jsonl", N: 4, Cut: true}, false},
		{"disk full", hosttest.Fault{Op: hosttest.Run, Match: "journal.jsonl", N: 4, Exit: 4, Stderr: "No space left on device"}, true},
		{"disk stays full", hosttest.Fault{Op: hosttest.Run, Match: "journal.jsonl", N: 4, Times: 3, Exit: 4, Stderr: "No space left on device"}, true},
		{"not sent", hosttest.Fault{Op: hosttest.Run, Match: "journal.jsonl", N: 4, Err: hosttest.ErrLost}, true},
		{"not sent, and not needed", hosttest.Fault{Op: hosttest.Run, Match: "journal.jsonl", N: 5, Err: hosttest.ErrLost}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, options := mirrored(t)
			conf := f.file("web.conf", "a\n")
			before := f.tree()
			f.host.Arm(c.fault)
			tx, err := f.apply(edit1(conf, "a\n", "b\n", "web", Reload))
			if (err != nil) != c.fails {
				t.Fatalf("apply: %v", err)
			}
			if c.fails {
				wantEqual(t, "files", f.tree(), before)
			} else {
				must(t, f.x.Revert(t.Context(), tx.ID))
			}
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
	begun := time.Now().Truncate(time.Second).Add(-time.Second) // files have the time of the tick before, told in whole seconds
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
	if tr.ChangeTime.Before(begun) || tr.ChangeTime.After(time.Now()) || tr.UID != os.Getuid() || len(tr.OpenBy) == 0 || !strings.Contains(strings.Join(tr.OpenBy, " "), itoa(os.Getpid())) {
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
