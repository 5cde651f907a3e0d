package store

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Only what others write changes the mark; readers and our own writes do not.
func TestMark(t *testing.T) {
	dir := t.TempDir()
	ours, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	mark := func() string {
		t.Helper()
		m, err := ours.Mark()
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	save := func(s *Store) {
		t.Helper()
		if err := s.SaveSession(&Session{Command: "try", Started: time.Now(), State: "done"}); err != nil {
			t.Fatal(err)
		}
	}
	first := mark()
	save(ours)
	other, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Sessions(0); err != nil {
		t.Fatal(err)
	}
	if got := mark(); got != first {
		t.Errorf("after our own write and somebody's reading: %q, was %q", got, first)
	}
	save(other)
	second := mark()
	if second == first {
		t.Error("somebody else's write is not seen")
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	save(ours)
	if got := mark(); got != second {
		t.Errorf("after the other has ended: %q, was %q", got, second)
	}
	copied, err := os.ReadFile(ours.Path())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ours.Path()+"2", copied, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(ours.Path()+"2", ours.Path()); err != nil {
		t.Fatal(err)
	}
	if mark() == second {
		t.Error("another file in its place is not seen")
	}
}

// A second Store of this process leaves the first one's locks alone: without
// them another process would take the log of what is not yet in the database
// away when it ends.
func TestASecondStoreKeepsTheLocks(t *testing.T) {
	dir := t.TempDir()
	first, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	locks := func() int {
		t.Helper()
		var st syscall.Stat_t
		if err := syscall.Stat(first.Path(), &st); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile("/proc/locks")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(b), fmt.Sprintf(":%d ", st.Ino))
	}
	if _, err := first.Sessions(0); err != nil {
		t.Fatal(err)
	}
	was := locks()
	if was == 0 {
		t.Fatal("SQLite holds no lock on the database")
	}
	second, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	if now := locks(); now != was {
		t.Errorf("%d locks, were %d", now, was)
	}
}
