package record

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"kasoku/internal/accesslog"
)

// HAROptions say how a HAR file becomes a scenario.
type HAROptions struct {
	Name, Source string
	Origin       string // "https://shop.example"; "": the one with most requests
	// PerPage makes a session of each page instead of one of all.
	PerPage     bool
	Think       bool // with the recorded pauses between pages
	KeepSecrets bool // keeps values of fields named like a secret
}

// harDraft makes sessions of a HAR.
type harDraft struct {
	titles []string // of the pages of a session
	what   string   // of the file, for messages
	o      *HAROptions
	file   *harFile
	origin string
	routes *accesslog.Routes
	out    scenario
	left   map[string]int64
	notes  []string
	masked map[string]bool // fields
	// secrets are masked values, which a field of any name may repeat.
	secrets map[string]bool
	dedupe  map[string]bool
	counts  map[string]int64
	taken   int64
	assets  int
	size    int // of the steps, in bytes
	// slowest recorded answer of a step; 0: not known.
	slowest time.Duration
	// dropped are headers that a browser sets itself.
	dropped map[string]bool
	// client: the source is another tool's file, which has no answers.
	client bool
	// operations are addresses (METHOD /path) that were asked for different things.
	operations map[string]bool
	// dispatch are parameters that tell what is asked for, by address (/path).
	dispatch map[string][]string

	vars  names
	steps []*made // of the present session
	ids   int     // that are taken from answers
	// about are words of the present request's address.
	about []string
}

// made is a step with the entry it comes from.
type made struct {
	step  step
	entry *harEntry
}

// FromHAR makes a scenario of what a browser recorded: the requests to one
// origin in their order.
func FromHAR(r io.Reader, o HAROptions) (*Draft, error) {
	f, err := readHAR(r)
	if err != nil {
		return nil, err
	}
	o.Name, o.Source = cmp.Or(o.Name, "recorded"), cmp.Or(o.Source, "a HAR file")
	// Every number is a variable part: there is only one visit to learn from.
	routes, err := accesslog.NewRoutes(accesslog.RouteOptions{Numbers: 1})
	if err != nil {
		return nil, err
	}
	h := &harDraft{what: "HAR", o: &o, file: f, routes: routes, left: map[string]int64{}, masked: map[string]bool{}, dedupe: map[string]bool{}, counts: map[string]int64{}}
	if err := h.chooseOrigin(); err != nil {
		return nil, err
	}
	if f.bad > 0 {
		h.left["they could not be read, for example "+f.badWhy] = f.bad
	}
	groups := h.groups()
	h.learnOperations(groups)
	for i, g := range groups {
		h.session(g, i)
	}
	if h.taken == 0 {
		return nil, fmt.Errorf("read HAR: %w of %s: %s", ErrNothing, h.origin, strings.Join(h.leftOut(), "; "))
	}
	unsound, err := h.sound()
	if err != nil {
		return nil, err
	}
	h.accounts()
	h.idsNote()
	h.worth()
	h.patience()
	d := &Draft{Requests: h.taken, Coverage: 1, LeftOut: append(h.leftOut(), unsound...)}
	for route, n := range h.counts {
		d.Routes = append(d.Routes, Share{route, n, float64(n) / float64(h.taken)})
	}
	slices.SortFunc(d.Routes, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Recorded, a.Recorded), strings.Compare(a.Route, b.Route))
	})
	d.Taken = []string{fmt.Sprintf("%d requests to %s in %d sessions, %d of them assets", h.taken, h.origin, len(h.out.sessions), h.assets)}
	d.Notes = append(h.standingNotes(), h.notes...)
	h.out.name = o.Name
	h.out.comment = comments("Recorded from "+o.Source+".", d)
	return d, d.render(&h.out)
}

func (h *harDraft) standingNotes() []string {
	out := []string{"Cookie and Authorization headers are never taken: cookies come from the answers, and for Authorization add a login step or a header."}
	if len(h.masked) > 0 {
		out = append(out, fmt.Sprintf("The values of %s are %q: fill in values of a test account; --keep-secrets takes the recorded ones.",
			strings.Join(slices.Sorted(maps.Keys(h.masked)), ", "), maskedValue))
	}
	if len(h.dropped) > 0 {
		out = append(out, "Headers that a browser sets by itself are left out: "+strings.Join(slices.Sorted(maps.Keys(h.dropped)), ", ")+".")
	}
	if h.o.KeepSecrets {
		out = append(out, "Secrets are kept as recorded: do not share the scenario.")
	}
	return out
}

// chooseOrigin takes the one with the most requests.
func (h *harDraft) chooseOrigin() error {
	count := map[string]int64{}
	for i := range h.file.Log.Entries {
		e := &h.file.Log.Entries[i]
		if e.url.Scheme != "http" && e.url.Scheme != "https" {
			h.left[schemeText(e.url.Scheme)]++
			continue
		}
		if e.Request.Method == "CONNECT" {
			h.left["CONNECT: tunnels through a proxy"]++
			continue
		}
		count[e.origin()]++
	}
	if len(count) == 0 {
		return fmt.Errorf("read %s: %w: %s", h.what, ErrNothing, strings.Join(h.leftOut(), "; "))
	}
	order := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), strings.Compare(a, b))
	})
	h.origin = originOf(h.o.Origin)
	if h.origin == "" {
		h.origin = order[0]
	}
	if count[h.origin] == 0 {
		return fmt.Errorf("read %s: %w of the origin %s; it has %s", h.what, ErrNothing, h.origin, strings.Join(order, ", "))
	}
	for _, o := range order {
		if o != h.origin {
			h.left[otherOrigin(o)] = count[o]
		}
	}
	return nil
}

