package record

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"kasoku/internal/accesslog"
)

// LogOptions say how a log becomes a scenario. The zero value has the
// defaults.
type LogOptions struct {
	Name   string            // of the scenario; "": recorded
	Source string            // file's name, for the comment
	Format *accesslog.Format // nil: recognised
	Zone   *time.Location    // of times without a zone; nil: UTC
	Newest time.Time         // no line is later, which tells the year of dates without one; zero: unknown
	// Sessions is how many the mix has at most; 0: 20.
	Sessions int
	Think    bool          // with the recorded pauses
	Gap      time.Duration // a longer pause begins a new session; 0: 30 min
	Host     string        // only this virtual host; "": the most frequent
	Routes   []string      // patterns before what is learnt
	// Writes takes POST, PUT, PATCH and DELETE, too; without bodies, which no
	// log has.
	Writes      bool
	KeepSecrets bool // does not mask parameters named like a secret
	// Replay keeps the recorded times instead of a mix; Speed 2 is twice as
	// fast; 0: 1.
	Replay bool
	Speed  float64
}

const (
	defaultSessions = 20
	defaultGap      = 30 * time.Minute
	// maxRequests read of a log: 48 bytes each are held in memory.
	maxRequests = 5_000_000
	// shownLines of a list in the report and in the comments.
	shownLines = 10
)

// ErrNothing: the source holds no request that could be taken.
var ErrNothing = errors.New("no request can be taken")

// hit is one request of the log.
type hit struct {
	at, took int64 // begin in ns since 1970; duration in ns
	client   uint32
	call     uint32
	referer  uint32 // target; 0: none
	host     uint32
	status   uint16
	absolute bool   // its target had a scheme and a host
	route    uint32 // set when all paths are known
}

// call is a method and a target.
type call struct {
	method string
	target uint32
}

// journal is a log in memory.
type journal struct {
	hits    []hit
	calls   []call
	targets []string // 0 is ""
	hosts   []string
	routes  []string // "METHOD /template"
	byCall  []uint32 // route of each call

	referers, fine bool // some line has a Referer, a time finer than a second
	masked         int64
	left           map[string]int64 // requests left out, by reason
	bad            accesslog.Bad
	format         string
	doubt          *accesslog.UnitDoubt // why the requests' times are left out; nil: they are not
	full           bool                 // more than maxRequests
}

// table gives texts numbers.
type table struct {
	ids   map[string]uint32
	texts []string
}

func newTable() *table { return &table{ids: map[string]uint32{"": 0}, texts: []string{""}} }

func (t *table) id(b []byte) uint32 {
	if id, ok := t.ids[string(b)]; ok {
		return id
	}
	s := string(b)
	id := uint32(len(t.texts))
	t.ids[s], t.texts = id, append(t.texts, s)
	return id
}

// FromLog makes a scenario of an access log: its sessions as recorded, or a
// replay. The error is ErrNothing, a log that cannot be read, or a wrong
// option.
func FromLog(r io.Reader, o LogOptions) (*Draft, error) {
	o.complete()
	j, err := readLog(r, &o)
	if err != nil {
		return nil, err
	}
	j.chooseHost(&o)
	if err := j.learnRoutes(o.Routes); err != nil {
		return nil, err
	}
	if len(j.hits) == 0 {
		return nil, j.nothing()
	}
	if o.Replay {
		return j.replay(&o)
	}
	return j.mix(&o)
}

func (o *LogOptions) complete() {
	o.Name = cmp.Or(o.Name, "recorded")
	o.Source = cmp.Or(o.Source, "an access log")
	o.Sessions = cmp.Or(o.Sessions, defaultSessions)
	o.Gap = cmp.Or(o.Gap, defaultGap)
	o.Speed = cmp.Or(o.Speed, 1)
}

func (j *journal) nothing() error {
	reasons := j.leftOut()
	if len(reasons) == 0 {
		reasons = []string{"the log is empty"}
	}
	return fmt.Errorf("read access log: %w: %s", ErrNothing, strings.Join(reasons, "; "))
}

