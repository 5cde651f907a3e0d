package prove

import (
	"context"
	"time"

	"kasoku/internal/load"
	"kasoku/internal/ui"
)

// lookup asks for acknowledged writes after a crash or reboot.
type lookup struct {
	w     *load.Witness
	r     *Result
	o     CrashOptions
	since time.Time // when the server was gone
	lost  int
	back  bool // some reader was answered since
}

// question is whether a reader sees a write, with what it saw last.
type question struct {
	d      *load.Deed
	reader int
	sight  load.Sight
}

// all asks every reader for every write, the newest first. A write is lost if
// it is missing when the service has been back for o.Again.
func (l *lookup) all(ctx context.Context, deeds []*load.Deed) error {
	var open []question
	for n := len(deeds) - 1; n >= 0; n-- {
		for i := range l.w.Readers() {
			open = append(open, question{d: deeds[n], reader: i})
		}
	}
	if len(open) == 0 {
		return nil
	}
	if err := l.await(ctx, &open[0]); err != nil {
		return err
	}
	if !l.back {
		l.r.fail("", "nothing was answered within %s, so that no write could be asked for: %s", ui.Duration(l.o.Back), saw(open[0].sight))
		return nil
	}
	l.r.Reads += len(open)
	missing, err := l.missing(ctx, open)
	if err != nil {
		return err
	}
	for i, q := range missing {
		if i == 0 || q.d != missing[i-1].d {
			l.lost++
		}
		l.r.fail("", "a write acknowledged %s before the end is lost: reader %q: %s", ui.Duration(max(0, l.since.Sub(q.d.Acked))), q.sight.Reader, saw(q.sight))
	}
	return nil
}

// await asks one question until the service answers at all.
func (l *lookup) await(ctx context.Context, q *question) (err error) {
	for !l.back {
		if q.sight, err = q.d.Look(ctx, q.reader); err != nil {
			return err
		}
		switch {
		case q.sight.Right || q.sight.Answered() && q.sight.Status < 500:
			l.back = true
			if l.r.Check == Durability { // after a reboot the service itself was asked
				l.r.BackAfter = time.Since(l.since)
			}
			return nil
		case time.Since(l.since) > l.o.Back:
			return nil
		}
		if err := pause(ctx, stalePause); err != nil {
			return err
		}
	}
	return nil
}

// missing asks the questions until o.Again is over, and once after that. What
// readers do not see even then is missing.
func (l *lookup) missing(ctx context.Context, open []question) ([]question, error) {
	begun := time.Now()
	for last := false; ; {
		var left []question
		for _, q := range open {
			var err error
			if q.sight, err = q.d.Look(ctx, q.reader); err != nil {
				return nil, err
			}
			if !q.sight.Right {
				left = append(left, q)
			}
		}
		if last || len(left) == 0 {
			return left, nil
		}
		open, last = left, time.Since(begun) > l.o.Again
		if err := pause(ctx, max(stalePause, time.Since(begun)/20)); err != nil {
			return nil, err
		}
	}
}
