package load

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxPages bounds the distinct URLs that are looked at: a site's pages may
	// be endless, and those that are asked for most come early.
	maxPages = 1000
	// keptPages of them stay in the result, those that took most time.
	keptPages = 100
)

// PageSample is what a run saw of one URL that was asked for with GET and is
// no file: whether strangers, who send no cookie, no Authorization and no
// header of the scenario's own, all get the same.
type PageSample struct {
	URL         string `json:"url"`   // with its query
	Route       string `json:"route"` // "GET /items/:id"
	Status      int    `json:"status"`
	ContentType string `json:"content_type"`
	Size        int64  `json:"size"`
	// Count of strangers' requests in the window, and their summed latency;
	// Known are the other requests for it.
	Count int64         `json:"count"`
	Total time.Duration `json:"total"`
	Known int64         `json:"known,omitempty"`
	// Changes is how often a stranger got other bytes than the one before.
	Changes int64 `json:"changes,omitempty"`
	// Differs: some known user got other bytes than strangers got just before.
	Differs    bool `json:"differs,omitempty"`
	SetsCookie bool `json:"sets_cookie,omitempty"` // for a stranger
	// Private says why it is not the same for all strangers, "" if it was, by
	// ConfirmPages; Confirmed if that has asked. Headers are those that bear on
	// caching, "Name: value", sorted.
	Private   string `json:"private,omitempty"`
	Confirmed bool   `json:"confirmed,omitempty"`
	// Hit: a Varnish in front had it when it was asked for again.
	Hit     bool     `json:"hit,omitempty"`
	Headers []string `json:"headers,omitempty"`
}

// pages gathers PageSamples over all users.
type pages struct {
	mu      sync.Mutex
	entries map[string]*pageEntry
}

// pageEntry is one URL. The sample is fixed after creation.
type pageEntry struct {
	sample  PageSample
	last    atomic.Uint64 // hash of the bytes that a stranger got last; 0 none yet
	changes atomic.Int64
	differs atomic.Bool
	cookie  atomic.Bool
}

// pageCount is one user's share of an entry.
type pageCount struct {
	entry *pageEntry
	count int64
	known int64
	total time.Duration
}

// entry returns the URL's entry, made from this answer if it is the first; nil
// if there are too many.
func (p *pages) entry(url, route string, res *response, body []byte) *pageEntry {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.entries[url]; e != nil || len(p.entries) >= maxPages {
		return e
	}
	if p.entries == nil {
		p.entries = map[string]*pageEntry{}
	}
	e := &pageEntry{sample: PageSample{URL: url, Route: route, Status: res.status, ContentType: string(res.contentType), Size: int64(len(body))}}
	p.entries[url] = e
	return e
}

// observePage notes an answer to a GET that is no file.
func (u *user) observePage(res *response, body []byte, counted bool, latency time.Duration) {
	c := u.pages[string(u.target)]
	if c == nil {
		if len(u.pages) >= maxPages || res.status != 200 || u.opaque != "" {
			return
		}
		url, route := string(bytes.Clone(u.target)), ""
		if u.route >= 0 && u.route < len(u.run.opts.Scenario.routes) {
			route = u.run.opts.Scenario.routes[u.route]
		}
		c = &pageCount{entry: u.run.pages.entry(url, route, res, body)}
		if u.pages == nil {
			u.pages = map[string]*pageCount{}
		}
		u.pages[url] = c
	}
	e := c.entry
	if e == nil {
		return
	}
	print := u.run.statics.print(body).hash | 1 // never 0
	if res.status != e.sample.Status {
		print = uint64(res.status) << 1
	}
	if !u.stranger {
		if counted {
			c.known++
		}
		if last := e.last.Load(); last != 0 && last != print {
			e.differs.Store(true)
		}
		return
	}
	if counted {
		c.count++
		c.total += latency
	}
	if last := e.last.Swap(print); last != 0 && last != print {
		e.changes.Add(1)
	}
	if len(res.cookies) > 0 && !e.cookie.Load() {
		e.cookie.Store(true)
	}
}

// samples sums all users' counts; those that took most time first.
func (p *pages) samples(users []*user) []PageSample {
	sums := map[string]pageCount{}
	for _, u := range users {
		for url, c := range u.pages {
			s := sums[url]
			sums[url] = pageCount{count: s.count + c.count, known: s.known + c.known, total: s.total + c.total}
		}
	}
	var out []PageSample
	for url, e := range p.entries {
		one, s := e.sample, sums[url]
		one.Count, one.Known, one.Total = s.count, s.known, s.total
		one.Changes, one.Differs, one.SetsCookie = e.changes.Load(), e.differs.Load(), e.cookie.Load()
		if one.Count > 0 {
			out = append(out, one)
		}
	}
	slices.SortFunc(out, func(a, b PageSample) int {
		if a.Total != b.Total {
			return int(max(min(b.Total-a.Total, 1), -1))
		}
		return strings.Compare(a.URL, b.URL)
	})
	return out[:min(len(out), keptPages)]
}

// anonymous headers tell nothing of who asks: what a client takes, and how it
// calls itself. All other headers that a scenario sends may.
var anonymous = []string{"host", "user-agent", "accept", "accept-language", "accept-encoding", "content-type", "referer", "cache-control", "pragma"}

// TakesBrotli reports whether some request of the scenario says that it takes
// answers compressed by brotli.
func (s *Scenario) TakesBrotli() bool {
	takes := false
	s.eachStep(func(st *step) { takes = takes || st.own.brotli })
	return takes
}

// takesBrotli reports whether a value of Accept-Encoding names br.
func takesBrotli(accepts string) bool {
	for one := range strings.SplitSeq(accepts, ",") {
		coding, _, _ := strings.Cut(one, ";")
		if strings.EqualFold(strings.TrimSpace(coding), "br") {
			return true
		}
	}
	return false
}

// OwnHeaders lists the names, in lower case and sorted, of the headers that
// the scenario's requests send of their own and that may tell who asks.
func (s *Scenario) OwnHeaders() []string {
	var out []string
	s.eachStep(func(st *step) { out = append(out, st.own.telling...) })
	slices.Sort(out)
	return slices.Compact(out)
}
