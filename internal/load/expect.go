package load

import (
	"encoding/hex"
	"regexp"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// expectation says what a right answer looks like.
type expectation struct {
	statuses []int // empty: 200, or a redirect
	redirect bool  // any redirect's status
	typ      *template
	headers  []headerExpectation
	contains []template
	lacks    []template
	regexps  []*regexp.Regexp
	time     *timeExpectation
	sha256   string // lower-case hexadecimal; "" if not asked
	size     int64  // -1: not asked
	json     []jsonExpectation
	sets     []setExpectation
	golden   *golden
	needBody bool // some check reads the body
}

type headerExpectation struct {
	name  string
	value template
}

// timeExpectation: the first group of re, read with layout, lies no further
// than within before the step was sent or after it was answered.
type timeExpectation struct {
	re       *regexp.Regexp
	layout   string
	zone     *time.Location
	near     int // step in the session
	nearName string
	within   time.Duration
}

type jsonExpectation struct {
	text  string
	path  []jsonStep
	value template // JSON
}

// oneVariable reports whether the value is one variable and nothing else. What was
// drawn or taken from an answer is a text; a number of the same digits equals it.
func (x *jsonExpectation) oneVariable() bool {
	p := x.value.parts
	return len(p) == 3 && p[0].slot < 0 && p[1].slot >= 0 && p[2].slot < 0 && string(p[0].literal) == `"` && string(p[2].literal) == `"`
}

// setExpectation compares an array with what was recorded.
type setExpectation struct {
	text string
	path []jsonStep
	name string
	none bool // the array holds none of the set; else all
}

func (c *compiler) readExpect(n ast.Node, what string, sc *scope, names map[string]int) expectation {
	e := expectation{size: -1}
	if n == nil {
		return e
	}
	o := c.object(n, what, "status", "type", "header", "contains", "not_contains", "regexp", "time", "sha256", "size", "golden", "mask",
		"json", "json_has_all", "json_has_none")
	c.readStatuses(&e, o["status"], what)
	if o["type"] != nil {
		t := c.textTemplate(o["type"], what+": type", rawText, sc)
		e.typ = &t
	}
	if o["header"] != nil {
		for _, p := range c.document.pairs(o["header"], what+": header") {
			if !isToken(p.key) {
				c.fail(p.at, "%s: %q cannot name a header", what, p.key)
			}
			e.headers = append(e.headers, headerExpectation{p.key, c.textTemplate(p.value, what+": "+p.key, rawText, sc)})
		}
	}
	for _, p := range c.texts(o["contains"], what+": contains") {
		e.contains = append(e.contains, c.template(p.at, what+": contains", p.key, rawText, sc))
	}
	for _, p := range c.texts(o["not_contains"], what+": not_contains") {
		e.lacks = append(e.lacks, c.template(p.at, what+": not_contains", p.key, rawText, sc))
	}
	for _, p := range c.texts(o["regexp"], what+": regexp") {
		if re := c.compilePattern(p.at, what, p.key); re != nil {
			e.regexps = append(e.regexps, re)
		}
	}
	e.time = c.readTime(o["time"], what+": time", names)
	c.readDigest(&e, o["sha256"], what)
	c.integer(o["size"], what+": size", 0, maxBody, &e.size)
	c.readJSON(&e, o, what, sc)
	e.golden = c.readGolden(o, what)
	e.needBody = len(e.contains)+len(e.lacks)+len(e.regexps)+len(e.json)+len(e.sets) > 0 || e.time != nil || e.sha256 != "" || e.size >= 0 || e.golden != nil
	return e
}

// readStatuses reads 302 or [302, 303].
func (c *compiler) readStatuses(e *expectation, n ast.Node, what string) {
	if n == nil {
		return
	}
	nodes := []ast.Node{n}
	if _, ok := c.resolve(n).(*ast.SequenceNode); ok {
		if nodes = c.list(n, what+": status"); len(nodes) == 0 {
			c.fail(n, "%s: status is empty; write for example 200", what)
		}
	}
	for _, s := range nodes {
		status := int64(0)
		c.integer(s, what+": status", 200, 599, &status)
		e.statuses = append(e.statuses, int(status))
	}
}

func (c *compiler) readDigest(e *expectation, n ast.Node, what string) {
	if n == nil {
		return
	}
	text, ok := c.text(n, what+": sha256")
	if !ok {
		return
	}
	if sum, err := hex.DecodeString(text); err != nil || len(sum) != 32 {
		c.fail(n, "%s: sha256 is %q; write the 64 hexadecimal digits that sha256sum prints", what, shorten(text, 40))
	}
	e.sha256 = strings.ToLower(text)
}

func (c *compiler) readTime(n ast.Node, what string, names map[string]int) *timeExpectation {
	if n == nil {
		return nil
	}
	o := c.object(n, what, "regexp", "layout", "zone", "near", "within")
	t := &timeExpectation{zone: time.Local, within: 2 * time.Second}
	for _, key := range []string{"regexp", "layout", "near"} {
		if o[key] == nil {
			c.fail(n, "%s needs %s", what, key)
		}
	}
	if o["regexp"] != nil {
		t.re = c.pattern(o["regexp"], what)
		if t.re != nil && t.re.NumSubexp() < 1 {
			c.fail(o["regexp"], "%s: the regexp needs a group (…) around the time", what)
		}
	}
	if o["layout"] != nil {
		t.layout, _ = c.text(o["layout"], what+": layout")
		probe := time.Date(2017, 8, 9, 10, 11, 12, 0, time.UTC).Format(t.layout)
		if _, err := time.Parse(t.layout, probe); err != nil || probe == t.layout {
			c.fail(o["layout"], "%s: layout %q is not one of Go's; write how the time 2006-01-02 15:04:05 would look", what, t.layout)
		}
	}
	if o["zone"] != nil {
		name, _ := c.text(o["zone"], what+": zone")
		zone, err := time.LoadLocation(name)
		if err != nil {
			c.fail(o["zone"], "%s: zone %q is unknown; write for example UTC or Asia/Tokyo", what, name)
		} else {
			t.zone = zone
		}
	}
	if o["near"] != nil {
		t.nearName, _ = c.text(o["near"], what+": near")
		step, ok := names[t.nearName]
		if !ok {
			var known []string
			for name := range names {
				known = append(known, name)
			}
			c.fail(o["near"], "%s: near names %q, which is neither this step nor one before it; %s", what, t.nearName, suggest(t.nearName, known))
		}
		t.near = step
	}
	c.duration(o["within"], what+": within", 0, maxWindow, &t.within)
	return t
}

func (c *compiler) readJSON(e *expectation, o map[string]ast.Node, what string, sc *scope) {
	if o["json"] != nil {
		for _, p := range c.document.pairs(o["json"], what+": json") {
			x := jsonExpectation{text: p.key, path: c.pathKey(p, what)}
			c.jsonTemplate(p.value, what+": "+p.key, &x.value, sc, 0)
			e.json = append(e.json, x)
		}
	}
	for _, key := range []string{"json_has_all", "json_has_none"} {
		if o[key] == nil {
			continue
		}
		if !sc.teardown {
			c.fail(o[key], "%s: %s is for teardown, when all users have recorded what they know", what, key)
		}
		for _, p := range c.document.pairs(o[key], what+": "+key) {
			name, ok := c.text(p.value, what+": "+p.key)
			if !ok {
				continue
			}
			set, ok := strings.CutPrefix(name, "@")
			if !ok {
				c.fail(p.value, "%s: %q is no recorded set; write @ and the name that a step's record has", what, name)
				continue
			}
			c.uses = append(c.uses, setUse{p.value, set})
			e.sets = append(e.sets, setExpectation{text: p.key, path: c.pathKey(p, what), name: set, none: key == "json_has_none"})
		}
	}
}

func (c *compiler) pathKey(p pair, what string) []jsonStep {
	path, err := parseJSONPath(p.key)
	if err != nil {
		c.fail(p.at, "%s: %v", what, err)
	}
	return path
}

// wants reports whether a status is right.
func (e *expectation) wants(status int) bool {
	if e.redirect {
		return isRedirect(status)
	}
	if len(e.statuses) == 0 {
		return status == 200
	}
	for _, s := range e.statuses {
		if s == status {
			return true
		}
	}
	return false
}

// isRedirect: the answers that have a Location to go to.
func isRedirect(status int) bool {
	return status == 301 || status == 302 || status == 303 || status == 307 || status == 308
}
