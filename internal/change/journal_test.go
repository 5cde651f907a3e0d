package change

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"kasoku/internal/await"
)

func (f *fixture) journalPath() string {
	return filepath.Join(JournalDir(f.options().Dir), journalFile)
}

// TestTornLine: the line that was being written when the power failed is cut
// off, wherever it was cut.
func TestTornLine(t *testing.T) {
	f := newFixture(t)
	conf := f.file("web.conf", "a\n")
	tx, err := f.apply(edit1(conf, "a\n", "b\n", "web", Reload))
	must(t, err)
	must(t, f.x.Keep(t.Context(), tx.ID))
	must(t, f.x.Close())
	whole := content(t, f.journalPath())
	last := strings.LastIndex(strings.TrimSuffix(whole, "\n"), "\n") + 1
	for cut := last; cut < len(whole); cut += 7 {
		must(t, os.WriteFile(f.journalPath(), []byte(whole[:cut]), 0o600))
		f.open()
		wantEqual(t, "history", states(f.x.History()), "1 applied")
		wantEqual(t, "journal", content(t, f.journalPath()), whole[:last])
		must(t, f.x.Close())
	}
	// A file system that grew the file before it wrote the bytes.
	must(t, os.WriteFile(f.journalPath(), []byte(whole[:last]+strings.Repeat("\x00", 50)), 0o600))
	f.open()
	must(t, f.x.Keep(t.Context(), 1))
	must(t, f.x.Close())
	// Torn while the very first line was written.
	must(t, os.WriteFile(f.journalPath(), []byte(whole[:20]), 0o600))
	f.open()
	wantEqual(t, "history", states(f.x.History()), "")
}

func TestDamagedJournal(t *testing.T) {
	f := newFixture(t)
	conf := f.file("web.conf", "a\n")
	_, err := f.apply(edit1(conf, "a\n", "b\n", "web", Reload))
	must(t, err)
	must(t, f.x.Close())
	whole := content(t, f.journalPath())
	lines := strings.SplitAfter(whole, "\n")
	for _, c := range []struct {
		name, text, says string
	}{
		{"a bit flipped", strings.Replace(whole, `"title":"test"`, `"title":"tesT"`, 1), "line 2"},
		{"a line missing", lines[0] + strings.Join(lines[2:], ""), "line 2"},
		{"a line doubled", lines[0] + lines[1] + strings.Join(lines[1:], ""), "line 3"},
		{"garbage in the middle", lines[0] + lines[1] + "x\n" + strings.Join(lines[2:], ""), "line 3"},
		{"a newer format", line(t, record{N: 1, Format: version + 1}), "format 3"},
		{"a word of a newer format", whole + line(t, record{N: int64(len(lines)), Tx: 1, Op: "danced"}), "danced"},
		{"an unknown transaction", whole + line(t, record{N: int64(len(lines)), Tx: 9, Op: opKept}), "tx 9"},
		{"an unknown change", whole + line(t, record{N: int64(len(lines)), Tx: 1, Op: opIntent, Change: new(5)}), "does not have"},
	} {
		t.Run(c.name, func(t *testing.T) {
			must(t, os.WriteFile(f.journalPath(), []byte(c.text), 0o600))
			_, err := Open(t.Context(), f.options())
			wantText(t, err, c.says, f.journalPath(), "README.txt")
			if _, err := Read(f.options().Dir); err == nil {
				t.Fatal("Read took it")
			}
		})
	}
	must(t, os.WriteFile(f.journalPath(), []byte(whole), 0o600))
	f.open()
	_, err = f.x.Recover(t.Context())
	must(t, err)
	wantEqual(t, "content", content(t, conf), "a\n")
}

func line(t *testing.T, r record) string {
	t.Helper()
	b, err := r.line()
	must(t, err)
	return string(b)
}

// fullDisk lets some lines pass and then writes half a line.
type fullDisk struct {
	file
	pass   int
	sticky bool // truncating fails too
}

