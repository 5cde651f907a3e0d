package record

import (
	"cmp"
	"encoding/base64"
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
	phase       string // "": load; else setup or teardown
	line        int    // where it stands; 0: not known
	method, url string
	headers     []harHeader
	post        *harPost
	parts       []part // multipart
	auth        string // Authorization to write, with FILL-IN for its secret
	given       string // the whole of it where the source names user and password; taken with KeepSecrets only
	status      []int  // expected; none: unknownStatus
	think       time.Duration
	comment     []string
}

// client collects what a file describes.
type client struct {
	what     string // of the file, for messages
	requests []clientRequest
	more     int        // requests beyond maxClientRequests
	left     clientTold // what was left out, with its line
	notes    clientTold
	keep     bool            // secrets
	masked   map[string]bool // variables whose values are
}

const (
	// maxClientLeft of what was left out are told, and as many notes.
	maxClientLeft = 40
	// maxClientRequests are taken of a file; a scenario has room for less.
	maxClientRequests = 20_000
	// maxClientHeaders of a request.
	maxClientHeaders = 100
)

// clientTold are sentences, each once; beyond maxClientLeft they are counted.
type clientTold struct {
	list []string
	more int
}

func (c *clientTold) add(text string) {
	switch {
	case slices.Contains(c.list, text):
	case len(c.list) < maxClientLeft:
		c.list = append(c.list, text)
	default:
		c.more++
	}
}

// first n of them, and how many there are more.
func (c *clientTold) first(n int) []string {
	out := slices.Clone(c.list[:min(n, len(c.list))])
	if more := len(c.list) - len(out) + c.more; more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return out
}

func newClient(what string, o *ClientOptions) *client {
	return &client{what: what, keep: o.KeepSecrets, masked: map[string]bool{}}
}

// add a request.
func (c *client) add(q clientRequest) {
	if len(c.requests) == maxClientRequests {
		c.more++
		return
	}
	if len(q.url) > 2*maxTarget {
		c.leave(q.line, "an address of %d KiB: servers refuse more than %d bytes", len(q.url)>>10, maxTarget)
		return
	}
	c.requests = append(c.requests, q)
}

// variable is the value to write for one of the source's variables.
func (c *client) variable(name, value string, secret bool) string {
	if c.keep || value == "" || value == fillIn || !secret && !isSecretVariable(name, value) {
		return value
	}
	c.masked[shortText(name, 60)] = true
	return maskedValue
}

// leave out something that stands at the line.
func (c *client) leave(line int, format string, args ...any) {
	text := printable(fmt.Sprintf(format, args...))
	if line > 0 {
		text = fmt.Sprintf("line %d: %s", line, text)
	}
	c.left.add(text)
}

func (c *client) note(format string, args ...any) {
	c.notes.add(printable(fmt.Sprintf(format, args...)))
}

// draft makes the scenario: secrets are masked as in what a browser recorded.
func (c *client) draft(o ClientOptions) (*Draft, error) {
	o.Name, o.Source = cmp.Or(o.Name, "requests"), cmp.Or(o.Source, "a file")
	told := c.left.first(maxClientLeft)
	if c.more > 0 {
		told = append(told, fmt.Sprintf("%d requests beyond the first %d", c.more, maxClientRequests))
	}
	if len(c.requests) == 0 {
		told = c.left.first(shownLines)
		return nil, fmt.Errorf("read %s: %w: %s", c.what, ErrNothing, cmp.Or(strings.Join(told, "; "), "it has no requests"))
	}
	routes, err := accesslog.NewRoutes(accesslog.RouteOptions{Numbers: 1})
	if err != nil {
		return nil, err
	}
	h := &harDraft{client: true, o: &HAROptions{Origin: o.Origin, KeepSecrets: o.KeepSecrets}, what: c.what, file: &harFile{}, routes: routes, vars: names{}, left: map[string]int64{},
		masked: c.masked, dedupe: map[string]bool{}, counts: map[string]int64{}}
	for i := range c.requests {
		h.file.Log.Entries = append(h.file.Log.Entries, c.requests[i].entry())
	}
	if err := h.chooseOrigin(); err != nil {
		return nil, err
	}
	h.learnOperations([][]*harEntry{h.ofOrigin()})
	dropped := map[string]bool{}
	at := map[string]int{}
	used := map[string]int{}
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
		if size > maxStepBytes {
			h.left[fullScenario]++
			continue
		}
		st := h.request(q, e, dropped)
		if size += stepSize(&st); size > maxStepBytes {
			h.left[fullScenario]++
			continue
		}
		if steps := h.out.phase(q.phase); steps != nil {
			st.name = otherName(used, "\x00"+q.phase, st.name)
			*steps = append(*steps, st)
			h.taken++
			continue
		}
		n, ok := at[q.group]
		if !ok {
			n = len(h.out.sessions)
			at[q.group] = n
			h.out.sessions = append(h.out.sessions, session{name: cmp.Or(printable(q.group), "visit")})
		}
		steps := &h.out.sessions[n].steps
		st.name = otherName(used, q.group, st.name)
		*steps = append(*steps, st)
		h.taken++
	}
	told = append(told, h.leftOut()...)
	if len(h.out.sessions) == 0 {
		return nil, fmt.Errorf("read %s: %w of %s: %s", c.what, ErrNothing, h.origin, strings.Join(told, "; "))
	}
	unsound, err := h.sound()
	if err != nil {
		return nil, err
	}
	return c.finish(h, &o, append(told, unsound...), dropped)
}

