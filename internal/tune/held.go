package tune

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/load"
	"kasoku/internal/stack"
)

// heldTime bounds the look at what waits in a database.
const heldTime = 5 * time.Second

// tellHeld adds to the first complaint of a benchmark that judged the service wrong what
// waits in its databases right then.
func (b *Bench) tellHeld(ctx context.Context, res *load.Result) {
	if !b.Foreign() || res.Score > 0 || res.Mismatches == 0 || len(res.Samples) == 0 {
		return
	}
	if text := b.held(ctx); text != "" {
		res.Samples[0].Got += "; " + text
	}
}

// unheld does something with tables, and does it once more after load.reset if a transaction
// held one: what a run left open is what load.reset clears away.
func (s *switcher) unheld(ctx context.Context, do func() error) error {
	err := do()
	if !errors.Is(err, change.ErrTableHeld) || ctx.Err() != nil || !s.bench.Stack.Load.Reset.Set() {
		return err
	}
	s.bench.note("a transaction that a run left open holds a table: load.reset is run before the next try")
	if again := s.bench.reset(ctx); again != nil {
		return errors.Join(err, again)
	}
	return do()
}

// held says which databases have statements that wait for a table which a transaction of an
// idle connection holds; "" if none is seen. A benchmark that makes tables anew waits so
// where the run before left a transaction open: what the application called in it (a mock of
// the benchmark's own) ended with that run, and its connection was never closed.
func (b *Bench) held(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, heldTime)
	defer cancel()
	var out []string
	for _, svc := range b.Stack.OfKind(stack.MariaDB, stack.MySQL) {
		user, idle, ok := b.idleHolder(ctx, svc)
		if !ok {
			continue
		}
		var callers []string
		for i := range b.Stack.Services {
			if s := &b.Stack.Services[i]; s.Kind == stack.App && slices.Contains(s.TalksTo, svc.Name) {
				callers = append(callers, s.Name)
			}
		}
		text := fmt.Sprintf("in %s a statement waits for a table that an idle connection of %s holds, by a transaction that was left open %s ago", svc.Name, user, idle)
		if len(callers) > 0 {
			text += fmt.Sprintf("; have load.reset restart %s, so that each run begins without it", strings.Join(callers, " and "))
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

// idleHolder is the user of a connection that does nothing, and for how long, while its
// transaction is open and another connection waits for a table's metadata lock
// (MariaDB documentation, "Metadata Locking"; MySQL manual, "General Thread States"). What
// cannot be asked is not known.
func (b *Bench) idleHolder(ctx context.Context, svc *stack.Service) (user string, idle time.Duration, ok bool) {
	h := b.Hosts[svc.HostName()]
	if h == nil {
		return "", 0, false
	}
	db, err := stack.OpenDB(ctx, h, svc)
	if err != nil {
		return "", 0, false
	}
	defer db.Close()
	var seconds int64
	err = db.QueryRowContext(ctx, `SELECT p.USER, p.TIME FROM information_schema.INNODB_TRX t
		JOIN information_schema.PROCESSLIST p ON p.ID = t.trx_mysql_thread_id
		WHERE p.COMMAND = 'Sleep' AND EXISTS (SELECT 1 FROM information_schema.PROCESSLIST w WHERE w.STATE = 'Waiting for table metadata lock')
		ORDER BY p.TIME DESC LIMIT 1`).Scan(&user, &seconds)
	return user, time.Duration(seconds) * time.Second, err == nil
}
