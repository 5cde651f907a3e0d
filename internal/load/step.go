package load

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// step is one request of a session with what follows from it.
type step struct {
	name    string
	index   int // in its session
	method  string
	path    template
	rawPath bool     // begins with a variable: a link taken as it is
	headers template // whole lines
	own     ownHeaders
	body    template
	hasBody bool
	// bodyType is the Content-Type line sent with the body; "" if the step's
	// headers have their own.
	bodyType string
	route    int
	onward   int // route of redirects to places that no route names

	repeat  int
	draws   []draw
	expect  expectation
	follow  bool
	then    *expectation
	extract []extraction
	record  []recording
	assets  []int
	auto    *autoAssets // assets: auto; else nil
	think   time.Duration
	timeout time.Duration // 0: the scenario's
	serial  int           // in the scenario
	heavy   bool          // its checks take long
}

// ownHeaders are those the step sets itself, so the engine does not.
type ownHeaders struct {
	host, agent, accept, cookie, contentType bool
	telling                                  []string // may tell who asks, in lower case
	brotli                                   bool     // its Accept-Encoding names br
}

// extraction takes a value out of an answer into a slot.
type extraction struct {
	name   string
	slot   int
	header string
	path   []jsonStep
	asJSON bool
	css    *cssQuery
	cookie string
	re     *regexp.Regexp
}

// recording adds a value to a set.
type recording struct {
	set   int
	value template
}

var stepKeys = []string{"name", "request", "route", "headers", "form", "json", "body", "multipart", "repeat", "draw", "expect",
	"follow", "then", "extract", "record", "assets", "think", "timeout"}

func (c *compiler) readSteps(s *session, n ast.Node, sc *scope) {
	if n == nil {
		return
	}
	names := map[string]int{}
	list := c.list(n, s.name+": steps")
	if len(list) > maxSteps {
		c.fail(n, "%s has %d steps; at most %d", s.name, len(list), maxSteps)
		return
	}
	for i, e := range list {
		o := c.object(e, fmt.Sprintf("%s: step %d", s.name, i+1), stepKeys...)
		st := step{index: i, name: fmt.Sprintf("step %d", i+1), repeat: 1}
		if o["name"] != nil {
			st.name, _ = c.text(o["name"], "name")
			if _, twice := names[st.name]; twice {
				c.fail(o["name"], "%s: two steps are named %q; give each a name of its own", s.name, st.name)
			}
		}
		names[st.name] = i
		c.readStep(&st, e, o, sc, names)
		s.steps = append(s.steps, st)
	}
}

func (c *compiler) readStep(st *step, at ast.Node, o map[string]ast.Node, sc *scope, names map[string]int) {
	what := st.name
	st.draws = c.readDraws(o["draw"], what, sc)
	label := c.readRequest(st, at, o["request"], sc)
	if o["route"] != nil {
		label, _ = c.text(o["route"], what+": route")
	}
	if label != "" {
		st.route = c.route(label)
	}
	c.readHeaders(st, o["headers"], sc)
	c.readBody(st, o, sc)
	repeat := int64(1)
	c.integer(o["repeat"], what+": repeat", 1, 1_000_000, &repeat)
	st.repeat = int(repeat)
	c.duration(o["think"], what+": think", 0, maxTimeout, &st.think)
	c.duration(o["timeout"], what+": timeout", time.Millisecond, maxTimeout, &st.timeout)
	c.boolean(o["follow"], what+": follow", &st.follow)
	if st.follow {
		c.follows = true
		st.onward = c.route(label + " (followed)")
	}
	st.expect = c.readExpect(o["expect"], what+": expect", sc, names)
	if st.follow && len(st.expect.statuses) == 0 {
		st.expect.redirect = true
	}
	if o["then"] != nil {
		if !st.follow {
			c.fail(o["then"], "%s: then is for the answer after redirects; add follow: true, or use expect", what)
		}
		then := c.readExpect(o["then"], what+": then", sc, names)
		st.then = &then
	} else if st.follow {
		st.then = &expectation{size: -1}
	}
	c.readExtract(st, o["extract"], sc)
	c.readRecord(st, o["record"], sc)
	c.readAssetsKey(st, o["assets"])
}

