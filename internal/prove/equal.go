package prove

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"kasoku/internal/load"
)

// EqualOptions say how Equal compares.
type EqualOptions struct {
	// Takes is how often the book's walk is made. Default 2: the second meets
	// what the first left in caches.
	Takes int
	// Around a take, as for Record.
	Around Around
	// Alone is Around without load, for one more take where pages differed in every
	// take: those that are right then show what the load wrote, as one with the latest
	// comments does. nil: no such take.
	Alone Around
	// Restart starts the applications anew, once, where pages would fail: what they draw
	// at each start, as an id of the process in the names of files, is no other answer.
	// false: none may be restarted. nil: this is not looked at.
	Restart func(context.Context) (bool, error)
	// Unindexed is Alone without the indexes that were made since the book was recorded,
	// which it names; none: there are none, or they must stay. nil: this is not looked at.
	Unindexed func(ctx context.Context, take func(context.Context) error) (indexes []string, err error)
	// Blamer tells who gave another answer; may be nil.
	Blamer *Blamer
}

const equalTakes = 2

// leastCompared is the share of a book's pages that must be comparable for the
// check to say anything, and of these the share that must be asked again.
const leastCompared = 0.25

// leastAsked is how often a request must be asked to fail, if there are as many
// takes: one answer under load may be of a state that no other take met.
const leastAsked = 2

// Equal asks again what the book was recorded from, and compares the answers
// with it. What differs in every take fails; what does not is noted. Requests of visitors who are
// known are also sent as a stranger: what a stranger gets must be what it got
// as found, too.
func Equal(ctx context.Context, opts load.Options, b *Book, o EqualOptions) (Result, error) {
	if o.Takes == 0 {
		o.Takes = equalTakes
	}
	r := begin(Equality)
	e := &equality{b: b, o: o, r: r, differ: map[string]*difference{}, asked: map[string]int{}, left: map[string]string{}}
	judged := e.judged()
	if judged == 0 || float64(judged) < leastCompared*float64(len(b.Pages)) {
		return *r.notJudged("only %d of %d recorded answers can be compared: %s", judged, len(b.Pages), e.why()).end(), nil
	}
	b.compareAt(time.Now())
	for range o.Takes {
		if err := o.Around.take(ctx, func(ctx context.Context) error {
			_, err := b.walk(ctx, opts, e.compare(ctx))
			return err
		}); err != nil {
			return *r, fmt.Errorf("compare answers: %w", err)
		}
	}
	if err := e.askAlone(ctx, opts); err != nil {
		return *r, fmt.Errorf("compare answers: %w", err)
	}
	if err := e.askPaced(ctx, opts); err != nil {
		return *r, fmt.Errorf("compare answers: %w", err)
	}
	if err := e.askRestarted(ctx, opts); err != nil {
		return *r, fmt.Errorf("compare answers: %w", err)
	}
	if err := e.askUnindexed(ctx, opts); err != nil {
		return *r, fmt.Errorf("compare answers: %w", err)
	}
	e.judge()
	e.notes()
	if r.Outcome != Failed && float64(len(e.asked)) < leastCompared*float64(judged) {
		return *r.notJudged("only %d of the %d requests that can be compared were answered again", len(e.asked), judged).end(), nil
	}
	missing, all := e.uncovered(opts.Scenario.Summary().Sessions)
	requests, of := count(judged, "request", "requests"), ""
	if len(e.asked) < judged {
		requests = fmt.Sprintf("%d of %s", len(e.asked), requests)
	}
	if len(missing) > 0 {
		of = fmt.Sprintf(" of %d of the scenario's %d sessions", all-len(missing), all)
		r.note("nothing of these sessions is compared: %s; a larger budget leaves more time for it", strings.Join(missing, ", "))
	}
	r.Text = fmt.Sprintf("%s compared with those of the service as found (%s%s), %d differ", count(r.Reads, "answer", "answers"),
		requests, of, r.Failures)
	return *r.end(), nil
}

// uncovered are the sessions, of all that the load draws, of which no answer was
// compared.
func (e *equality) uncovered(sessions []load.SessionSummary) (missing []string, all int) {
	seen := map[string]bool{}
	for key := range e.asked {
		seen[sessionOf(key)] = true
	}
	for _, s := range sessions {
		if s.Weight == 0 && len(sessions) > 1 {
			continue
		}
		if all++; !seen[s.Name] {
			missing = append(missing, s.Name)
		}
	}
	return missing, all
}

