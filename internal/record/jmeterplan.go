package record

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"kasoku/internal/lazyregexp"
)

// jmeterVariable is ${name}, or a function's call.
var jmeterVariable = regexp.MustCompile(`\$\{([^{}]*)\}`)

// jmeterProperty is __P(name,default) or __property(name,,default).
var jmeterProperty = lazyregexp.New(`^__(?:P\([^,()]*,([^()]*)\)|property\([^,()]*,[^,()]*,([^()]*)\))$`)

// jmeterPlan reads a plan into requests.
type jmeterPlan struct {
	*client
	vars variables
	skip int // elements that are disabled

	tree    *jmx
	modules int // that were read
	waits   []jmeterWait
	bytes   int // of forms
}

// maxPlanForms bytes of parameters are written; a scenario has room for less.
const maxPlanForms = 4 << 20

// jmeterScope is what holds for the elements of one level and those below.
type jmeterScope struct {
	group    string
	defaults *jmx // of HTTP requests
	headers  []harHeader
	auth     string
	phase    string  // setup or teardown; "": load
	pause    float64 // before each request, in milliseconds
	status   []int   // that assertions expect
}

// FromJMeter makes a scenario of a JMeter plan (.jmx): a session of each
// thread group.
func FromJMeter(r io.Reader, o ClientOptions) (*Draft, error) {
	root, err := readJMX(r)
	if err != nil {
		return nil, fmt.Errorf("read JMeter plan: %w", jsonError(err))
	}
	p := &jmeterPlan{client: newClient("JMeter plan", &o)}
	p.vars = variables{pattern: jmeterVariable, values: map[string]string{}, made: map[string]string{"__UUID()": postmanMade["$guid"], "__time()": "1715940000000", "__threadNum": "1", "__UUID": postmanMade["$guid"], "__threadNum()": "1"},
		long: p.longText, unknown: func(name string, line int) {
			if function, _, call := strings.Cut(name, "("); call {
				name = function + "(…)" // what it is called with may be a secret
			}
			p.leave(line, "the value of ${%s} is not known; fill it in where %s stands", shortText(name, 60), fillIn)
		}}
	tree := root.children
	if len(tree) == 0 {
		return nil, errors.New("read JMeter plan: it is empty")
	}
	for _, e := range tree {
		if e.tag == "hashTree" {
			p.tree = e
			p.level(e, jmeterScope{}, 0)
		}
	}
	p.pauses()
	if p.skip > 0 {
		p.leave(0, "%d elements that are disabled", p.skip)
	}
	return p.draft(o)
}

// value of a text with its variables.
func (p *jmeterPlan) value(text string, line int) string {
	p.properties(text)
	return p.vars.fill(text, line)
}

// properties gives those that a text names the value that stands with them.
func (p *jmeterPlan) properties(text string) {
	for _, m := range jmeterVariable.FindAllStringSubmatch(text, -1) {
		if d := jmeterProperty.FindStringSubmatch(m[1]); d != nil {
			name, _, _ := strings.Cut(m[1][strings.IndexByte(m[1], '(')+1:], ",")
			p.vars.values[m[1]] = p.variable(name, cmp.Or(d[1], d[2]), false)
		}
	}
}

// level reads a hashTree: elements, each followed by the hashTree of what
// belongs to it.
func (p *jmeterPlan) level(tree *jmx, scope jmeterScope, depth int) {
	if depth > maxFolders {
		p.leave(tree.line, "elements within more than %d others", maxFolders)
		return
	}
	for _, e := range tree.children {
		if e.tag != "hashTree" && e.enabled() {
			p.configure(e, &scope)
		}
	}
	for i, e := range tree.children {
		if e.tag == "hashTree" {
			continue
		}
		below := &jmx{}
		if i+1 < len(tree.children) && tree.children[i+1].tag == "hashTree" {
			below = tree.children[i+1]
		}
		if !e.enabled() {
			p.skip++
			continue
		}
		p.element(e, below, scope, depth)
	}
}