// otherName adds a number to a step's name that its session has already.
func otherName(used map[string]int, group, name string) string {
	key := func(name string) string { return group + "\x00" + name }
	plain := name
	for name != "" && used[key(name)] > 0 {
		used[key(plain)]++
		name = fmt.Sprintf("%s (%d)", plain, used[key(plain)])
	}
	used[key(name)]++
	return name
}

func (c *client) finish(h *harDraft, o *ClientOptions, told []string, dropped map[string]bool) (*Draft, error) {
	h.accounts()
	d := &Draft{Requests: h.taken, Coverage: 1, LeftOut: told}
	for _, route := range slices.Sorted(maps.Keys(h.counts)) {
		n := h.counts[route]
		d.Routes = append(d.Routes, Share{route, n, float64(n) / float64(h.taken)})
	}
	slices.SortStableFunc(d.Routes, func(a, b Share) int { return cmp.Compare(b.Recorded, a.Recorded) })
	d.Taken = []string{fmt.Sprintf("%d requests to %s in %d sessions", h.taken, h.origin, len(h.out.sessions))}
	d.Notes = append(d.Notes, "The answers are not known: a step expects status 200 where nothing else is said, and one that writes any of those that say it was done. Add what a right answer holds.")
	if len(dropped) > 0 {
		d.Notes = append(d.Notes, "Headers that a client sets by itself, or that hold a secret, are left out: "+strings.Join(slices.Sorted(maps.Keys(dropped)), ", ")+".")
	}
	if len(h.masked) > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("The values of %s are %q: fill in values of a test account; --keep-secrets takes the recorded ones.",
			strings.Join(slices.Sorted(maps.Keys(h.masked)), ", "), maskedValue))
	}
	d.Notes = append(append(d.Notes, c.notes.first(maxClientLeft)...), h.notes...)
	h.out.name = o.Name
	h.out.comment = comments("Made from "+o.Source+".", d)
	return d, d.render(&h.out)
}

// entry is the request as a browser would have recorded it.
func (q *clientRequest) entry() harEntry {
	e := harEntry{Request: harRequest{Method: q.method, URL: q.url, Post: q.post}, Answer: harAnswer{Status: 200}}
	e.parse()
	if e.url.User != nil {
		e.url.User, q.auth = nil, cmp.Or(q.auth, basicAuth)
	}
	return e
}

// ofOrigin are the requests to the origin that was chosen.
func (h *harDraft) ofOrigin() []*harEntry {
	var out []*harEntry
	for i := range h.file.Log.Entries {
		if e := &h.file.Log.Entries[i]; e.origin() == h.origin {
			out = append(out, e)
		}
	}
	return out
}

// clientHeaders are set by every client itself, or belong to its connection.
var clientHeaders = []string{"host", "connection", "content-length", "user-agent", "accept-encoding", "accept-language", "cookie", "cookie2", "dnt", "upgrade-insecure-requests",
	"priority", "pragma", "cache-control", "referer", "origin", "te", "postman-token", "proxy-authorization", "transfer-encoding"}