// equality is one Equal under way.
type equality struct {
	b       *Book
	o       EqualOptions
	r       *Result
	asked   map[string]int         // in how many takes a page was
	differ  map[string]*difference // by page
	order   []string               // of differ
	left    map[string]string      // pages that cannot be compared, and why
	varies  int                    // pages that were seen to differ by themselves, of left
	unknown int                    // answers to requests that the book does not have
	indexes []string               // that were taken away for a take
}

// difference is one page that was not as recorded.
type difference struct {
	problem Problem
	takes   int
	loaded  bool // it was right without load beside it
	paced   bool // it was right where requests followed each other as slowly as found
	drawn   bool // it differs from one start of the application to the next
	order   bool // it is as found without the indexes that were made since
	visit   load.Visit
	answer  load.Answer // the last one that differed
}

// judged counts the pages that can be compared.
func (e *equality) judged() int {
	n := 0
	for _, p := range e.b.Pages {
		if why := p.enough(e.b.Takes); why != "" {
			e.left[p.Key] = why
			continue
		}
		n++
	}
	return n
}

// why is the reason that most pages have which cannot be compared.
func (e *equality) why() string {
	counts, best := map[string]int{}, ""
	for _, why := range e.left {
		if counts[why]++; best == "" || counts[why] > counts[best] || counts[why] == counts[best] && why < best {
			best = why
		}
	}
	if best == "" {
		return "nothing was recorded"
	}
	return "most often " + best
}

func (e *equality) compare(ctx context.Context) func(key string, v load.Visit, a load.Answer) error {
	return func(key string, v load.Visit, a load.Answer) error {
		p := e.b.lookup(key)
		if p == nil {
			e.unknown++
			return nil
		}
		if e.left[key] != "" {
			return nil
		}
		e.r.Reads++
		e.asked[key]++
		why := p.differs(v, a)
		if why == "" {
			return nil
		}
		d := e.differ[key]
		if d == nil {
			d = &difference{problem: Problem{What: fmt.Sprintf("%s %s (%s): %s", p.Method, p.Target, p.Key, why)}}
			if e.o.Blamer != nil && v.Method == "GET" && len(e.order) < mostProblems {
				if e.o.Blamer.byItself(ctx, e.b, p, v, a) {
					e.left[key] = "they differ from one answer to the next by themselves"
					e.varies++
					return ctx.Err()
				}
				d.problem.By = e.o.Blamer.Other(ctx, e.b, p, a.Request)
			}
			e.differ[key], e.order = d, append(e.order, key)
		}
		d.takes++
		d.visit, d.answer = v, a
		return ctx.Err()
	}
}

// fails reports whether a page differed in every take in which it was asked for, and
// that was often enough.
func (e *equality) fails(key string) bool {
	d, asked := e.differ[key], e.asked[key]
	return d.takes >= asked && asked >= min(leastAsked, e.o.Takes)
}

// askAlone makes the take without load, if pages would fail.
func (e *equality) askAlone(ctx context.Context, opts load.Options) error {
	if e.o.Alone == nil {
		return nil
	}
	right, wrong, err := e.again(ctx, opts, atOnce)
	for key := range right {
		e.differ[key].loaded = !wrong[key]
	}
	return err
}

// atOnce waits for nothing between two requests.
func atOnce(*Page, load.Visit) time.Duration { return 0 }

// leastElapsed is what all requests took as found, from which on a count of seconds may have
// gone on between them.
const leastElapsed = 500 * time.Millisecond

// mostPause bounds what is waited for after one request of a paced take.
const mostPause = 10 * time.Second

// slower is what a pause of the second paced take is longer: a count of seconds goes on.
const slower = 1200 * time.Millisecond

// askPaced makes two takes without load, if pages would fail: a faster service gives another
// answer where that tells how many seconds lie between two requests, and nothing is wrong
// with it. In the first each request of such a visit takes as long as it did as found, and
// the answer must be as recorded; in the second longer, and it must not: what is only old for
// a moment after a write, as from a cache, is right in both, and fails.
func (e *equality) askPaced(ctx context.Context, opts load.Options) error {
	var all time.Duration
	for _, p := range e.b.Pages {
		all += p.Took
	}
	if all < leastElapsed {
		return nil
	}
	found := func(p *Page, v load.Visit) time.Duration { return min(max(0, p.Took-v.Took), mostPause) }
	right, wrong, err := e.again(ctx, opts, found)
	if err != nil || len(right) == 0 {
		return err
	}
	late, other, err := e.again(ctx, opts, func(p *Page, v load.Visit) time.Duration { return found(p, v) + slower })
	for key := range right {
		e.differ[key].paced = !wrong[key] && other[key] && !late[key]
	}
	return err
}

