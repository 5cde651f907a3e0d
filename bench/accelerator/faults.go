package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// faults is how often something was broken in a trial.
type faults struct{ queries, connections, processes, servers int }

// breaker breaks things while the processes of a trial work, and waits for their ends.
type breaker struct {
	*server
	trial
	random *rand.Rand
	done   faults
}

// pause is about how long nothing is broken.
const pause = 60 * time.Millisecond

// watch returns when all processes have ended. begin starts another one that has so many
// transactions to do.
func (b *breaker) watch(ctx context.Context, all func() []*process, begin func(int) error) error {
	kills, restarts := 1+b.txns/400, 1
	for n := 0; n < len(all()); n++ {
		p := all()[n]
		for ended := false; !ended; {
			wait := time.Hour
			if b.trial.faults {
				wait = time.Duration(float64(pause) * (0.5 + b.random.Float64()))
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case err := <-p.ended:
				ended = true
				if err != nil && p.cmd.ProcessState.ExitCode() > 0 {
					return fmt.Errorf("%s, process %d: %w: %s", b.name, n, err, p.stderr.String())
				}
			case <-time.After(wait):
				if err := b.breakOne(ctx, p, &kills, &restarts, begin); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// breakOne kills a query, a connection, the process, or the server.
func (b *breaker) breakOne(ctx context.Context, p *process, kills, restarts *int, begin func(int) error) error {
	switch n := b.random.IntN(40); {
	case n < 2 && *restarts > 0:
		*restarts--
		b.done.servers++
		b.kill()
		return b.start(ctx)
	case n < 8 && *kills > 0:
		*kills--
		b.done.processes++
		_ = p.cmd.Process.Kill()
		did, err := read(p.out)
		if err != nil {
			return err
		}
		return begin(max(b.txns-len(did), 20)) // about what it has left
	case n < 24:
		b.done.queries += b.killOne(ctx, "QUERY")
	default:
		b.done.connections += b.killOne(ctx, "CONNECTION")
	}
	return nil
}

// killOne kills what one connection that works does, or the connection; 1 if there was one.
func (b *breaker) killOne(ctx context.Context, what string) int {
	var id int
	if b.db.QueryRowContext(ctx, "SELECT id FROM information_schema.processlist WHERE db = 'app' AND id <> CONNECTION_ID() AND (command <> 'Sleep' OR ?) ORDER BY RAND() LIMIT 1", what == "CONNECTION").Scan(&id) != nil {
		return 0
	}
	if _, err := b.db.ExecContext(ctx, fmt.Sprintf("KILL %s %d", what, id)); err != nil {
		return 0 // it has ended by itself
	}
	return 1
}
