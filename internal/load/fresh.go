package load

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// FreshCheck compares what a cache of pages gives with what the application
// itself answers, while others write.
type FreshCheck struct {
	URLs []string
	// MaxAge is how much older than the application's answer one from the cache
	// may be; For how long to compare, best longer than MaxAge.
	MaxAge, For time.Duration
	// Cookies are Cookie headers of logged-in users, whose pages must be theirs.
	Cookies []string
}

// FreshReport is what a FreshCheck saw.
type FreshReport struct {
	Compared int `json:"compared"`
	// Unknown could not be told: the page changed faster than it was asked for.
	Unknown int `json:"unknown"`
	// Wrong says which answers were not the application's, or were too old; at
	// most maxWrong of them.
	Wrong []string `json:"wrong,omitempty"`
	// Old are the URLs of answers that were only too old, each with what was seen, and
	// Others how many wrong answers were wrong in another way: somebody else's, or none
	// that the application gives.
	Old    map[string]string `json:"old,omitempty"`
	Others int               `json:"others,omitempty"`
}

const (
	maxWrong = 10
	// freshPause between two comparisons keeps the check from being a load.
	freshPause = 10 * time.Millisecond
	// freshSlack is what a clock and a slow answer may add to an age: an answer
	// is kept from when its head came, and it was made before that.
	freshSlack = 100 * time.Millisecond
)

// uncached makes caches pass a request on: RFC 9111, 3.5 lets none answer it
// from what others got. Applications take no notice of a scheme they do not know.
var uncached = []string{"Authorization", "Kasoku origin"}

// asking is one kind of client that asks for one URL.
type asking struct {
	url     string
	name    string   // for people: "a stranger"
	headers []string // name, value, …
	origin  []page   // what the application answered, in order
	cached  []page   // what came without forcing it
}

// tooOld begins what is said of an answer that was right once.
const tooOld = "what the application last answered"

// askings are all that is compared: strangers, strangers who name another
// host, directly or as a balancer would, and users.
func (c FreshCheck) askings() []*asking {
	var out []*asking
	for _, url := range c.URLs {
		out = append(out, &asking{url: url, name: "a stranger"},
			&asking{url: url, name: "a stranger who asks another host", headers: []string{"Host", "kasoku.invalid"}},
			&asking{url: url, name: "a stranger behind another host's balancer", headers: []string{"X-Forwarded-Host", "kasoku.invalid"}})
		for i, cookie := range c.Cookies {
			out = append(out, &asking{url: url, name: fmt.Sprintf("user %d", i+1), headers: []string{"Cookie", cookie}})
		}
	}
	return out
}

// CheckFresh asks the application past the cache and then as everybody does,
// in turn for every kind of client and URL, for c.For or until ctx ends; then
// it judges each answer by what the application answered around that time. What
// the scenario's own mask hides is not compared. It sends only where load may go.
func CheckFresh(ctx context.Context, opts Options, c FreshCheck) (FreshReport, error) {
	var report FreshReport
	client, origin, err := plainClient(ctx, opts)
	if err != nil {
		return report, err
	}
	defer client.CloseIdleConnections()
	all := c.askings()
	if len(all) == 0 {
		return report, errors.New("compare a cache with the application: no page is named")
	}
	end := time.Now().Add(c.For)
	for i := 0; time.Now().Before(end) || i < len(all); i++ {
		a := all[i%len(all)]
		o, err := getMasked(ctx, client, opts.Scenario, origin+a.url, append(slices.Clone(a.headers), uncached...)...)
		if err != nil {
			return report, fmt.Errorf("ask the application for %s: %w", a.url, err)
		}
		p, err := getMasked(ctx, client, opts.Scenario, origin+a.url, a.headers...)
		if err != nil {
			return report, fmt.Errorf("ask for %s: %w", a.url, err)
		}
		a.origin, a.cached = append(a.origin, o), append(a.cached, p)
		select {
		case <-ctx.Done():
			return report, ctx.Err()
		case <-time.After(freshPause):
		}
	}
	for _, a := range all {
		// The last answer needs one of the application after it.
		o, err := getMasked(ctx, client, opts.Scenario, origin+a.url, append(slices.Clone(a.headers), uncached...)...)
		if err != nil {
			return report, fmt.Errorf("ask the application for %s: %w", a.url, err)
		}
		a.origin = append(a.origin, o)
	}
	for _, a := range all {
		a.judge(c.MaxAge, all, &report)
	}
	return report, nil
}

// judge adds one kind of client's answers to the report. What only another
// kind of client may get is wrong whenever it comes.
func (a *asking) judge(maxAge time.Duration, all []*asking, r *FreshReport) {
	for _, p := range a.cached {
		r.Compared++
		why, known := judgeFresh(p, a.origin, maxAge)
		if !known && !slices.ContainsFunc(a.origin, p.same) {
			for _, o := range all {
				if o.url == a.url && o != a && a.tells(p, o) {
					why, known = "what the application answers "+o.name, true
				}
			}
		}
		if !known {
			r.Unknown++
		}
		switch {
		case why == "":
		case strings.HasPrefix(why, tooOld):
			if r.Old == nil {
				r.Old = map[string]string{}
			}
			r.Old[a.url] = a.name + " got " + why
		default:
			r.Others++
		}
		if why != "" && len(r.Wrong) < maxWrong {
			r.Wrong = append(r.Wrong, fmt.Sprintf("%s: %s got %s", a.url, a.name, why))
		}
	}
}

// tells reports whether an answer that a never got from the application is
// another kind of client's. A page that both get alike may have had it between
// two of a's own answers, which differ then: that tells nothing.
func (a *asking) tells(p page, other *asking) bool {
	alike := slices.ContainsFunc(other.origin, func(o page) bool { return slices.ContainsFunc(a.origin, o.same) })
	return slices.ContainsFunc(other.origin, func(o page) bool { return p.same(o) && !(alike && a.missed(o)) })
}

// missed reports whether the application gave an answer to another while the
// page changed between two answers to a.
func (a *asking) missed(o page) bool {
	for i, after := range a.origin[1:] {
		if before := a.origin[i]; o.arrived.After(before.sent) && o.sent.Before(after.arrived) && !before.same(after) {
			return true
		}
	}
	return false
}

// judgeFresh says what is wrong with an answer, given the application's own in
// the order of time. It is right if the application gave it at some moment
// between maxAge before it was asked for and its arrival; that moment may lie
// between two of the application's answers, so those next to the span count
// too. known false: the application's answers differed and it was none of them.
func judgeFresh(p page, origin []page, maxAge time.Duration) (why string, known bool) {
	from := p.sent.Add(-maxAge - freshSlack)
	first, last := 0, len(origin)-1
	for i, o := range origin {
		if o.arrived.Before(from) {
			first = i
		}
	}
	for i := last; i >= 0; i-- {
		if origin[i].sent.After(p.arrived) {
			last = i
		}
	}
	span := origin[first : last+1]
	if slices.ContainsFunc(span, p.same) {
		return "", true
	}
	for i := first - 1; i >= 0; i-- {
		if p.same(origin[i]) {
			return fmt.Sprintf(tooOld+" %s before, the limit is %s", p.sent.Sub(origin[i].arrived).Round(time.Millisecond), maxAge), true
		}
	}
	if !origin[first].arrived.Before(from) {
		return "", false
	}
	for _, o := range span {
		if !o.same(span[0]) {
			return "", false
		}
	}
	if p.status != http.StatusOK && p.status != span[0].status {
		return fmt.Sprintf("status %d, the application answers %d", p.status, span[0].status), true
	}
	return "what the application does not answer", true
}
