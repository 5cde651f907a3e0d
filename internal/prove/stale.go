package prove

import (
	"context"
	"fmt"
	"slices"
	"time"

	"kasoku/internal/load"
	"kasoku/internal/ui"
)

// StaleOptions say how Stale polls. The zero value of each has a default.
type StaleOptions struct {
	// Limit is how long after a write's acknowledgement a reader may be given
	// the old state. 0: every request sent after it must show the write.
	Limit time.Duration
	// Writes are made one after the other. Default 5.
	Writes int
	// Pause between two looks of all readers. Default 50 ms. Where the old state
	// lasts, it grows to a twentieth of the time since the acknowledgement: an
	// age is told to 5 %, and minutes of waiting are no load.
	Pause time.Duration
	// Settle is how long all readers must have seen a write without a break,
	// because one of several caches may still have the old state. Default 1 s.
	Settle time.Duration
	// Past is for how long after the limit a reader who still sees the old state
	// is asked on. Default 1 s.
	Past time.Duration
	// Blamer tells who gave a stale answer; may be nil.
	Blamer *Blamer
}

const (
	staleWrites = 5
	stalePause  = 50 * time.Millisecond
	staleSettle = time.Second
	stalePast   = time.Second
)

func (o StaleOptions) complete() StaleOptions {
	if o.Writes == 0 {
		o.Writes = staleWrites
	}
	if o.Pause == 0 {
		o.Pause = stalePause
	}
	if o.Settle == 0 {
		o.Settle = staleSettle
	}
	if o.Past == 0 {
		o.Past = stalePast
	}
	return o
}

// Stale makes writes and polls every reader after each. Before a write all
// readers ask, so that whatever keeps answers has the old one; a reader who
// sees a write before it was made proves nothing, and ends the check. At the
// end all readers must still see all writes.
func Stale(ctx context.Context, w *load.Witness, o StaleOptions) (Result, error) {
	o = o.complete()
	r := begin(Staleness)
	r.Limit = o.Limit
	s := &staleness{w: w, o: o, r: r, blamed: map[string]bool{}}
	var deeds []*load.Deed
	defer func() {
		for _, d := range deeds {
			d.Close()
		}
	}()
	for n := range o.Writes {
		d, err := w.Begin(ctx)
		if err != nil {
			return *r, fmt.Errorf("check staleness: prepare write %d: %w", n+1, err)
		}
		deeds = append(deeds, d)
		why, err := s.before(ctx, d)
		if err != nil {
			return *r, err
		}
		if why != "" {
			return *r.notJudged("%s", why).end(), nil
		}
		if err := d.Do(ctx); err != nil {
			return *r, fmt.Errorf("check staleness: write %d: %w", n+1, err)
		}
		r.Writes++
		if err := s.after(ctx, d, n); err != nil {
			return *r, err
		}
	}
	if err := s.still(ctx, deeds); err != nil {
		return *r, err
	}
	for _, d := range deeds {
		if err := d.TakeBack(ctx); err != nil {
			r.note("%v", err)
		}
	}
	r.Text = s.text()
	return *r.end(), nil
}

// staleness is one Stale under way.
type staleness struct {
	w      *load.Witness
	o      StaleOptions
	r      *Result
	blamed map[string]bool // readers whose stale answers were attributed
	asked  time.Duration   // the longest time between two looks of one reader
}

// before lets all readers ask; why is not "" if the check would prove nothing.
func (s *staleness) before(ctx context.Context, d *load.Deed) (why string, err error) {
	for i, name := range s.w.Readers() {
		sight, err := d.Look(ctx, i)
		if err != nil {
			return "", fmt.Errorf("check staleness: %w", err)
		}
		if sight.Right {
			return fmt.Sprintf("reader %q sees the write before it is made; its expect must hold only after it (each write needs values of its own, for example from a unique pool)", name), nil
		}
		if !sight.Answered() {
			return fmt.Sprintf("reader %q got no answer before the write: %s", name, sight.Got), nil
		}
	}
	return "", nil
}

