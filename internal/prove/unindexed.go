package prove

import (
	"context"
	"fmt"
	"strings"

	"kasoku/internal/load"
)

// askUnindexed makes a take without the indexes that were made since the book was recorded,
// and one with them again, if pages would fail: one that is as recorded in the first and not
// in the second differs by an index alone, and thus in what SQL leaves open (the SQL standard
// has no order of rows but that of ORDER BY).
func (e *equality) askUnindexed(ctx context.Context, opts load.Options) error {
	failing := e.failing()
	if len(failing) == 0 || e.o.Unindexed == nil {
		return nil
	}
	right, wrong := map[string]bool{}, map[string]bool{}
	indexes, err := e.o.Unindexed(ctx, func(ctx context.Context) error {
		_, err := e.b.walk(ctx, opts, func(key string, v load.Visit, a load.Answer) error {
			if p := e.b.lookup(key); p != nil && failing[key] {
				e.r.Reads++
				if p.differs(v, a) == "" {
					right[key] = true
				} else {
					wrong[key] = true
				}
			}
			return ctx.Err()
		})
		return err
	})
	if err != nil || len(indexes) == 0 || len(right) == 0 {
		return err
	}
	e.indexes = indexes
	again, other, err := e.again(ctx, opts, atOnce)
	if err != nil {
		return err
	}
	for key := range right {
		e.differ[key].order = !wrong[key] && other[key] && !again[key]
	}
	return nil
}

// byIndex says why n pages differ and nothing is wrong with them.
func (e *equality) byIndex(n int) string {
	them := "them"
	if len(e.indexes) == 1 {
		them = "it"
	}
	return fmt.Sprintf("%s by %s alone: without %s the answers are as found. An index changes no row, only which comes first of those that ORDER BY takes for equal, or which of them LIMIT gives. SQL leaves that open. Who needs the order names one more column in ORDER BY, best the key",
		count(n, "request differs", "requests differ"), strings.Join(e.indexes, ", "), them)
}
