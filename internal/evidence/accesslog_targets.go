package evidence

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"kasoku/internal/accesslog"
)

// Target is one path with its query, as it was asked for with GET and answered with
// 200 or 304.
type Target struct {
	Target string        `json:"target"`
	Count  int64         `json:"count"`
	Total  time.Duration `json:"total"` // summed latency; 0 where the log has no times
	Bytes  int64         `json:"bytes"` // sent in all
}

const (
	// mostTargets are told apart while a log is read; generated addresses may be
	// endless.
	mostTargets = 20_000
	// keptTargets are kept with the run, and as many again of those with a name as
	// files have: these take little time, and are asked for again and again.
	keptTargets = 400
)

// targets counts requests by target, and by the second that the log has for them. Where
// of is nil only the seconds are counted.
type targets struct {
	mu      sync.Mutex
	of      map[string]*Target
	seconds map[int64]int64
}

func newTargets() *targets { return &targets{of: map[string]*Target{}, seconds: map[int64]int64{}} }

// keep counts entries and keeps all of them; nil for nil.
func (t *targets) keep() func(*accesslog.Entry) bool {
	if t == nil {
		return nil
	}
	return func(e *accesslog.Entry) bool {
		if !e.Time.IsZero() {
			t.mu.Lock()
			t.seconds[e.Time.Unix()]++
			t.mu.Unlock()
		}
		if t.of == nil || string(e.Method) != "GET" || e.Status != 200 && e.Status != 304 || len(e.Target) == 0 || e.Target[0] != '/' {
			return true
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		x := t.of[string(e.Target)]
		if x == nil {
			if len(t.of) >= mostTargets {
				return true
			}
			x = &Target{Target: string(e.Target)}
			t.of[x.Target] = x
		}
		x.Count++
		x.Total += max(e.Request, 0)
		x.Bytes += max(e.Bytes, 0)
		return true
	}
}

// most are those that took the most time, or were asked for most often: files and
// others each.
func (t *targets) most() []Target {
	keep := keptTargets
	out := make([]Target, 0, len(t.of))
	for _, x := range t.of {
		out = append(out, *x)
	}
	slices.SortFunc(out, func(a, b Target) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Target, b.Target))
	})
	files := 0
	return slices.DeleteFunc(out, func(x Target) bool {
		name, _, _ := strings.Cut(x.Target, "?")
		if ext := path.Ext(name); len(ext) > 1 && len(ext) <= longestEnding {
			files++
			return files > keptTargets
		}
		keep--
		return keep < 0
	})
}

// longestEnding of a file's name, with its dot: ".webmanifest".
const longestEnding = 12

// idleRate is the part of a busy second's requests below which nothing is being
// measured: a benchmark that sets data back, waits or adds up its score. An estimate;
// of one benchmark of 80 s it left out the ten in which the CPU was idle, too.
const idleRate = 0.05

// loadRate is the part of a busy second's requests from which on a benchmark puts its
// load on; what it tries before comes one after the other. An estimate.
const loadRate = 0.25

// preparing is how long after begin the load came: its first second that is followed by
// another like it. 0 if that is not seen.
func (t *targets) preparing(begin time.Time) time.Duration {
	busy := loadRate * float64(t.busy())
	if busy <= 0 {
		return 0
	}
	for _, at := range slices.Sorted(maps.Keys(t.seconds)) {
		if float64(t.seconds[at]) >= busy && float64(t.seconds[at+1]) >= busy {
			return max(time.Unix(at, 0).Sub(begin), 0)
		}
	}
	return 0
}

// busy is the number of requests in a busy second: one in ten had more; 0 if the log
// does not tell their times.
func (t *targets) busy() int64 {
	counts := slices.Sorted(maps.Values(t.seconds))
	if len(counts) == 0 {
		return 0
	}
	return counts[len(counts)*9/10]
}

// active is how long requests came, where the log tells their times; 0 if it does not.
func (t *targets) active() time.Duration {
	busy, n := t.busy(), 0
	for _, c := range t.seconds {
		if float64(c) >= idleRate*float64(busy) {
			n++
		}
	}
	return time.Duration(n) * time.Second
}

// wholeWindow is the part of the window from which on it counts as a whole.
const wholeWindow = 0.95

// tellActive notes how long requests came, where that is less than the window.
func (x *accessSource) tellActive(ev *Evidence) {
	active, window := x.targets.active(), x.over.Sub(x.begin)
	if active <= 0 || active.Seconds() >= wholeWindow*window.Seconds() {
		return
	}
	ev.Active = max(ev.Active, active)
	ev.Health = append(ev.Health, Health{Source: accessName(x.svc.Name), OK: true,
		Text: fmt.Sprintf("requests came in %d of %.0f s; the rest of the benchmark is not counted as time of the service", int(active.Seconds()), window.Seconds())})
}