// configure takes elements that hold for their whole level.
func (p *jmeterPlan) configure(e *jmx, scope *jmeterScope) {
	switch e.tag {
	case "TestPlan":
		p.arguments(e.list("TestPlan.user_defined_variables", "Arguments.arguments"))
	case "Arguments":
		p.arguments(e.list("Arguments.arguments"))
	case "ConfigTestElement":
		if e.attrs["guiclass"] == "HttpDefaultsGui" || e.find("HTTPSampler.domain") != nil {
			scope.defaults = e
		}
	case "HeaderManager":
		scope.headers = p.withHeaders(scope.headers, e)
	case "AuthManager":
		scope.auth = p.authorization(e)
	case "ConstantTimer":
		scope.pause += p.timer(e, "ConstantTimer.delay")
	case "ResponseAssertion":
		scope.status = p.withStatuses(scope.status, e)
	}
}

// authorization of a manager: basic, or none that load can send.
func (p *jmeterPlan) authorization(e *jmx) string {
	for _, a := range e.list("AuthManager.auth_list") {
		if m := a.property("Authorization.mechanism"); m != "" && !strings.HasPrefix(m, "BASIC") {
			p.leave(a.line, "%s authorization, which signs each request: it cannot be sent", strings.ToLower(m))
			return ""
		}
	}
	return basicAuth
}

func (p *jmeterPlan) arguments(list []*jmx) {
	for _, a := range list {
		if name := a.property("Argument.name"); name != "" {
			p.properties(a.property("Argument.value"))
			p.vars.values[name] = p.variable(name, a.property("Argument.value"), false)
		}
	}
}

// withHeaders adds those of a manager to a list. Of two with one name that of
// the nearer manager counts.
func (p *jmeterPlan) withHeaders(list []harHeader, manager *jmx) []harHeader {
	if len(list) > maxClientHeaders {
		p.leave(manager.line, "headers beyond the first %d of a request", maxClientHeaders)
		return list
	}
	near := p.headerList(manager)
	list = slices.DeleteFunc(slices.Clone(list), func(far harHeader) bool {
		return slices.ContainsFunc(near, func(h harHeader) bool { return strings.EqualFold(h.Name, far.Name) })
	})
	return append(list, near...)
}

func (p *jmeterPlan) headerList(e *jmx) []harHeader {
	var out []harHeader
	for _, h := range e.list("HeaderManager.headers") {
		if len(out) > maxClientHeaders {
			p.leave(h.line, "headers beyond the first %d of a request", maxClientHeaders)
			break
		}
		out = append(out, harHeader{Name: p.value(h.property("Header.name"), h.line), Value: p.value(h.property("Header.value"), h.line)})
	}
	return out
}

// jmeterSilent are elements that a scenario has by itself, or that only show
// results.
var jmeterSilent = map[string]bool{"TestPlan": true, "Arguments": true, "ConfigTestElement": true, "HeaderManager": true, "AuthManager": true, "CookieManager": true,
	"CacheManager": true, "ResultCollector": true, "DNSCacheManager": true, "Summariser": true, "BackendListener": true, "KeystoreConfig": true, "DebugSampler": true, "ConstantTimer": true}

// jmeterLeft says why an element is left out.
var jmeterLeft = map[string]string{"CSVDataSet": "a CSV file of data: make it a pool", "ResponseAssertion": "an assertion: write it as expect", "JSONPathAssertion": "an assertion: write it as expect",
	"SizeAssertion": "an assertion: write it as expect", "DurationAssertion": "an assertion: latency belongs into the score", "RegexExtractor": "a value of an answer: write it as extract with regexp",
	"JSONPostProcessor": "a value of an answer: write it as extract with json", "BoundaryExtractor": "a value of an answer: write it as extract with regexp", "HtmlExtractor": "a value of an answer: write it as extract with css",
	"XPathExtractor": "a value of an answer: write it as extract", "JSR223Sampler": "a script", "JSR223PreProcessor": "a script", "JSR223PostProcessor": "a script", "BeanShellSampler": "a script",
	"BeanShellPreProcessor": "a script", "BeanShellPostProcessor": "a script", "JDBCSampler": "no HTTP request", "JavaSampler": "no HTTP request", "TCPSampler": "no HTTP request",
	"ConstantThroughputTimer": "a rate: write it as arrivals"}