// request renders one step.
func (h *harDraft) request(q *clientRequest, e *harEntry, dropped map[string]bool) step {
	m := &made{entry: e}
	h.steps = nil
	h.build(m)
	st := m.step
	st.name, st.status, st.think, st.typ = printable(q.name), q.status, q.think, ""
	if len(st.status) == 0 && st.lacks != graphQLErrors {
		st.status = unknownStatus(e.Request.Method)
	}
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
			p.text = literal(h.maskText(p.text))
		}
		st.multipart = append(st.multipart, p)
	}
	for _, header := range q.headers {
		h.clientHeader(&st, q, header, dropped)
	}
	h.conceal(&st)
	if q.given != "" && h.o.KeepSecrets {
		st.headers = append(st.headers, pair{"Authorization", literal(q.given)})
	} else if q.auth != "" {
		st.headers = append(st.headers, pair{"Authorization", q.auth})
		st.comment = append(st.comment, "Fill in Authorization.")
		note := "The values of Authorization are not taken: fill them in wherever " + fillIn + " stands, or extract a token in a setup step."
		if q.given != "" {
			note = "The values of Authorization are not taken: --keep-secrets takes user and password as they are given."
		}
		h.dedupeNote(note)
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
	case name == "content-type" && (st.form != nil || st.json != "" || st.body != "" || len(st.multipart) > 0), name == "accept" && header.Value == "*/*":
		return
	case name == "authorization":
		if q.auth == "" {
			q.given = givenBasic(header.Value)
			q.auth = strings.TrimPrefix(authScheme(header.Value)+" "+fillIn, " ")
		}
		return
	case !plainKey.MatchString(header.Name):
		dropped["one whose name is none"] = true
		return
	case slices.Contains(clientHeaders, name) || slices.Contains(connectionHeaders, name) || strings.HasPrefix(name, "sec-") || !isLine(header.Value):
		dropped[header.Name] = true
		return
	case len(st.headers) >= maxClientHeaders:
		dropped[fmt.Sprintf("those beyond the first %d of a request", maxClientHeaders)] = true
		return
	}
	value := h.field(header.Name, header.Value)
	if authScheme(header.Value) != "" && !h.o.KeepSecrets { // as in Authorization
		h.masked[header.Name], value = true, maskedValue
	}
	addHeader(st, header.Name, value)
}

func (c *client) longText(line int) {
	c.leave(line, "a text is longer than %d KiB with its variables; fill it in where %s stands", maxRecordedBody>>10, fillIn)
}

// pause of some seconds; a longer one than maxThink is that.
func pause(seconds float64) time.Duration {
	return time.Duration(min(max(seconds, 0), maxThink.Seconds()) * float64(time.Second))
}

// absolute puts the scheme before an address that has none, as clients do.
func absolute(address string) string {
	if strings.Contains(address, "://") || len(address) > 2*maxTarget { // too long to be sent
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

// givenUser is the Authorization of a user with a password; "" if the password is not
// there, or is a shell's variable.
func givenUser(user string) string {
	if !strings.Contains(user, ":") || strings.Contains(user, "$") || strings.Contains(user, fillIn) {
		return ""
	}
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user))
}

// givenBasic is a header's Authorization by user and password as it is given, which a client
// has encoded; "" if it is another one, or a part of it is not known.
func givenBasic(value string) string {
	scheme, secret, _ := strings.Cut(value, " ")
	if !strings.EqualFold(scheme, "Basic") {
		return ""
	}
	user, err := base64.StdEncoding.DecodeString(strings.TrimSpace(secret))
	if err != nil || !strings.Contains(string(user), ":") {
		return ""
	}
	return "Basic " + strings.TrimSpace(secret)
}

// doneStatus are the answers to a request that made or changed something: it is there, was
// made (201), is taken up (202), says nothing more (204), or leads to a page that shows it
// (RFC 9110, sections 15.3 and 15.4).
var doneStatus = []int{200, 201, 202, 204, 302, 303}

// unknownStatus is what is expected where nobody recorded an answer; nil: 200.
func unknownStatus(method string) []int {
	switch strings.ToUpper(method) {
	case "POST", "PUT", "PATCH", "DELETE":
		return slices.Clone(doneStatus)
	}
	return nil
}
