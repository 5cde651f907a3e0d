package prove

import (
	"context"
	"fmt"
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
	// Silent is for how long after that a reader who gets no answer at all is
	// asked on. Default 30 s: longer than a server takes to restart.
	Silent time.Duration
	// Blamer tells who gave a stale answer; may be nil.
	Blamer *Blamer
}

const (
	staleWrites = 5
	stalePause  = 50 * time.Millisecond
	staleSettle = time.Second
	stalePast   = time.Second
	staleSilent = 30 * time.Second
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
	if o.Silent == 0 {
		o.Silent = staleSilent
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
	why, err := s.run(ctx)
	takeBack(ctx, r, s.deeds)
	switch {
	case err != nil:
		return *r, err
	case why != "":
		return *r.notJudged("%s", why).end(), nil
	}
	r.Text = s.text()
	return *r.end(), nil
}

// run makes the writes; why is not "" if they prove nothing.
func (s *staleness) run(ctx context.Context) (why string, err error) {
	for n := range s.o.Writes {
		d, err := s.w.Begin(ctx)
		if err != nil {
			return "", fmt.Errorf("check staleness: prepare write %d: %w", n+1, err)
		}
		s.deeds = append(s.deeds, d)
		if why, err := s.before(ctx, d); err != nil || why != "" {
			return why, err
		}
		if err := d.Do(ctx); err != nil {
			return "", fmt.Errorf("check staleness: write %d: %w", n+1, err)
		}
		s.r.Writes++
		if why, err := s.after(ctx, d, n); err != nil || why != "" {
			return why, err
		}
	}
	return s.still(ctx)
}

// staleness is one Stale under way.
type staleness struct {
	w      *load.Witness
	o      StaleOptions
	r      *Result
	deeds  []*load.Deed
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

// polled is what is known of one reader after a write.
type polled struct {
	since  time.Time // from when it has seen the write without a break
	last   time.Time // when it was asked last
	failed bool
}

// after polls all readers until they have seen the write for Settle, or the
// limit has passed by Past. why is not "" if one of them got no answer for so
// long that nothing can be told.
func (s *staleness) after(ctx context.Context, d *load.Deed, n int) (why string, err error) {
	readers := make([]polled, len(s.w.Readers()))
	for {
		settled, failed, silent := true, false, ""
		for i := range readers {
			p := &readers[i]
			sight, err := s.poll(ctx, d, n, i, p)
			if err != nil {
				return "", fmt.Errorf("check staleness: %w", err)
			}
			settled = settled && !p.since.IsZero() && time.Since(p.since) >= s.o.Settle
			failed = failed || p.failed
			if unanswered(sight) {
				silent = s.silence(d, n, sight)
			}
		}
		switch past := time.Since(d.Acked) - s.o.Limit - s.o.Past; {
		case settled || past > 0 && failed:
			return "", nil
		case past > s.o.Silent && silent != "":
			return silent, nil
		}
		if err := pause(ctx, max(s.o.Pause, time.Since(d.Acked)/20)); err != nil {
			return "", err
		}
	}
}

// poll lets a reader ask once. Only an answer can be an old one.
func (s *staleness) poll(ctx context.Context, d *load.Deed, n, i int, p *polled) (load.Sight, error) {
	sight, err := d.Look(ctx, i)
	if err != nil {
		return sight, err
	}
	if !p.last.IsZero() {
		s.asked = max(s.asked, sight.Sent.Sub(p.last))
	}
	p.last = sight.Sent
	if unanswered(sight) {
		p.since = time.Time{}
		return sight, nil
	}
	s.r.Reads++
	if sight.Right {
		if p.since.IsZero() {
			p.since = sight.Done
		}
		return sight, nil
	}
	p.since = time.Time{}
	age := sight.Sent.Sub(d.Acked)
	s.r.Worst = max(s.r.Worst, age)
	if age > s.o.Limit && !p.failed {
		p.failed = true
		by := s.blame(ctx, d, i, sight)
		s.r.fail(by, "write %d: reader %q did not see it %s after it was acknowledged (allowed: %s): %s", n+1, sight.Reader, ui.Duration(age), ui.Duration(s.o.Limit), saw(sight))
	}
	return sight, nil
}

// unanswered reports whether a look tells nothing of the write.
func unanswered(s load.Sight) bool { return !s.Right && !s.Answered() }

func (s *staleness) silence(d *load.Deed, n int, sight load.Sight) string {
	return fmt.Sprintf("write %d: reader %q got no answer %s after it was acknowledged: %s", n+1, sight.Reader, ui.Duration(sight.Sent.Sub(d.Acked)), saw(sight))
}

// blame tells once for each reader who gave the stale answer.
func (s *staleness) blame(ctx context.Context, d *load.Deed, i int, sight load.Sight) string {
	if s.o.Blamer == nil || s.blamed[sight.Reader] {
		return ""
	}
	s.blamed[sight.Reader] = true
	return s.o.Blamer.Stale(ctx, d, i, sight)
}

// still asks for every write once more: one that was seen must not be gone. why
// is not "" if a reader got no answer any more.
func (s *staleness) still(ctx context.Context) (why string, err error) {
	if s.r.Outcome == Failed {
		return "", nil // it is known already that not all are seen
	}
	for n, d := range s.deeds[:max(0, len(s.deeds)-1)] { // the last was just looked at
		for i := range s.w.Readers() {
			sight, err := s.again(ctx, d, i)
			switch {
			case err != nil:
				return "", fmt.Errorf("check staleness: %w", err)
			case unanswered(sight):
				return s.silence(d, n, sight), nil
			}
			s.r.Reads++
			if !sight.Right {
				s.r.fail(s.blame(ctx, d, i, sight), "write %d: reader %q saw it, and does not any more %s after it was acknowledged: %s", n+1, sight.Reader, ui.Duration(sight.Sent.Sub(d.Acked)), saw(sight))
			}
		}
	}
	return "", nil
}

// again lets a reader ask until it sees the write. An old answer may be given
// within the limit, and one answer that is wrong is no write that is gone.
func (s *staleness) again(ctx context.Context, d *load.Deed, i int) (load.Sight, error) {
	begun := time.Now()
	past := max(0, s.o.Limit-begun.Sub(d.Acked)) + s.o.Past
	for {
		sight, err := d.Look(ctx, i)
		longest := past
		if unanswered(sight) {
			longest += s.o.Silent
		}
		if err != nil || sight.Right || time.Since(begun) > longest {
			return sight, err
		}
		if err := pause(ctx, max(s.o.Pause, time.Since(begun)/20)); err != nil {
			return sight, err
		}
	}
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
