package prove

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"kasoku/internal/load"
)

// Book holds what a service answered to the requests of a walk through its
// scenario: the same requests, with the same values, can be asked again.
type Book struct {
	Version int `json:"version"` // 1
	// Takes is how often the walk was made; Seed and Rounds make it the same.
	Takes  int    `json:"takes"`
	Seed   uint64 `json:"seed"`
	Rounds int    `json:"rounds"`
	// Limit of one take; what was not asked for by then is not compared.
	Limit time.Duration `json:"limit,omitempty"`
	// Most requests of a take, as many as the first one came to; 0: mostWalked.
	Most int `json:"most,omitempty"`
	// Recorded is when; dates near it are hidden, then and later.
	Recorded time.Time `json:"recorded,omitzero"`
	Pages    []*Page   `json:"pages"`

	index   map[string]*Page
	moments []time.Time // dates near which are hidden in answers
}

// Page is one request of the walk and what was answered to it.
type Page struct {
	// Key names the request in every walk: session, round, step, and which of
	// the step's requests it is.
	Key    string `json:"key"`
	Method string `json:"method"`
	Target string `json:"target"` // without the values of secrets
	// Status, Type and Location of the answers; differing ones have several.
	Status   []int    `json:"status"`
	Type     []string `json:"type"`
	Location []string `json:"location,omitempty"`
	Body     *Pattern `json:"body"`
	Seen     int      `json:"seen"` // in how many takes
	// Took is the longest that an answer took.
	Took time.Duration `json:"took,omitempty"`
	// Opaque says why bodies could not be read.
	Opaque string `json:"opaque,omitempty"`
}

// leastKnown is the share of an answer that must be comparable: of one that
// differs more than that from request to request nothing can be said.
const leastKnown = 0.5

// enough reports whether the page can be compared, and why not.
func (p *Page) enough(takes int) (why string) {
	switch {
	case p.Seen < takes:
		return fmt.Sprintf("it was asked for in %d of %d takes only", p.Seen, takes)
	case p.Opaque != "":
		return p.Opaque
	case p.Body.Loose:
		return "it differs in form from one request to the next"
	case p.Body.Known() < leastKnown:
		return "more than half of it differs from one request to the next"
	}
	return ""
}

// add takes one answer.
func (p *Page) add(v load.Visit, a load.Answer) {
	p.Seen++
	p.Took = max(p.Took, v.Took)
	if !slices.Contains(p.Status, v.Status) {
		p.Status = append(p.Status, v.Status)
	}
	if !slices.ContainsFunc(p.Type, means(a.Type)) {
		p.Type = append(p.Type, a.Type)
	}
	if where := place(a.Location); where != "" && !slices.Contains(p.Location, where) {
		p.Location = append(p.Location, where)
	}
	switch {
	case a.Opaque != "":
		p.Opaque = a.Opaque
	case p.Body == nil:
		p.Body = NewPattern(a.Body)
	default:
		p.Body.Merge(a.Body)
	}
	if p.Body == nil {
		p.Body = &Pattern{Loose: true}
	}
}

// differs says how an answer is not as recorded; "" if it is.
func (p *Page) differs(v load.Visit, a load.Answer) string {
	switch where := place(a.Location); {
	case !slices.Contains(p.Status, v.Status):
		return fmt.Sprintf("status %d instead of %v", v.Status, p.Status)
	case !slices.ContainsFunc(p.Type, means(a.Type)):
		return fmt.Sprintf("Content-Type %q instead of %q", a.Type, p.Type)
	case where != "" && len(p.Location) == 1 && where != p.Location[0]:
		return fmt.Sprintf("Location %q instead of %q", where, p.Location[0])
	case a.Opaque != "":
		return a.Opaque
	}
	return p.Body.Differs(a.Body)
}

// means tells whether a Content-Type says the same as another: neither blanks nor
// the case of types and of charset's values matter (RFC 9110, 8.3), and several
// names of JavaScript are one (RFC 9239, 6).
func means(contentType string) func(string) bool {
	want := normalType(contentType)
	return func(other string) bool { return normalType(other) == want }
}

func normalType(s string) string {
	t, params, err := mime.ParseMediaType(s)
	if err != nil {
		return s
	}
	if charset, ok := params["charset"]; ok {
		params["charset"] = strings.ToLower(charset)
	}
	if t == "application/javascript" || t == "application/x-javascript" {
		t = "text/javascript"
	}
	return mime.FormatMediaType(t, params)
}

// place is a Location without what follows its path: queries hold tokens.
func place(location string) string {
	path, _, _ := strings.Cut(location, "?")
	return path
}

// Each walk sends at most mostWalked requests and takes at most walkTime.
const (
	mostWalked = 200
	walkTime   = time.Minute
)

// walker names the requests of one walk.
type walker struct {
	counts map[string]int // how often a key occurred
}

// key of the next request of a visit's step.
func (w *walker) key(v load.Visit, a load.Answer) string {
	kind := ""
	if a.Asset {
		kind = " (asset)"
	}
	base := fmt.Sprintf("%s, round %d, %s%s", v.Session, v.Round+1, v.Step, kind)
	w.counts[base]++
	return fmt.Sprintf("%s, request %d", base, w.counts[base])
}

// sessionOf the request that a key names.
func sessionOf(key string) string {
	name, _, _ := strings.Cut(key, ", round ")
	return name
}