var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

// readRequest reads "METHOD /path" and returns the default route label.
func (c *compiler) readRequest(st *step, at, n ast.Node, sc *scope) string {
	if n == nil {
		c.fail(at, "%s has no request; write for example request: GET /", st.name)
		return ""
	}
	text, ok := c.text(n, st.name+": request")
	if !ok {
		return ""
	}
	method, path, _ := strings.Cut(text, " ")
	path = strings.TrimSpace(path)
	if !slices.Contains(methods, method) {
		c.fail(n, "%s: request %q does not begin with a method; write one of %s, then a path", st.name, text, strings.Join(methods, ", "))
		return ""
	}
	st.method = method
	st.rawPath = strings.HasPrefix(path, "${")
	if why := badPath(path); why != "" {
		c.fail(n, "%s: path %q %s", st.name, path, why)
		return ""
	}
	st.path = c.template(n, st.name, asciiPath(path), urlText, sc)
	if st.rawPath && len(st.path.parts) > 0 && st.path.parts[0].slot >= 0 {
		st.path.parts[0].enc = rawText
	}
	path, _, _ = strings.Cut(path, "?")
	return method + " " + path
}

// badPath says what is wrong with a request's path; "" if nothing is.
func badPath(path string) string {
	if !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "${") {
		return "does not begin with /; write it without scheme and host"
	}
	inside := false
	for i := range len(path) {
		switch c := path[i]; {
		case c == '$' && strings.HasPrefix(path[i:], "${"):
			inside = true
		case inside:
			inside = c != '}'
		case c <= ' ' || c == 0x7f:
			return "holds a space or control character; write %20 for a space"
		case c == '#':
			return "holds a fragment (#…), which is never sent; remove it"
		case c == '%' && (i+2 >= len(path) || !isHex(path[i+1]) || !isHex(path[i+2])):
			return "holds a % without two hexadecimal digits; write %25 for a percent sign"
		}
	}
	return ""
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