// again makes one more take, without load where that can be had, and tells which of the
// pages that would fail are as recorded in it, and which are not; one that is asked for
// several times can be both. After each request of a visit with such pages it pauses for as
// long as wait says.
func (e *equality) again(ctx context.Context, opts load.Options, wait func(*Page, load.Visit) time.Duration) (right, wrong map[string]bool, err error) {
	failing, visits := e.failing(), map[string]bool{}
	if len(failing) == 0 {
		return nil, nil, nil
	}
	for key := range failing {
		visits[visitOf(key)] = true
	}
	right, wrong = map[string]bool{}, map[string]bool{}
	err = e.o.Alone.take(ctx, func(ctx context.Context) error {
		_, err := e.b.walk(ctx, opts, func(key string, v load.Visit, a load.Answer) error {
			p := e.b.lookup(key)
			if p == nil {
				return ctx.Err()
			}
			if failing[key] {
				e.r.Reads++
				if p.differs(v, a) == "" {
					right[key] = true
				} else {
					wrong[key] = true
				}
			}
			if !visits[visitOf(key)] {
				return ctx.Err()
			}
			return pause(ctx, wait(p, v))
		})
		return err
	})
	return right, wrong, err
}

// failing are the pages that would fail, as far as no take has explained them.
func (e *equality) failing() map[string]bool {
	out := map[string]bool{}
	for _, key := range e.order {
		if d := e.differ[key]; e.fails(key) && !d.explained() {
			out[key] = true
		}
	}
	return out
}

// askRestarted starts the applications anew and makes one more take, if pages would fail.
// Where a page is as recorded but for words that the restart has changed, these are drawn
// at each start, and so they were other ones as found.
func (e *equality) askRestarted(ctx context.Context, opts load.Options) error {
	failing := e.failing()
	if len(failing) == 0 || e.o.Restart == nil {
		return nil
	}
	done, err := e.o.Restart(ctx)
	if err != nil || !done {
		return err
	}
	around, wrong := e.o.Alone, map[string]bool{}
	return around.take(ctx, func(ctx context.Context) error {
		_, err := e.b.walk(ctx, opts, func(key string, v load.Visit, a load.Answer) error {
			if p := e.b.lookup(key); p != nil && failing[key] {
				e.r.Reads++
				d := e.differ[key]
				wrong[key] = wrong[key] || !p.drawn(d.visit, d.answer, v, a)
				d.drawn = !wrong[key]
			}
			return ctx.Err()
		})
		return err
	})
}

// judge what differed: in every take in which it was asked for, it fails, if
// that was often enough.
func (e *equality) judge() {
	once, only, explained := 0, 0, make([]int, len(explanations))
	for _, key := range e.order {
		d, asked := e.differ[key], e.asked[key]
		why := slices.IndexFunc(explanations, func(x explanation) bool { return x.of(d) })
		switch {
		case why >= 0:
			if explained[why]++; explained[why] == 1 {
				e.r.note("%s differs %s", explanations[why].first, d.problem.What)
			}
		case d.takes < asked:
			once++
		case asked < min(leastAsked, e.o.Takes):
			only++
		default:
			e.r.problem(d.problem)
		}
	}
	for i, n := range explained {
		if n > 0 {
			e.r.note("%s", explanations[i].all(e, n))
		}
	}
	if only > 0 {
		e.r.note("%s differed, but came in one take only, under load", count(only, "request", "requests"))
	}
	if once > 0 {
		e.r.note("%s differed in one take and not in another, which load may do", count(once, "request", "requests"))
	}
}

func (e *equality) notes() {
	if e.varies > 0 {
		e.r.note("%s by themselves beyond what was seen as found: the same request, asked %d times at once, got different answers in the same lines", count(e.varies, "page differs", "pages differ"), varyAsks)
	}
	if len(e.left) > 0 {
		e.r.note("%d of %d recorded requests are not compared: %s", len(e.left), len(e.b.Pages), e.why())
	}
	if e.unknown > 0 {
		e.r.note("%s not asked as found, because a session ended early there, are not compared", count(e.unknown, "request", "requests"))
	}
}
