package change

import (
	"context"
	"fmt"
	"time"

	"kasoku/internal/stack"
)

// A guard has one host, and so one of the two databases. Whether the one that is
// left follows the other decides, and only its own host's guard can see that:
//
//	it does not follow  the other is surely read-only, for it is released last:
//	                    its guard lets it be written to again
//	it follows          it stays read-only; the other one's guard, which sees it
//	                    connect, lets the other be written to
//
// So never are both written to, and one is. Turning back needs both hosts, which
// is left to the controller.

// lookHere is look for a guard.
func (a *turnAct) lookHere(ctx context.Context) (sight, error) {
	e, err := a.hereEnd(ctx)
	if err != nil {
		return sight{}, err
	}
	defer e.close()
	held, err := e.readOnly(ctx)
	if err != nil {
		return sight{}, err
	}
	if a.c.Turn.Half { // what it should be depends on the other one
		return sight{blind: true}, nil
	}
	return sight{before: !held, after: held, got: writable(held)}, nil
}

// hereEnd is the database of this host.
func (a *turnAct) hereEnd(ctx context.Context) (*dbEnd, error) {
	return a.end(ctx, a.c.Service, a.c.Turn.FromAddress)
}

func (a *turnAct) restoreHere(ctx context.Context) error {
	e, err := a.hereEnd(ctx)
	if err != nil {
		return err
	}
	defer e.close()
	rows, err := e.rows(ctx, "SHOW SLAVE STATUS")
	if err != nil {
		return err
	}
	if a.c.Turn.Half {
		if len(rows) > 0 {
			return nil // it follows, so the other one is written to
		}
		return a.releaseIfFollowed(ctx, e)
	}
	if len(rows) > 0 {
		return fmt.Errorf("%s stays read-only, because %s has its data and is written to; turning back needs both hosts: `kasoku recover`", a.c.Service, a.c.Turn.To)
	}
	return e.release(ctx)
}

// followedWithin is how long a follower whose connection was ended may take to
// come back: it tries again after a second (MASTER_CONNECT_RETRY in follow).
const followedWithin = 10 * time.Second

// releaseIfFollowed lets a database be written to if the other one really follows
// it: a connection may be one that was left, so they are ended and must come again.
func (a *turnAct) releaseIfFollowed(ctx context.Context, e *dbEnd) error {
	const dumps = "SELECT ID AS v FROM information_schema.PROCESSLIST WHERE COMMAND LIKE 'Binlog Dump%' AND USER = '" + stack.ReplicaUser + "'"
	rows, err := e.rows(ctx, dumps)
	if err != nil {
		return err
	}
	old := map[string]bool{}
	for _, r := range rows {
		old[r["v"]] = true
		_ = e.exec(ctx, "KILL "+r["v"]) // it may have ended by itself
	}
	for deadline := time.Now().Add(followedWithin); len(rows) > 0 && time.Now().Before(deadline); {
		now, err := e.rows(ctx, dumps)
		if err != nil {
			return err
		}
		for _, r := range now {
			if !old[r["v"]] {
				return e.release(ctx)
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("%s follows nobody, and stays read-only; `kasoku recover` lets it follow %s again", a.c.Service, a.c.Turn.To)
}

// settle lets the database that is written to be so although it was restarted while
// its file said that it is not. It asks that one alone, so that its guard can: one
// that does not follow is the one to be written to, as in restoreHere. Where the
// turn could not be put back it is not asked for (see blocked).
func (a *turnAct) settle(ctx context.Context) error {
	e, err := a.hereEnd(ctx)
	if err != nil {
		return err
	}
	defer e.close()
	if held, err := e.readOnly(ctx); err != nil || !held {
		return err
	}
	rows, err := e.rows(ctx, "SHOW SLAVE STATUS")
	if err != nil {
		return err
	}
	if len(rows) > 0 {
		return fmt.Errorf("%s stays read-only, because it follows another database", a.c.Service)
	}
	return e.release(ctx)
}
