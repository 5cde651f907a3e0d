package record

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// jmeterVariable is ${name}, or a function's call.
var jmeterVariable = regexp.MustCompile(`\$\{([^{}]*)\}`)

// jmeterProperty is __P(name,default) or __property(name,,default).
var jmeterProperty = regexp.MustCompile(`^__(?:P\([^,()]*,([^()]*)\)|property\([^,()]*,[^,()]*,([^()]*)\))$`)

// jmeterPlan reads a plan into requests.
type jmeterPlan struct {
	*client
	vars variables
	skip int // elements that are disabled

}

// jmeterScope is what holds for the elements of one level and those below.
type jmeterScope struct {
	group    string
	defaults *jmx // of HTTP requests
	headers  []harHeader
	auth     string
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
			p.level(e, jmeterScope{}, 0)
		}
	}
	if p.skip > 0 {
		p.leave(0, "%d elements that are disabled", p.skip)
	}
	return p.draft(o)
}

// value of a text with its variables.
func (p *jmeterPlan) value(text string, line int) string {
	for _, m := range jmeterVariable.FindAllStringSubmatch(text, -1) {
		if d := jmeterProperty.FindStringSubmatch(m[1]); d != nil {
			name, _, _ := strings.Cut(m[1][strings.IndexByte(m[1], '(')+1:], ",")
			p.vars.values[m[1]] = p.variable(name, cmp.Or(d[1], d[2]), false)
		}
	}
	return p.vars.fill(text, line)
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
		scope.auth = basicAuth
	}
}

func (p *jmeterPlan) arguments(list []*jmx) {
	for _, a := range list {
		if name := a.property("Argument.name"); name != "" {
			p.vars.values[name] = p.variable(name, a.property("Argument.value"), false)
		}
	}
}

// withHeaders adds those of a manager to a list.
func (p *jmeterPlan) withHeaders(list []harHeader, manager *jmx) []harHeader {
	if len(list) > maxClientHeaders {
		p.leave(manager.line, "headers beyond the first %d of a request", maxClientHeaders)
		return list
	}
	return append(list[:len(list):len(list)], p.headerList(manager)...)
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
	"CacheManager": true, "ResultCollector": true, "DNSCacheManager": true, "Summariser": true, "BackendListener": true, "KeystoreConfig": true, "DebugSampler": true, "TestAction": true}

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
		scope.group = cmp.Or(e.name(), "threads")
		p.threads(e)
		p.level(below, scope, depth+1)
	case e.tag == "HTTPSamplerProxy" || e.tag == "HTTPSampler" || e.tag == "HTTPSampler2":
		p.sampler(e, below, scope)
	case jmeterSilent[e.tag]:
		p.level(below, scope, depth+1)
	case e.tag == "ConstantTimer":
		if ms, err := strconv.ParseFloat(p.value(e.property("ConstantTimer.delay"), e.line), 64); err == nil && ms > 0 && len(p.requests) > 0 {
			p.requests[len(p.requests)-1].think = pause(ms / 1000)
		}
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
	"IncludeController": "another plan is not read", "ModuleController": "what it refers to is not sent a second time", "RunTime": "its requests are sent once"}

// threads tells how the plan loads, which the run decides here.
func (p *jmeterPlan) threads(e *jmx) {
	p.note("The thread group %s has %s users and %s s to start them: give the run its load (workload, duration or arrivals).",
		e.name(), cmp.Or(p.value(e.property("ThreadGroup.num_threads"), e.line), "?"), cmp.Or(p.value(e.property("ThreadGroup.ramp_time"), e.line), "0"))
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
	}
	q := clientRequest{group: scope.group, name: e.name(), line: e.line, headers: scope.headers, auth: scope.auth, method: strings.ToUpper(cmp.Or(p.setting(e, &scope, "method"), "GET"))}
	q.url = p.address(e, &scope)
	args := e.list("HTTPsampler.Arguments", "Arguments.arguments")
	if scope.defaults != nil && q.method == "GET" {
		more := scope.defaults.list("HTTPsampler.Arguments", "Arguments.arguments")
		if len(more) > maxTarget {
			p.leave(e.line, "arguments of the defaults: %d, which no address has room for", len(more))
			more = nil
		}
		args = append(args[:len(args):len(args)], more...)
	}
	p.send(&q, e, args)
	p.add(q)
	p.level(&jmx{tag: "hashTree", children: without(below.children, "HeaderManager")}, scope, 1)
}

func without(list []*jmx, tag string) []*jmx {
	var out []*jmx
	for _, e := range list {
		if e.tag != tag {
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
	var fields []pair
	for _, a := range args {
		value := p.value(a.property("Argument.value"), a.line)
		// Not always_encode: the value is encoded already.
		if plain, err := url.QueryUnescape(value); err == nil && !strings.EqualFold(a.property("HTTPArgument.always_encode"), "true") {
			value = plain
		}
		fields = append(fields, pair{p.value(a.property("Argument.name"), a.line), value})
	}
	files := e.list("HTTPsampler.Files", "HTTPFileArgs.files")
	multipart := strings.EqualFold(e.property("HTTPSampler.DO_MULTIPART_POST"), "true")
	switch {
	case strings.EqualFold(e.property("HTTPSampler.postBodyRaw"), "true") && len(args) > 0:
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
		q.post = &harPost{Type: "application/x-www-form-urlencoded", Text: encodeForm(fields)}
	default:
		between := "?"
		if strings.Contains(q.url, "?") {
			between = "&"
		}
		q.url += between + encodeForm(fields)
	}
}
