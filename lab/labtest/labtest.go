// Package labtest gives tests disposable hosts. In: what lab.Up takes. Out: a
// lab that goes with the test. The test's package must call lab.Helper first in
// its TestMain.
package labtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"kasoku/lab"
)

// Up makes a lab for the test and takes it down at the test's end. The base is
// the machine's cached one; the first use builds it, which takes minutes. The
// name is made up. Without root the test is skipped, and with -short; whatever
// else is missing fails it.
func Up(t testing.TB, o lab.Options) *lab.Lab {
	t.Helper()
	if testing.Short() {
		t.Skip("disposable hosts take too long for -short")
	}
	if os.Geteuid() != 0 {
		t.Skip("disposable hosts need root")
	}
	sweep(t, o.Dir)
	o.Name = Name()
	if o.Progress == nil {
		o.Progress = func(s string) { t.Log(s) }
	}
	l, err := lab.Up(t.Context(), o)
	if err != nil {
		var cannot *lab.CannotError
		if errors.As(err, &cannot) {
			t.Fatalf("%v; %s", err, cannot.Hint())
		}
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Down(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return l
}

var names struct {
	sync.Mutex
	n int
}

// Name is a new lab's, of this process.
func Name() string {
	names.Lock()
	defer names.Unlock()
	names.n++
	return fmt.Sprintf("test-%d-%d", os.Getpid(), names.n)
}

// sweep takes down labs of tests that were killed.
func sweep(t testing.TB, dir string) {
	t.Helper()
	labs, err := lab.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range labs {
		f := strings.Split(l.Name, "-")
		if len(f) != 3 || f[0] != "test" {
			continue
		}
		pid, err := strconv.Atoi(f[1])
		if err != nil {
			continue
		}
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); os.IsNotExist(err) {
			t.Logf("removing %s, which a killed test left", l.Name)
			if err := l.Down(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}