// noOrigin stands for a variable, such as {{baseUrl}}, that has no value.
const noOrigin = "http://service.invalid"

func otherOrigin(o string) string {
	if o == noOrigin {
		return "to an address that is a variable without a value; --origin " + noOrigin + " takes these instead"
	}
	return fmt.Sprintf("to %s; --origin chooses it", o)
}

func (h *harDraft) leftOut() []string {
	j := &journal{left: h.left}
	return j.leftOut()
}

// groups are the entries of each session.
func (h *harDraft) groups() [][]*harEntry {
	var out [][]*harEntry
	byPage := map[string]int{}
	for i := range h.file.Log.Entries {
		e := &h.file.Log.Entries[i]
		if e.origin() != h.origin {
			continue
		}
		if why := h.refuse(e); why != "" {
			h.left[why]++
			continue
		}
		page := ""
		if h.o.PerPage {
			page = e.Page
		}
		at, ok := byPage[page]
		if !ok {
			at = len(out)
			byPage[page], out = at, append(out, nil)
		}
		out[at] = append(out[at], e)
	}
	return out
}

// requestMethods are those that a scenario can have.
var requestMethods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

// methodName is how a method is told that is not taken.
func methodName(method string) string {
	if len(method) <= 20 && strings.Trim(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") == "" && method != "" {
		return method
	}
	return "another method"
}

func (h *harDraft) refuse(e *harEntry) string {
	switch s := e.Answer.Status; {
	case e.Resource == "websocket":
		return "they are WebSockets"
	case e.Cached != "", strings.HasSuffix(e.Fetched, "Cache"):
		return "the browser took them from its cache and sent nothing"
	case s == 0:
		return "they got no answer (blocked or aborted)"
	case s == 101:
		return "they became WebSockets (101)"
	case s < 200 || s >= 500:
		return fmt.Sprintf("answered with %d: no right answer is known", s)
	case !slices.Contains(requestMethods, e.Request.Method):
		return methodName(e.Request.Method) + ": not a method that load is made of"
	case e.target() == "":
		return "their target cannot be sent"
	}
	return ""
}

// session renders the entries of one.
func (h *harDraft) session(entries []*harEntry, n int) {
	h.vars, h.steps, h.titles = names{}, nil, titlesOf(entries)
	var page *made
	title := ""
	for _, e := range entries {
		if title == "" {
			title = h.title(e)
		}
		h.taken++
		if page != nil && e.isPageAsset() && (e.Page == page.entry.Page || e.Started.Sub(page.entry.end()) < assetDelay) {
			if target := e.target(); !slices.Contains(page.step.assets, target) {
				page.step.assets = append(page.step.assets, target)
			}
			h.assets++
			h.counts["GET "+h.shownPath(e)]++
			continue
		}
		if prev := h.last(); h.o.Think && prev != nil && e.Page != prev.entry.Page {
			prev.step.think = min(max(e.Started.Sub(prev.entry.end()), 0), maxThink).Round(thinkStep)
		}
		m := &made{entry: e}
		if e.url.User != nil {
			h.once("A user and password in an address are left out: fill in Authorization where the service wants it.")
		}
		h.build(m)
		if h.size += stepSize(&m.step); h.size > maxStepBytes {
			h.left[fullScenario]++
			h.taken--
			continue
		}
		h.slowest = max(h.slowest, m.entry.took())
		h.counts[m.step.route]++
		if path, _, _ := strings.Cut(m.step.request, "?"); path == m.step.route {
			m.step.route = ""
		}
		h.steps = append(h.steps, m)
		if e.answerType() == "text/html" || page == nil {
			page = m
		}
	}
	if len(h.steps) == 0 {
		return
	}
	s := session{name: fmt.Sprintf("%d: %s", n+1, cmp.Or(title, "visit"))}
	for _, m := range h.steps {
		s.steps = append(s.steps, m.step)
	}
	h.out.sessions = append(h.out.sessions, s)
}

func (h *harDraft) last() *made {
	if len(h.steps) == 0 {
		return nil
	}
	return h.steps[len(h.steps)-1]
}

func (h *harDraft) title(e *harEntry) string {
	for _, p := range h.file.Log.Pages {
		if p.ID == e.Page && h.o.PerPage {
			return printable(p.Title)
		}
	}
	return ""
}

// build makes the step of an entry.
func (h *harDraft) build(m *made) {
	e, st := m.entry, &m.step
	path := h.shownPath(e)
	h.routes.Add(path)
	st.route = h.label(e)
	st.request = e.Request.Method + " " + h.path(e)
	st.route = ofVariables(st.route, st.request)
	switch s := e.Answer.Status; s {
	case 304, 206:
		st.status = []int{200}
	default:
		st.status = []int{s}
	}
	if t := e.answerType(); e.Answer.Status == 200 && t != "" && t != "x-unknown" && e.Request.Method != "HEAD" {
		st.typ = t
	}
	if right := h.ofSite(e.rightAnswer()); !h.outcome(m) && right != "" && !h.client {
		st.contains = literal(right)
	}
	st.lacks = e.refusalOfGraphQL()
	h.headers(m)
	h.body(m)
	h.conceal(st)
}

// isLine: a text that can be a header's value.
func isLine(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == utf8.RuneError })
}