// logReader fills a journal.
type logReader struct {
	*journal
	o                             *LogOptions
	clients, calls, targets, host *table
	key                           []byte
}

func readLog(r io.Reader, o *LogOptions) (*journal, error) {
	in := accesslog.NewReader(r, o.Format)
	in.Zone, in.Newest = o.Zone, o.Newest
	l := &logReader{journal: &journal{left: map[string]int64{}, calls: []call{{}}}, o: o,
		clients: newTable(), calls: newTable(), targets: newTable(), host: newTable()}
	for in.Next() {
		if len(l.hits) >= maxRequests {
			l.full = true
			break
		}
		l.add(in.Entry())
	}
	if err := in.Err(); err != nil {
		return nil, err
	}
	l.leaveForeign()
	l.journal.bad = in.Bad()
	if f := in.Format(); f != nil {
		l.format = f.Name
	}
	l.doubt = in.Doubt()
	l.journal.targets, l.hosts = l.targets.texts, l.host.texts
	return l.journal, nil
}

// add takes a line, or notes why not.
func (l *logReader) add(e *accesslog.Entry) {
	if why := l.refuse(e); why != "" {
		l.left[why]++
		return
	}
	target := sendable(string(e.Target))
	if target == "" {
		l.left["their target cannot be sent"]++
		return
	}
	if !l.o.KeepSecrets {
		var found bool
		if target, found = maskQuery(target); found {
			l.masked++
		}
	}
	begin := e.Begin()
	if e.Time.Nanosecond() == 0 { // whole seconds, which spread relies on
		begin = e.Time.Add(-e.Time.Sub(begin).Truncate(time.Second))
	}
	h := hit{at: begin.UnixNano(), took: int64(max(e.Request, 0)), status: uint16(e.Status), host: l.host.id(e.Host), absolute: isAbsolute(e)}
	l.fine = l.fine || e.Time.Nanosecond() != 0
	client := e.Client
	if len(e.Forwarded) > 0 {
		client, _, _ = bytes.Cut(e.Forwarded, []byte(","))
	}
	l.key = append(append(append(l.key[:0], client...), ' '), e.Agent...)
	h.client = l.clients.id(l.key)
	l.key = append(append(append(l.key[:0], e.Method...), ' '), target...)
	if h.call = l.calls.id(l.key); int(h.call) == len(l.journal.calls) {
		l.journal.calls = append(l.journal.calls, call{method: string(e.Method), target: l.targets.id([]byte(target))})
	}
	if len(e.Referer) > 0 {
		l.referers = true
		if page := sendable(string(e.Referer)); page != "" {
			page, _ = maskQuery(page)
			h.referer = l.targets.id([]byte(page))
		}
	}
	l.hits = append(l.hits, h)
}

// writes are the methods that need Writes.
var writes = []string{"POST", "PUT", "PATCH", "DELETE"}

// refuse says why a line is not taken; "" if it is.
func (l *logReader) refuse(e *accesslog.Entry) string {
	method := string(e.Method)
	switch {
	case method == "" && len(e.Target) > 0 && e.Target[0] == '/':
		e.Method = []byte("GET") // a log without methods
	case method == "":
		return "they are no HTTP requests"
	case slices.Contains(writes, method):
		if !l.o.Writes {
			return method + ": their bodies are not in the log; --writes takes them without"
		}
	case method != "GET" && method != "HEAD":
		return method + ": not a method that load is made of"
	}
	switch s := e.Status; {
	case e.Time.IsZero():
		return "they have no time"
	case s == 499 || s == 408 || s == 444:
		return "the client went away before the answer, or sent no request (408, 444, 499)"
	case s >= 500:
		return "the server failed (5xx): no right answer is known"
	case s == 101:
		return "they became WebSockets (101)"
	}
	return ""
}