// visitOf is the session and the round of the request that a key names.
func visitOf(key string) string {
	name, rest, _ := strings.Cut(key, ", round ")
	round, _, _ := strings.Cut(rest, ",")
	return name + ", round " + round
}

// Around makes a take: it brings the data back to where every take begins, puts
// load on, and walks meanwhile. nil: only the walk.
type Around func(ctx context.Context, walk func(context.Context) error) error

func (a Around) take(ctx context.Context, walk func(context.Context) error) error {
	if a == nil {
		return walk(ctx)
	}
	return a(ctx, walk)
}

// RecordOptions say how Record goes.
type RecordOptions struct {
	Takes  int           // what differs between them is not compared later; at least 2
	Rounds int           // through every session in each take, at least 1
	Limit  time.Duration // of one take; 0: a minute
	Around Around
}

// Record walks through the scenario and returns what was answered.
func Record(ctx context.Context, opts load.Options, o RecordOptions) (*Book, error) {
	b := &Book{Version: 1, Takes: max(o.Takes, 2), Seed: opts.Seed, Rounds: max(o.Rounds, 1), Limit: o.Limit, Recorded: time.Now()}
	b.moments = []time.Time{b.Recorded}
	for range b.Takes {
		asked := 0
		if err := o.Around.take(ctx, func(ctx context.Context) error {
			var err error
			asked, err = b.walk(ctx, opts, func(key string, v load.Visit, a load.Answer) error {
				b.page(key, v).add(v, a)
				return nil
			})
			return err
		}); err != nil {
			return nil, fmt.Errorf("record answers: %w", err)
		}
		if b.Most == 0 { // what the others asked beyond it would not be compared
			b.Most = asked
		}
	}
	for _, p := range b.Pages {
		if p.Body != nil {
			p.Body.leaveDrawn()
		}
	}
	return b, nil
}

// walk sends the book's requests and returns how many; saw is told each answer
// with its key. What a known visitor asked for is asked at once as a stranger, too.
func (b *Book) walk(ctx context.Context, opts load.Options, saw func(key string, v load.Visit, a load.Answer) error) (asked int, err error) {
	// The same rows each time, and none of those that load beside it draws.
	opts.Rows, opts.Seed = opts.Scenario.Halfway(), b.Seed
	var failed error
	w := walker{counts: map[string]int{}}
	visits, err := load.Walk(ctx, opts, load.WalkOptions{Rounds: b.Rounds, Most: cmp.Or(b.Most, mostWalked), Limit: cmp.Or(b.Limit, walkTime),
		Before: func(context.Context, int) error { return failed },
		Saw: func(v load.Visit, a load.Answer) {
			if failed != nil {
				return
			}
			key := w.key(v, a)
			a.Body = hideTimes(a.Body, b.moments...)
			if failed = saw(key, v, a); failed != nil || a.Stranger || a.Asset || v.Method != http.MethodGet {
				return
			}
			sv, sa, err := load.Replay(ctx, opts, a.Request, asStranger(opts.Scenario))
			if err == nil {
				sa.Body = hideTimes(sa.Body, b.moments...)
				failed = saw(key+", as a stranger", sv, sa)
			}
		}})
	switch {
	case failed != nil:
		return len(visits), failed
	case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
		return len(visits), nil // what a slow service answered by then counts
	}
	return len(visits), err
}

// asStranger takes everything off a request that may tell who asks.
func asStranger(sc *load.Scenario) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Del("Cookie")
		r.Header.Del("Authorization")
		for _, name := range sc.OwnHeaders() {
			r.Header.Del(name)
		}
	}
}

// compareAt prepares the book for answers of another day: dates near this moment
// and near that of recording are hidden on both sides.
func (b *Book) compareAt(now time.Time) {
	b.moments = []time.Time{now}
	if !b.Recorded.IsZero() {
		b.moments = append(b.moments, b.Recorded)
	}
	for _, p := range b.Pages {
		if p.Body != nil {
			p.Body.maskAgain(b.moments...)
		}
	}
}

// page returns the key's page, made from a visit if it is the first.
func (b *Book) page(key string, v load.Visit) *Page {
	if p := b.lookup(key); p != nil {
		return p
	}
	p := &Page{Key: key, Method: v.Method, Target: load.Masked(v.Target)}
	b.Pages = append(b.Pages, p)
	b.index[key] = p
	return p
}

func (b *Book) lookup(key string) *Page {
	if b.index == nil {
		b.index = map[string]*Page{}
		for _, p := range b.Pages {
			b.index[p.Key] = p
		}
	}
	return b.index[key]
}

// mostBook is the largest book, unpacked.
const mostBook = 512 << 20

// Encode packs the book for the store.
func (b *Book) Encode() ([]byte, error) {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if err := json.NewEncoder(z).Encode(b); err != nil {
		return nil, fmt.Errorf("pack recorded answers: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("pack recorded answers: %w", err)
	}
	return out.Bytes(), nil
}

// DecodeBook reads what Encode wrote.
func DecodeBook(data []byte) (*Book, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("read recorded answers: %w", err)
	}
	b := &Book{}
	if err := json.NewDecoder(io.LimitReader(z, mostBook)).Decode(b); err != nil {
		return nil, fmt.Errorf("read recorded answers: %w", err)
	}
	if b.Version != 1 {
		return nil, fmt.Errorf("read recorded answers: they have version %d, this Kasoku knows 1; record them again", b.Version)
	}
	return b, nil
}