func (p *jmeterPlan) element(e, below *jmx, scope jmeterScope, depth int) {
	switch {
	case strings.HasSuffix(e.tag, "ThreadGroup"):
		scope.group, scope.phase = cmp.Or(e.name(), "threads"), jmeterPhases[e.tag]
		if scope.phase == "" {
			p.threads(e)
		}
		p.level(below, scope, depth+1)
	case e.tag == "HTTPSamplerProxy" || e.tag == "HTTPSampler" || e.tag == "HTTPSampler2":
		p.sampler(e, below, scope)
	case jmeterSilent[e.tag]:
		p.level(below, scope, depth+1)
	case e.tag == "TestAction":
		p.action(e, below, &scope)
	case e.tag == "TestFragmentController":
		p.leave(e.line, "%s %q: its requests are sent only where a module controller calls them", e.tag, e.name())
	case e.tag == "ModuleController":
		p.module(e, scope, depth)
	case e.tag == "ResponseAssertion" && len(p.assertedStatus(e)) > 0:
	case strings.HasSuffix(e.tag, "Timer"):
		p.leave(e.line, "%s %q: its pauses are not fixed; write think", e.tag, e.name())
	case strings.HasSuffix(e.tag, "Controller"):
		if why := jmeterControllers[e.tag]; why != "" {
			p.leave(e.line, "%s %q: %s", e.tag, e.name(), why)
		}
		p.level(below, scope, depth+1)
	default:
		p.leave(e.line, "%s %q: %s", e.tag, e.name(), cmp.Or(jmeterLeft[e.tag], "it is not known"))
		p.level(below, scope, depth+1)
	}
}

// jmeterControllers whose requests are taken, but not what they decide.
var jmeterControllers = map[string]string{"IfController": "its condition is left out: its requests are always sent", "WhileController": "its requests are sent once",
	"LoopController": "its requests are sent once; write repeat", "ForeachController": "its requests are sent once", "OnceOnlyController": "its requests are sent in each session; move them to setup",
	"RandomController": "all of its requests are sent", "InterleaveControl": "all of its requests are sent", "SwitchController": "all of its requests are sent", "ThroughputController": "its requests are sent in each session; write weight",
	"IncludeController": "another plan is not read", "RunTime": "its requests are sent once"}

// jmeterPhases of thread groups that run once, before and after the others.
var jmeterPhases = map[string]string{"SetupThreadGroup": "setup", "PostThreadGroup": "teardown"}

// threads tells how the plan loads, which the run decides here.
func (p *jmeterPlan) threads(e *jmx) {
	users := p.value(e.property("ThreadGroup.num_threads"), e.line)
	if users == "" || users == fillIn {
		p.note("The thread group %s does not say plainly how many users it has: give the run its load (workload, duration or arrivals).", e.name())
		return
	}
	p.note("The thread group %s has %s users and %s s to start them: give the run its load (workload, duration or arrivals).",
		e.name(), users, cmp.Or(p.value(e.property("ThreadGroup.ramp_time"), e.line), "0"))
}

// setting of a sampler, or of the defaults.
func (p *jmeterPlan) setting(e *jmx, scope *jmeterScope, name string) string {
	if v := p.value(e.property("HTTPSampler."+name), e.line); v != "" || scope.defaults == nil {
		return v
	}
	return p.value(scope.defaults.property("HTTPSampler."+name), scope.defaults.line)
}

func (p *jmeterPlan) sampler(e, below *jmx, scope jmeterScope) {
	for _, c := range below.children {
		if c.tag == "HeaderManager" && c.enabled() {
			scope.headers = p.withHeaders(scope.headers, c)
		}
		if c.tag == "ResponseAssertion" && c.enabled() {
			scope.status = p.withStatuses(scope.status, c)
		}
	}
	q := clientRequest{group: scope.group, phase: scope.phase, status: scope.status, name: e.name(), line: e.line, headers: scope.headers, auth: scope.auth, method: strings.ToUpper(cmp.Or(p.setting(e, &scope, "method"), "GET"))}
	q.url = p.address(e, &scope)
	args := e.list("HTTPsampler.Arguments", "Arguments.arguments")
	if scope.defaults != nil && !raw(e) {
		more := scope.defaults.list("HTTPsampler.Arguments", "Arguments.arguments")
		if len(more) > maxTarget {
			p.leave(e.line, "arguments of the defaults: %d, which no address has room for", len(more))
			more = nil
		}
		args = append(args[:len(args):len(args)], more...)
	}
	p.send(&q, e, args)
	before := len(p.requests)
	if p.add(q); len(p.requests) > before {
		p.waits = append(p.waits, jmeterWait{scope.group, scope.phase, before, scope.pause + p.timers(below.children)})
	}
	p.level(&jmx{tag: "hashTree", children: without(below.children, "HeaderManager", "ConstantTimer")}, scope, 1)
}