// asciiPath percent-encodes what is not ASCII, as browsers do.
func asciiPath(path string) string {
	var b []byte
	for i := range len(path) {
		if c := path[i]; c < 0x80 {
			b = append(b, c)
		} else {
			b = append(b, '%', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return string(b)
}

func (c *compiler) readHeaders(st *step, n ast.Node, sc *scope) {
	if n == nil {
		return
	}
	for _, p := range c.document.pairs(n, st.name+": headers") {
		name := strings.ToLower(p.key)
		switch {
		case !isToken(p.key):
			c.fail(p.at, "%s: %q cannot name a header", st.name, p.key)
		case slices.Contains([]string{"content-length", "transfer-encoding", "expect", "upgrade", "te", "trailer"}, name):
			c.fail(p.at, "%s: the header %s is Kasoku's own to set; remove it", st.name, p.key)
		}
		texts := c.texts(p.value, st.name+": "+p.key)
		if len(texts) > 1 && slices.Contains(singleHeaders, name) {
			c.fail(p.value, "%s: a request has one %s; keep one", st.name, p.key)
			continue
		}
		for _, v := range texts {
			c.readHeader(st, p, name, v, sc)
		}
	}
}

// singleHeaders are those that a request has once (RFC 9110, sections 7.2, 8.3
// and 10.1.5; RFC 6265, section 5.4).
var singleHeaders = []string{"host", "content-type", "user-agent", "cookie", "authorization"}

// readHeader reads one line of the header p; v is its value.
func (c *compiler) readHeader(st *step, p pair, name string, v pair, sc *scope) {
	text := v.key
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		c.fail(v.at, "%s: the value of %s holds a line break or control character; write one line", st.name, p.key)
		return
	}
	st.own.host = st.own.host || name == "host"
	st.own.agent = st.own.agent || name == "user-agent"
	st.own.accept = st.own.accept || name == "accept"
	st.own.cookie = st.own.cookie || name == "cookie"
	st.own.contentType = st.own.contentType || name == "content-type"
	st.own.brotli = st.own.brotli || name == "accept-encoding" && takesBrotli(text)
	if !slices.Contains(anonymous, name) {
		st.own.telling = append(st.own.telling, name)
	}
	st.headers.addLiteral([]byte(p.key + ": "))
	st.headers.addTemplate(c.template(v.at, st.name+": "+p.key, text, headerText, sc))
	st.headers.addLiteral([]byte("\r\n"))
}

func (c *compiler) readExtract(st *step, n ast.Node, sc *scope) {
	if n == nil {
		return
	}
	for _, p := range c.document.pairs(n, st.name+": extract") {
		what := st.name + ": extract " + p.key
		if !isName(p.key) {
			c.fail(p.at, "%s: use letters, digits, - and _ in names", what)
		}
		if sc.drawn[p.key] != nil {
			c.fail(p.at, "%s: a draw has this name; use another", what)
		}
		o := c.object(p.value, what, "regexp", "header", "json", "css", "attr", "cookie")
		x := extraction{name: p.key}
		if o["regexp"] != nil {
			x.re = c.pattern(o["regexp"], what)
		}
		if o["header"] != nil {
			x.header, _ = c.text(o["header"], what+": header")
		}
		if o["json"] != nil {
			x.path, x.asJSON = c.jsonPath(o["json"], what), true
		}
		if o["css"] != nil {
			x.css = c.readCSS(o["css"], o["attr"], what)
		} else if o["attr"] != nil {
			c.fail(o["attr"], "%s: attr is of the element that css finds; add css", what)
		}
		if o["cookie"] != nil {
			x.cookie, _ = c.text(o["cookie"], what+": cookie")
		}
		sources := 0
		for _, key := range []string{"header", "json", "css", "cookie"} {
			if o[key] != nil {
				sources++
			}
		}
		if sources > 1 {
			c.fail(p.value, "%s has more than one of header, json, css and cookie; keep one", what)
		}
		if sources == 0 && o["regexp"] == nil {
			c.fail(p.at, `%s needs regexp, header, json, css or cookie, for example {regexp: 'name="token" value="(\w+)"'}`, what)
		}
		x.slot = sc.slot(p.key)
		st.extract = append(st.extract, x)
	}
}

func (c *compiler) readRecord(st *step, n ast.Node, sc *scope) {
	if n == nil {
		return
	}
	for _, p := range c.document.pairs(n, st.name+": record") {
		if !isName(p.key) {
			c.fail(p.at, "%s: %q cannot name a set; use letters, digits, - and _", st.name, p.key)
		}
		set := slices.Index(c.out.sets, p.key)
		if set < 0 {
			set = len(c.out.sets)
			c.out.sets = append(c.out.sets, p.key)
		}
		st.record = append(st.record, recording{set: set, value: c.textTemplate(p.value, st.name+": record "+p.key, rawText, sc)})
	}
}

// pattern reads a regular expression.
func (c *compiler) pattern(n ast.Node, what string) *regexp.Regexp {
	text, ok := c.text(n, what+": regexp")
	if !ok {
		return nil
	}
	return c.compilePattern(n, what, text)
}

func (c *compiler) compilePattern(n ast.Node, what, text string) *regexp.Regexp {
	if strings.Contains(text, "${") {
		c.fail(n, "%s: a regexp takes no ${variables}; use contains for texts that vary", what)
		return nil
	}
	re, err := regexp.Compile(text)
	if err != nil {
		c.fail(n, "%s: regexp: %v; the syntax is RE2 (pkg.go.dev/regexp/syntax)", what, err)
	}
	return re
}

func (c *compiler) jsonPath(n ast.Node, what string) []jsonStep {
	text, ok := c.text(n, what+": json")
	if !ok {
		return nil
	}
	path, err := parseJSONPath(text)
	if err != nil {
		c.fail(n, "%s: %v", what, err)
	}
	return path
}