// chooseHost keeps one virtual host.
func (j *journal) chooseHost(o *LogOptions) {
	count := make([]int64, len(j.hosts))
	for _, h := range j.hits {
		count[h.host]++
	}
	most := 0
	for i := range count {
		if o.Host != "" && j.hosts[i] == o.Host || o.Host == "" && count[i] > count[most] {
			most = i
		}
	}
	if o.Host != "" && j.hosts[most] != o.Host {
		most = -1
	}
	for i, n := range count {
		if i != most && n > 0 {
			j.left[fmt.Sprintf("of the host %q; --host chooses it", j.hosts[i])] += n
		}
	}
	j.hits = slices.DeleteFunc(j.hits, func(h hit) bool { return int(h.host) != most })
}

// learnRoutes names the route of every call.
func (j *journal) learnRoutes(patterns []string) error {
	routes, err := accesslog.NewRoutes(accesslog.RouteOptions{Patterns: patterns})
	if err != nil {
		return err
	}
	for _, h := range j.hits {
		if h.status != 404 { // scanners ask for what does not exist
			routes.Add(j.target(h.call))
		}
	}
	ids := newTable()
	j.byCall = make([]uint32, len(j.calls))
	for i := range j.hits {
		h := &j.hits[i]
		if j.byCall[h.call] == 0 {
			j.byCall[h.call] = ids.id([]byte(j.calls[h.call].method + " " + routes.Route(j.target(h.call))))
		}
		h.route = j.byCall[h.call]
	}
	j.routes = ids.texts
	return nil
}

func (j *journal) target(id uint32) string { return j.targets[j.calls[id].target] }

// leftOut lists what was not taken, the most first.
func (j *journal) leftOut() []string {
	var out []string
	if j.bad.Count > 0 {
		out = append(out, fmt.Sprintf("%d lines could not be read, for example line %d (%s): %s", j.bad.Count, j.bad.Samples[0].Line, j.bad.Samples[0].Why, j.bad.Samples[0].Text))
	}
	reasons := slices.SortedFunc(maps.Keys(j.left), func(a, b string) int {
		return cmp.Or(cmp.Compare(j.left[b], j.left[a]), strings.Compare(a, b))
	})
	for i, why := range reasons {
		if i == shownLines {
			out = append(out, fmt.Sprintf("and requests for %d more reasons", len(reasons)-i))
			break
		}
		out = append(out, fmt.Sprintf("%d requests: %s", j.left[why], why))
	}
	if j.full {
		out = append(out, fmt.Sprintf("what follows the first %d requests", maxRequests))
	}
	return out
}

// notes that both kinds of scenario have.
func (j *journal) notes(o *LogOptions) []string {
	out := []string{"A log has no cookies and no bodies: pages behind a login answer differently than recorded until you add the login's step."}
	if d := j.doubt; d != nil {
		out = append(out, fmt.Sprintf("How long requests took is left out, so each begins when its line was written: the times in %s name no unit, and more than one is possible.", d.Field))
	}
	if j.masked > 0 {
		out = append(out, fmt.Sprintf("In %d requests the values of parameters named like a secret (pass, token, secret, key, session, …) are %q; --keep-secrets keeps them.", j.masked, maskedValue))
	}
	if o.KeepSecrets {
		out = append(out, "Secrets in queries are kept as recorded: do not share the pools.")
	}
	if o.Writes {
		out = append(out, "POST, PUT, PATCH and DELETE are sent without a body: fill in form: or json: where it says so.")
	}
	return out
}

// span of the log: first begin, length, requests per second on average and
// in the busiest second.
func (j *journal) span() (first time.Time, length time.Duration, mean, peak float64) {
	least, most := j.hits[0].at, j.hits[0].at
	perSecond := map[int64]int{}
	for _, h := range j.hits {
		least, most = min(least, h.at), max(most, h.at)
		perSecond[h.at/1e9]++
		peak = max(peak, float64(perSecond[h.at/1e9]))
	}
	length = time.Duration(most - least)
	return time.Unix(0, least).UTC(), length, float64(len(j.hits)) / max(length.Seconds(), 1), peak
}