// raw: the arguments' values are the body.
func raw(e *jmx) bool {
	return strings.EqualFold(e.property("HTTPSampler.postBodyRaw"), "true")
}

func without(list []*jmx, tags ...string) []*jmx {
	var out []*jmx
	for _, e := range list {
		if !slices.Contains(tags, e.tag) {
			out = append(out, e)
		}
	}
	return out
}

func (p *jmeterPlan) address(e *jmx, scope *jmeterScope) string {
	path := p.setting(e, scope, "path")
	if strings.HasPrefix(path, "http://") || strings.HasPrefix(path, "https://") {
		return path
	}
	host := cmp.Or(p.setting(e, scope, "domain"), "service.invalid")
	if port := p.setting(e, scope, "port"); port != "" && port != fillIn && port != "0" {
		host += ":" + port
	}
	if strings.Contains(host, fillIn) {
		host = "service.invalid"
	}
	return cmp.Or(p.setting(e, scope, "protocol"), "http") + "://" + host + "/" + strings.TrimPrefix(path, "/")
}

// send puts the arguments into the query, the form or the body.
func (p *jmeterPlan) send(q *clientRequest, e *jmx, args []*jmx) {
	if p.bytes > maxPlanForms {
		p.leave(e.line, "its parameters: the plan has too many")
		return
	}
	var fields []pair
	var encoded []string
	for _, a := range args {
		f := pair{p.value(a.property("Argument.name"), a.line), p.value(a.property("Argument.value"), a.line)}
		fields = append(fields, f)
		switch {
		case f.value == "" && strings.EqualFold(a.property("HTTPArgument.use_equals"), "false"):
			encoded = append(encoded, url.QueryEscape(f.key))
		case strings.EqualFold(a.property("HTTPArgument.always_encode"), "true"):
			encoded = append(encoded, encodeForm([]pair{f}))
		default: // the value is sent as it is
			encoded = append(encoded, url.QueryEscape(f.key)+"="+f.value)
		}
	}
	form := strings.Join(encoded, "&")
	p.bytes += len(form)
	files := e.list("HTTPsampler.Files", "HTTPFileArgs.files")
	multipart := strings.EqualFold(e.property("HTTPSampler.DO_MULTIPART_POST"), "true")
	switch {
	case raw(e) && len(args) > 0:
		text := p.value(args[0].property("Argument.value"), args[0].line)
		kind := q.contentType()
		if kind == "" && strings.HasPrefix(strings.TrimSpace(text), "{") {
			kind = "application/json"
		}
		if q.method != "GET" && q.method != "HEAD" {
			q.post = &harPost{Type: cmp.Or(kind, "text/plain"), Text: text}
		} else {
			p.leave(e.line, "%s with a body, which load does not send: the body is left out", q.method)
		}
	case len(files) == 1 && len(fields) == 0 && files[0].property("File.paramname") == "" && !multipart && q.method != "GET" && q.method != "HEAD":
		f := files[0] // the file is the body ("HTTP Request", Files Upload)
		q.post = &harPost{Type: cmp.Or(f.property("File.mimetype"), q.contentType(), "application/octet-stream"), Text: "file"}
		q.comment = append(q.comment, "Fill in the body.")
		p.leave(f.line, "the file %s: a few bytes are sent instead", shortText(f.property("File.path"), 60))
	case len(files) > 0 || multipart && len(fields) > 0:
		for _, f := range fields {
			q.parts = append(q.parts, part{name: f.key, text: f.value})
		}
		for _, f := range files {
			q.parts = append(q.parts, part{name: cmp.Or(f.property("File.paramname"), "file"), text: "file", file: "file.bin", typ: f.property("File.mimetype")})
			p.leave(f.line, "the file %s: a few bytes are sent instead", shortText(f.property("File.path"), 60))
		}
	case len(fields) == 0:
	case q.method == "POST" || q.method == "PUT" || q.method == "PATCH":
		q.post = &harPost{Type: "application/x-www-form-urlencoded", Text: form}
	default:
		between := "?"
		if strings.Contains(q.url, "?") {
			between = "&"
		}
		q.url += between + form
	}
}
