package rewind

import (
	"context"
	"database/sql"
	"time"
)

const (
	// settleLimit is the most that is waited for statements under way when rows are to
	// be put back: as long as most clients wait for an answer before they give up.
	settleLimit = 5 * time.Second
	// settleEvery is the time between two looks, of which quietLooks one after the other
	// have to find nothing: an application does other things between its statements.
	settleEvery = 50 * time.Millisecond
	quietLooks  = 3
)

// settle waits until nobody else has a statement or a transaction that wrote under way:
// requests that a load gave up are still worked on, and what they write after the rows
// are back would stay. It gives up after settleLimit, as with an application that waits
// in a statement for something to do.
func settle(ctx context.Context, c *sql.Conn) error {
	end := time.NewTimer(settleLimit)
	defer end.Stop()
	tick := time.NewTicker(settleEvery)
	defer tick.Stop()
	for quiet := 0; ; {
		if underWay(ctx, c) > 0 {
			quiet = 0
		} else if quiet++; quiet == quietLooks {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-end.C:
			return nil
		case <-tick.C:
		}
	}
}

// underWay counts statements that others have under way and open transactions of
// others that changed rows. A login that may not see others' sees none.
func underWay(ctx context.Context, c *sql.Conn) int {
	all := 0
	for _, query := range []string{
		"SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() AND COMMAND IN ('Query', 'Execute', 'Prepare', 'Fetch') " +
			"AND COALESCE(STATE, '') NOT IN ('User sleep', 'User lock')",
		"SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id <> CONNECTION_ID() AND trx_rows_modified > 0",
	} {
		n := 0
		if c.QueryRowContext(ctx, query).Scan(&n) == nil {
			all += n
		}
	}
	return all
}