func (d *fullDisk) Write(b []byte) (int, error) {
	if d.pass--; d.pass >= 0 {
		return d.file.Write(b)
	}
	n, _ := d.file.Write(b[:len(b)/2])
	return n, syscall.ENOSPC
}

func (d *fullDisk) Truncate(size int64) error {
	if d.sticky {
		return syscall.EIO
	}
	return d.file.Truncate(size)
}

// TestJournalDiskFull: wherever the journal's disk becomes full, the target is
// put back and nothing is written that the journal does not know.
func TestJournalDiskFull(t *testing.T) {
	await.SkipShort(t)
	for _, sticky := range []bool{false, true} {
		for pass := 0; ; pass++ {
			f := newFixture(t)
			changes := f.plan()
			before := f.tree()
			f.x.journal.out = &fullDisk{f.x.journal.out, pass, sticky}
			_, err := f.apply(changes...)
			if err == nil {
				t.Logf("%d lines", pass)
				break
			}
			wantErr(t, err, syscall.ENOSPC)
			wantText(t, err, f.journalPath())
			wantEqual(t, "files", f.tree(), before)
			f.reopen()
			_, err = f.x.Recover(t.Context())
			must(t, err)
			wantEqual(t, "files after recovery", f.tree(), before)
			if _, err := f.apply(changes...); err != nil {
				t.Fatal(err)
			}
			must(t, f.x.Close())
		}
	}
}

// TestUndoNeedsItsLine: a kept transaction is not touched when the journal
// cannot be told, because a kill would then leave it half undone.
func TestUndoNeedsItsLine(t *testing.T) {
	f := newFixture(t)
	conf := f.file("web.conf", "a\n")
	tx, err := f.apply(edit1(conf, "a\n", "b\n", "web", Reload))
	must(t, err)
	must(t, f.x.Keep(t.Context(), tx.ID))
	f.x.journal.out = &fullDisk{file: f.x.journal.out}
	wantErr(t, f.x.Undo(t.Context(), tx.ID, false), syscall.ENOSPC)
	wantEqual(t, "content", content(t, conf), "b\n")
	wantEqual(t, "history", states(f.x.History()), "1 kept")
}

// TestReplayPrefixes: every prefix of whole lines of a real journal is a
// journal, and a damaged byte in a whole line never passes unseen.
func TestReplayPrefixes(t *testing.T) {
	f := newFixture(t)
	changes := f.plan()
	for range 2 {
		tx, err := f.apply(changes...)
		must(t, err)
		must(t, f.x.Revert(t.Context(), tx.ID))
	}
	whole := []byte(content(t, f.journalPath()))
	rapid.Check(t, func(t *rapid.T) {
		cut := rapid.IntRange(0, len(whole)).Draw(t, "cut")
		h, good, err := replay("j", whole[:cut])
		if err != nil || good > int64(cut) || int(h.lines) != strings.Count(string(whole[:cut]), "\n") {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		damaged := append([]byte(nil), whole...)
		at := rapid.IntRange(0, len(whole)-1).Draw(t, "at")
		damaged[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "flip"))
		if h, good, err := replay("j", damaged); err == nil && good == int64(len(whole)) {
			t.Fatalf("byte %d flipped and not seen: %d transactions", at, len(h.txs))
		}
	})
}

func FuzzReplay(f *testing.F) {
	first, err := record{N: 1, Format: version}.line()
	if err != nil {
		f.Fatal(err)
	}
	begin, err := record{N: 2, Tx: 1, Op: opBegin, Changes: []Change{{Kind: KindFile, Before: &FileState{Mode: 0o644}}}}.line()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(first)
	f.Add(append(first, begin...))
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if h, good, err := replay("j", data); err == nil && (h == nil || good > int64(len(data))) {
			t.Fatal("no history")
		} else if err != nil && !strings.Contains(err.Error(), "line") {
			t.Fatalf("%v names no line", errors.Unwrap(err))
		}
	})
}
