package record

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"kasoku/internal/accesslog"
)

// ClientOptions say how the requests of another tool's file become a scenario.
type ClientOptions struct {
	Name, Source string
	Origin       string // "https://shop.example"; "": the one with most requests
	KeepSecrets  bool   // keeps values of fields named like a secret
	// Dir is where files that the source names are; "": they are not read.
	Dir string
}

// clientRequest is a request that a file of another tool describes.
type clientRequest struct {
	group, name string // of its session; "": the only one
	line        int    // where it stands; 0: not known
	method, url string
	headers     []harHeader
	post        *harPost
	parts       []part // multipart
	auth        string // scheme of its Authorization, whose value is not taken
	status      []int  // expected; none: 200
	think       time.Duration
	comment     []string
}

// client collects what a file describes.
type client struct {
	what     string // of the file, for messages
	requests []clientRequest
	left     []string // what was left out, with its line
	notes    []string
}

// maxClientLeft of what was left out are told.
const maxClientLeft = 40

// leave out something that stands at the line.
func (c *client) leave(line int, format string, args ...any) {
	text := printable(fmt.Sprintf(format, args...))
	if line > 0 {
		text = fmt.Sprintf("line %d: %s", line, text)
	}
	if !slices.Contains(c.left, text) {
		c.left = append(c.left, text)
	}
}

func (c *client) note(format string, args ...any) {
	if text := printable(fmt.Sprintf(format, args...)); !slices.Contains(c.notes, text) {
		c.notes = append(c.notes, text)
	}
}

// draft makes the scenario: secrets are masked as in what a browser recorded.
func (c *client) draft(o ClientOptions) (*Draft, error) {
	o.Name, o.Source = cmp.Or(o.Name, "requests"), cmp.Or(o.Source, "a file")
	told := c.left
	if n := len(told) - maxClientLeft; n > 0 {
		told = append(slices.Clone(told[:maxClientLeft]), fmt.Sprintf("and %d more", n))
	}
	if len(c.requests) == 0 {
		if n := len(told); n > shownLines {
			told = append(slices.Clone(told[:shownLines]), fmt.Sprintf("and %d more", n-shownLines))
		}
		return nil, fmt.Errorf("read %s: %w: %s", c.what, ErrNothing, cmp.Or(strings.Join(told, "; "), "it has no requests"))
	}
	routes, err := accesslog.NewRoutes(accesslog.RouteOptions{Numbers: 1})
	if err != nil {
		return nil, err
	}
	h := &harDraft{o: &HAROptions{Origin: o.Origin, KeepSecrets: o.KeepSecrets}, what: c.what, file: &harFile{}, routes: routes, vars: names{}, left: map[string]int64{},
		masked: map[string]bool{}, dedupe: map[string]bool{}, counts: map[string]int64{}}
	for i := range c.requests {
		h.file.Log.Entries = append(h.file.Log.Entries, c.requests[i].entry())
	}
	if err := h.chooseOrigin(); err != nil {
		return nil, err
	}
	dropped := map[string]bool{}
	at := map[string]int{}
	size := 0
	for i := range c.requests {
		q, e := &c.requests[i], &h.file.Log.Entries[i]
		if e.origin() != h.origin {
			continue
		}
		if why := h.refuse(e); why != "" {
			h.left[why]++
			continue
		}
		st := h.request(q, e, dropped)
		if size += stepSize(&st); size > maxStepBytes {
			h.left[fullScenario]++
			continue
		}
		n, ok := at[q.group]
		if !ok {
			n = len(h.out.sessions)
			at[q.group] = n
			h.out.sessions = append(h.out.sessions, session{name: cmp.Or(printable(q.group), "visit")})
		}
		steps := &h.out.sessions[n].steps
		for k, name := 2, st.name; name != "" && slices.ContainsFunc(*steps, func(s step) bool { return s.name == st.name }); k++ {
			st.name = fmt.Sprintf("%s (%d)", name, k)
		}
		*steps = append(*steps, st)
		h.taken++
	}
	told = append(told, h.leftOut()...)
	if h.taken == 0 {
		return nil, fmt.Errorf("read %s: %w of %s: %s", c.what, ErrNothing, h.origin, strings.Join(told, "; "))
	}
	return c.finish(h, &o, told, dropped)
}

