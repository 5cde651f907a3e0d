package prove

import (
	"cmp"
	"context"
	"time"

	"kasoku/internal/load"
)

// takeBackTime bounds taking back all writes of a check: its service may be down.
const takeBackTime = 30 * time.Second

// takeBack closes writes and does what takes them back, also when ctx has ended.
// A write that was not acknowledged may not be there to be taken back.
func takeBack(ctx context.Context, r *Result, deeds []*load.Deed) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), takeBackTime)
	defer cancel()
	var first error
	left := 0
	for _, d := range deeds {
		d.Close()
		if err := d.TakeBack(ctx); err != nil && !d.Acked.IsZero() {
			first = cmp.Or(first, err)
			left++
		}
	}
	if left > 0 {
		r.note("%s of the check stayed in the service: %v", count(left, "write", "writes"), first)
	}
}
