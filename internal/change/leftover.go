package change

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"kasoku/internal/host"
)

// A killed Kasoku's command may go on: the kernel kills apt-get with its
// Kasoku, but not the dpkg that apt-get started, and nothing at all on a host
// behind a cut connection. Recovery would look at a target that still changes.
// So commands of acts that last carry a mark of this .kasoku folder in their
// environment, which their children inherit, and before such an act looks, it
// waits for marked processes or ends them.

// markName is the variable that marks processes.
const markName = "KASOKU_ACT"

func (w *work) mark() string { return markName + "=" + w.x.lockName() }

// leftoverWait is how long a process that a killed Kasoku left may take to end:
// dpkg unpacks and configures a package in seconds, a database server in a minute.
const leftoverWait = 3 * time.Minute

// findLeftovers prints the pid and name of every process with the mark $1 in
// its environment.
const findLeftovers = `for e in $(grep -lzsxF -- "$1" /proc/[0-9]*/environ 2>/dev/null); do
 p=${e%/environ}; p=${p#/proc/}
 read -r name <"/proc/$p/comm" 2>/dev/null && echo "$p $name"
done
exit 0`

// leftovers lists "pid name" of processes with this folder's mark.
func (w *work) leftovers(ctx context.Context) ([]string, error) {
	r, err := w.h.Run(ctx, host.Command{Argv: []string{"sh", "-c", findLeftovers, "sh", w.mark()}})
	if err != nil {
		return nil, fmt.Errorf("%s: look for processes of a killed Kasoku: %w", w.subject(), err)
	}
	return strings.FieldsFunc(string(r.Stdout), func(c rune) bool { return c == '\n' }), nil
}

// endLeftovers kills what a killed Kasoku left running for this folder.
func (w *work) endLeftovers(ctx context.Context) error {
	return w.untilGone(ctx, func(left []string) error {
		argv := []string{"kill", "-KILL"}
		for _, l := range left {
			pid, _, _ := strings.Cut(l, " ")
			argv = append(argv, pid)
		}
		_, err := w.h.Run(ctx, host.Command{Argv: argv}) // one that ended meanwhile is no error
		return err
	}, func(string) bool { return true })
}

// awaitLeftovers waits until those of the given names have ended.
func (w *work) awaitLeftovers(ctx context.Context, names ...string) error {
	return w.untilGone(ctx, func([]string) error { return nil }, func(name string) bool {
		for _, n := range names {
			if n == name {
				return true
			}
		}
		return false
	})
}

func (w *work) untilGone(ctx context.Context, do func(left []string) error, counts func(name string) bool) error {
	deadline := time.Now().Add(leftoverWait)
	for {
		all, err := w.leftovers(ctx)
		if err != nil {
			return err
		}
		var left []string
		for _, l := range all {
			if _, name, _ := strings.Cut(l, " "); counts(name) {
				left = append(left, l)
			}
		}
		switch {
		case len(left) == 0:
			return nil
		case time.Now().After(deadline):
			return fmt.Errorf("%s: processes that a killed Kasoku left still run after %s: %s; end them and recover again", w.subject(), leftoverWait, strings.Join(left, ", "))
		}
		if err := do(left); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("%s: wait for processes of a killed Kasoku", w.subject()), ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}