func (c *client) finish(h *harDraft, o *ClientOptions, told []string, dropped map[string]bool) (*Draft, error) {
	d := &Draft{Requests: h.taken, Coverage: 1, LeftOut: told}
	for _, route := range slices.Sorted(maps.Keys(h.counts)) {
		n := h.counts[route]
		d.Routes = append(d.Routes, Share{route, n, float64(n) / float64(h.taken)})
	}
	slices.SortStableFunc(d.Routes, func(a, b Share) int { return cmp.Compare(b.Recorded, a.Recorded) })
	d.Taken = []string{fmt.Sprintf("%d requests to %s in %d sessions", h.taken, h.origin, len(h.out.sessions))}
	d.Notes = append(d.Notes, "The answers are not known: each step expects status 200 where nothing else is said. Add what a right answer holds.")
	if len(dropped) > 0 {
		d.Notes = append(d.Notes, "Headers that a client sets by itself, or that hold a secret, are left out: "+strings.Join(slices.Sorted(maps.Keys(dropped)), ", ")+".")
	}
	if len(h.masked) > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("The values of %s are %q: fill in values of a test account; --keep-secrets takes the recorded ones.",
			strings.Join(slices.Sorted(maps.Keys(h.masked)), ", "), maskedValue))
	}
	d.Notes = append(append(d.Notes, c.notes...), h.notes...)
	h.out.name = o.Name
	h.out.comment = comments("Made from "+o.Source+".", d)
	return d, d.render(&h.out)
}

// entry is the request as a browser would have recorded it.
func (q *clientRequest) entry() harEntry {
	e := harEntry{Request: harRequest{Method: q.method, URL: q.url, Post: q.post}, Answer: harAnswer{Status: 200}}
	e.parse()
	if e.url.User != nil {
		e.url.User, q.auth = nil, cmp.Or(q.auth, "Basic")
	}
	return e
}

// clientHeaders are set by every client itself, or belong to its connection.
var clientHeaders = []string{"host", "connection", "content-length", "user-agent", "accept-encoding", "accept-language", "cookie", "dnt", "upgrade-insecure-requests",
	"priority", "pragma", "cache-control", "referer", "origin", "te", "postman-token", "proxy-authorization", "transfer-encoding"}

// request renders one step.
func (h *harDraft) request(q *clientRequest, e *harEntry, dropped map[string]bool) step {
	m := &made{entry: e}
	h.steps = nil
	h.build(m)
	st := m.step
	st.name, st.status, st.think, st.typ = printable(q.name), q.status, q.think, ""
	st.comment = append(st.comment, q.comment...)
	if q.line > 0 {
		st.comment = append(st.comment, fmt.Sprintf("Line %d.", q.line))
	}
	h.counts[st.route]++
	if path, _, _ := strings.Cut(st.request, "?"); path == st.route {
		st.route = ""
	}
	for _, p := range q.parts {
		if p.file == "" {
			p.text = h.field(p.name, p.text)
		} else {
			p.text = literal(p.text)
		}
		st.multipart = append(st.multipart, p)
	}
	for _, header := range q.headers {
		h.clientHeader(&st, q, header, dropped)
	}
	if q.auth != "" {
		st.headers = append(st.headers, pair{"Authorization", literal(q.auth) + " " + fillIn})
		st.comment = append(st.comment, "Fill in Authorization.")
		h.dedupeNote("The values of Authorization are not taken: fill them in wherever " + fillIn + " stands, or extract a token in a setup step.")
	}
	return st
}

func (h *harDraft) dedupeNote(text string) {
	if !slices.Contains(h.notes, text) {
		h.notes = append(h.notes, text)
	}
}

func (h *harDraft) clientHeader(st *step, q *clientRequest, header harHeader, dropped map[string]bool) {
	name := strings.ToLower(header.Name)
	switch {
	case name == "content-type" && (q.post != nil || len(q.parts) > 0), name == "accept" && header.Value == "*/*":
		return
	case name == "authorization":
		scheme, _, _ := strings.Cut(header.Value, " ")
		if q.auth == "" {
			q.auth = cmp.Or(plainKey.FindString(scheme), "Bearer")
		}
		return
	case slices.Contains(clientHeaders, name) || strings.HasPrefix(name, "sec-") || !plainKey.MatchString(header.Name) || !isLine(header.Value):
		dropped[printable(header.Name)] = true
		return
	}
	if slices.ContainsFunc(st.headers, func(p pair) bool { return strings.EqualFold(p.key, header.Name) }) {
		return
	}
	st.headers = append(st.headers, pair{header.Name, h.field(header.Name, header.Value)})
}

// absolute puts the scheme before an address that has none, as clients do.
func absolute(address string) string {
	if strings.Contains(address, "://") {
		return address
	}
	return "http://" + strings.TrimPrefix(address, "//")
}

// encodeForm joins fields as application/x-www-form-urlencoded in their order.
func encodeForm(fields []pair) string {
	var parts []string
	for _, f := range fields {
		parts = append(parts, url.QueryEscape(f.key)+"="+url.QueryEscape(f.value))
	}
	return strings.Join(parts, "&")
}