// after polls all readers until they have seen the write for Settle, or the
// limit has passed by Past.
func (s *staleness) after(ctx context.Context, d *load.Deed, n int) error {
	names := s.w.Readers()
	since := make([]time.Time, len(names)) // from when each has seen it without a break
	last := make([]time.Time, len(names))
	failed := make([]bool, len(names))
	for {
		settled := true
		for i, name := range names {
			sight, err := d.Look(ctx, i)
			if err != nil {
				return fmt.Errorf("check staleness: %w", err)
			}
			if !last[i].IsZero() {
				s.asked = max(s.asked, sight.Sent.Sub(last[i]))
			}
			last[i] = sight.Sent
			s.r.Reads++
			if sight.Right {
				if since[i].IsZero() {
					since[i] = sight.Done
				}
				settled = settled && time.Since(since[i]) >= s.o.Settle
				continue
			}
			settled, since[i] = false, time.Time{}
			age := sight.Sent.Sub(d.Acked)
			s.r.Worst = max(s.r.Worst, age)
			if age > s.o.Limit && !failed[i] {
				failed[i] = true
				by := s.blame(ctx, d, i, sight)
				s.r.problem(Problem{By: by, What: fmt.Sprintf("write %d: reader %q did not see it %s after it was acknowledged (allowed: %s): %s", n+1, name, ui.Duration(age), ui.Duration(s.o.Limit), saw(sight))})
			}
		}
		if settled || time.Since(d.Acked) > s.o.Limit+s.o.Past && slices.Contains(failed, true) {
			return nil
		}
		if err := pause(ctx, max(s.o.Pause, time.Since(d.Acked)/20)); err != nil {
			return err
		}
	}
}

// blame tells once for each reader who gave the stale answer.
func (s *staleness) blame(ctx context.Context, d *load.Deed, i int, sight load.Sight) string {
	if s.o.Blamer == nil || s.blamed[sight.Reader] {
		return ""
	}
	s.blamed[sight.Reader] = true
	return s.o.Blamer.Stale(ctx, d, i, sight)
}

// still asks for every write once more: one that was seen must not be gone.
func (s *staleness) still(ctx context.Context, deeds []*load.Deed) error {
	if s.r.Outcome == Failed {
		return nil // it is known already that not all are seen
	}
	for n, d := range deeds[:max(0, len(deeds)-1)] { // the last was just looked at
		for i, name := range s.w.Readers() {
			sight, err := d.Look(ctx, i)
			if err != nil {
				return fmt.Errorf("check staleness: %w", err)
			}
			s.r.Reads++
			if !sight.Right {
				s.r.fail(s.blame(ctx, d, i, sight), "write %d: reader %q saw it, and does not any more %s after it was acknowledged: %s", n+1, name, ui.Duration(sight.Sent.Sub(d.Acked)), saw(sight))
			}
		}
	}
	return nil
}

func (s *staleness) text() string {
	readers := count(len(s.w.Readers()), "reader", "readers")
	seen := "each was seen by every request that was sent after its acknowledgement"
	if s.r.Worst > 0 {
		seen = fmt.Sprintf("the old state was still given %s after an acknowledgement at most", ui.Duration(s.r.Worst))
	}
	limit := ui.Duration(s.o.Limit) + " is allowed"
	if s.o.Limit == 0 {
		limit = "nothing older is allowed"
	}
	return fmt.Sprintf("%s, polled by %s every %s: %s; %s", count(s.r.Writes, "write", "writes"), readers, ui.Duration(max(s.asked, s.o.Pause)), seen, limit)
}

// saw says what was wrong with what a reader got.
func saw(s load.Sight) string {
	if s.Status == 0 {
		return "no answer: " + s.Got
	}
	return fmt.Sprintf("step %q: expected %s, got %s", s.Step, s.Expected, s.Got)
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// pause waits; ctx's error if that ends first.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
