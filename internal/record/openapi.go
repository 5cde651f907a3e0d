package record

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// OpenAPIOptions say how an OpenAPI file becomes a scenario.
type OpenAPIOptions struct {
	Name, Source string
	// ByPath makes a session of each first path segment instead of each tag.
	ByPath bool
	Writes bool // POST, PUT, PATCH and DELETE too
	// Dir is where files that the document refers to are; "": such references
	// are told and left out.
	Dir string
}

// fillIn stands where a person must write a value.
const fillIn = "FILL-IN"

// apiDraft makes sessions of an OpenAPI document.
type apiDraft struct {
	o        *OpenAPIOptions
	root     apiNode
	files    *apiFiles
	swagger  bool // Swagger 2
	out      scenario
	names    names
	left     map[string]int64
	madeUp   map[string]bool // parameters without example
	optional map[string]bool // parameters that are left out
	secrets  map[string]bool // names of examples that are not taken
	host     string          // that requests go to; "": that of the document
	security map[string]bool
	ids      map[string]bool // operationIds
	hints    map[string]int  // what to do about operations, and of how many
	taken    int64
	routes   []Share
	size     int // bytes of the steps so far
}

// FromOpenAPI makes a scenario of an OpenAPI 3 or Swagger 2 document: each
// operation once, with the values of its examples. Parts that are wrong are
// left out and told with their place; the rest is taken.
func FromOpenAPI(data []byte, o OpenAPIOptions) (*Draft, error) {
	file, err := readAPI(data, o.Dir)
	if err != nil {
		return nil, err
	}
	a := &apiDraft{root: apiNode{file.root, file}.plain(), files: file.files, names: names{}, left: map[string]int64{}, madeUp: map[string]bool{}, optional: map[string]bool{}, secrets: map[string]bool{},
		security: map[string]bool{}, ids: map[string]bool{}, hints: map[string]int{}}
	if err := a.version(); err != nil {
		return nil, err
	}
	title := a.root.get("info").get("title").text()
	o.Name, o.Source = cmp.Or(o.Name, title, "api"), cmp.Or(o.Source, "an OpenAPI file")
	a.o = &o
	paths := a.root.get("paths")
	if paths.ok() && paths.kind() != yaml.MappingNode && !paths.is("!!null") {
		return nil, fmt.Errorf("read OpenAPI: line %d: paths is %s where an object is expected", paths.line(), what(paths))
	}
	a.mainHost(paths)
	a.sessions(paths)
	a.unused()
	d := &Draft{Requests: a.taken, Coverage: 1, Routes: a.routes, LeftOut: append((&journal{left: a.left}).leftOut(), a.files.problems()...)}
	if err := a.leaveUnsound(d); err != nil {
		return nil, err
	}
	if a.taken == 0 {
		return nil, fmt.Errorf("read OpenAPI: %w: %s", ErrNothing, cmp.Or(strings.Join(d.LeftOut, "; "), "it has no paths"))
	}
	for i := range a.routes {
		a.routes[i].Drafted = 1 / float64(a.taken)
	}
	d.Taken = []string{fmt.Sprintf("%d operations of %s in %d sessions", a.taken, cmp.Or(printable(title), o.Source), len(a.out.sessions))}
	d.Notes = a.notes()
	a.out.name = o.Name
	a.out.comment = comments("Made from "+o.Source+".", d)
	return d, d.render(&a.out)
}

// leaveUnsound takes out operations that a scenario cannot have, and tells them.
func (a *apiDraft) leaveUnsound(d *Draft) error {
	removed, left, err := a.out.withoutUnsound()
	if err != nil {
		return err
	}
	for _, st := range removed {
		a.taken--
		if i := slices.IndexFunc(a.routes, func(r Share) bool { return r.Route == st.route }); i >= 0 {
			a.routes = slices.Delete(a.routes, i, i+1)
		}
	}
	d.Requests, d.Routes, d.LeftOut = a.taken, a.routes, append(d.LeftOut, left...)
	return nil
}

// version refuses what is neither OpenAPI 3 nor Swagger 2.
func (a *apiDraft) version() error {
	v3, v2 := a.root.get("openapi"), a.root.get("swagger")
	switch {
	case strings.HasPrefix(v3.text(), "3"):
		return nil
	case strings.HasPrefix(v2.text(), "2"):
		a.swagger = true
		return nil
	case v3.ok():
		return fmt.Errorf("read OpenAPI: line %d: its version is %s; 3.x is read, and Swagger 2.0: convert it", v3.line(), what(v3))
	case v2.ok() || a.root.get("swaggerVersion").ok():
		return fmt.Errorf("read OpenAPI: its Swagger version is %s; 2.0 is read: convert it", what(cmp.Or(v2, a.root.get("swaggerVersion"))))
	}
	return errors.New(`read OpenAPI: neither "openapi: 3…" nor "swagger: 2.0" stands at its top, so it is no OpenAPI document`)
}

// unused reads the schemas once more by themselves, so that what is wrong in
// one that no operation refers to is told, too.
func (a *apiDraft) unused() {
	list := a.root.get("components").get("schemas")
	if a.swagger {
		list = a.root.get("definitions")
	}
	for _, m := range list.members() {
		schemaOf(m.value)
	}
	if n := len(a.root.get("webhooks").members()); n > 0 {
		a.left["webhooks, which the service itself sends"] = int64(n)
	}
}

// maxStepBytes of all steps: a scenario has at most 256 KiB, with its comments,
// sessions and pools.
const maxStepBytes = 180 << 10

// fullScenario is why operations and requests beyond that are left out.
const fullScenario = "the scenario is full (256 KiB); make another one of a copy of the source that has only these"

// stepSize is the bytes of a step as it is written, with its pool's line.
func stepSize(st *step) int {
	var w writer
	w.step(st)
	return w.Len() + 80
}

// order of methods in a session: what reads comes first.
var order = []string{"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"}

// otherMethods of a path item that load does not send.
var otherMethods = []string{"trace", "query"}

// sessions groups the operations, in the order of paths.
func (a *apiDraft) sessions(paths apiNode) {
	at := map[string]int{}
	for _, m := range slices.SortedStableFunc(slices.Values(paths.members()), func(x, y member) int { return strings.Compare(x.key, y.key) }) {
		path := m.key
		if strings.HasPrefix(path, "x-") {
			continue
		}
		if !strings.HasPrefix(path, "/") {
			a.files.problem(m.at, fmt.Sprintf("the path %q does not begin with a slash; one is put before it", shortText(path, 60)))
			path = "/" + path
		}
		ops := a.operations(m.value)
		for _, method := range order {
			op := ops[method]
			if !op.ok() {
				continue
			}
			if why := a.refuse(method, op); why != "" {
				a.left[why]++
				continue
			}
			a.operation(path, method, m.value, op, at)
		}
	}
	for i := range a.out.sessions { // what writes comes last, deletions at the end
		slices.SortStableFunc(a.out.sessions[i].steps, func(x, y step) int {
			return cmp.Compare(writeRank(x.request), writeRank(y.request))
		})
	}
}

// operations of a path item by their methods.
func (a *apiDraft) operations(item apiNode) map[string]apiNode {
	out := map[string]apiNode{}
	if ref := item.find("$ref"); ref.ok() && !item.resolved().ok() {
		return out // told by target
	}
	members := item.own()
	if to, ok := item.target(); ok {
		members = append(members, to.members()...)
	}
	for _, m := range members {
		method := strings.ToUpper(m.key)
		switch {
		case slices.Contains(order, method):
			if m.value.resolved().kind() != yaml.MappingNode {
				a.files.problem(m.at, fmt.Sprintf("%s is %s where an operation is expected; it is left out", m.key, what(m.value)))
			} else if !out[method].ok() {
				out[method] = m.value
			}
		case slices.Contains(otherMethods, strings.ToLower(m.key)):
			a.left[method+" operations, which load does not send"]++
		case m.key == "additionalOperations": // OpenAPI 3.2: methods by their names
			for _, other := range m.value.members() {
				a.left[printable(shortText(other.key, 40))+" operations, which load does not send"]++
			}
		}
	}
	return out
}

// operation takes one into its session; at has their places.
func (a *apiDraft) operation(path, method string, item, op apiNode, at map[string]int) {
	if a.size > maxStepBytes {
		a.left[fullScenario]++
		return
	}
	st, draw, err := a.step(path, method, item, op)
	if err != nil {
		a.files.problem(op, fmt.Sprintf("%s %s is left out: %v", method, path, err))
		return
	}
	if a.size += stepSize(&st); a.size > maxStepBytes {
		a.left[fullScenario]++
		if draw != nil { // its pool
			a.out.pools = a.out.pools[:len(a.out.pools)-1]
		}
		return
	}
	group := a.group(path, op)
	i, ok := at[group]
	if !ok {
		i = len(a.out.sessions)
		at[group] = i
		a.out.sessions = append(a.out.sessions, session{name: group})
	}
	st.draw = draw
	for n, name := 2, st.name; slices.ContainsFunc(a.out.sessions[i].steps, func(o step) bool { return o.name == st.name }); n++ {
		st.name = fmt.Sprintf("%s (%d)", name, n)
	}
	a.out.sessions[i].steps = append(a.out.sessions[i].steps, st)
	a.taken++
	a.routes = append(a.routes, Share{Route: st.route, Recorded: 1})
}

func writeRank(request string) int {
	method, _, _ := strings.Cut(request, " ")
	return max(slices.Index(order, method)-2, 0)
}

func (a *apiDraft) refuse(method string, op apiNode) string {
	switch {
	case op.get("deprecated").truth():
		return "operations that are deprecated"
	case slices.Contains(writes, method) && !a.o.Writes:
		return method + " operations; --writes takes them"
	case method == "OPTIONS":
		return "OPTIONS operations"
	}
	return ""
}

func (a *apiDraft) group(path string, op apiNode) string {
	if tags := op.get("tags").items(); !a.o.ByPath && len(tags) > 0 && printable(tags[0].text()) != "" {
		return printable(tags[0].text())
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return "/" + printable(first)
}

// step of an operation.
func (a *apiDraft) step(path, method string, item, op apiNode) (step, []pair, error) {
	base, err := a.basePath(item, op)
	if err != nil {
		return step{}, nil, err
	}
	id := op.get("operationId")
	if a.ids[id.text()] && id.text() != "" {
		a.files.problem(id, fmt.Sprintf("the operationId %s is used twice", what(id)))
	}
	a.ids[id.text()] = true
	bare, fixed, _ := strings.Cut(path, "?")
	st := step{route: method + " " + base + templateRoute(bare), name: printable(cmp.Or(id.text(), method+" "+path))}
	p := &parameters{api: a, label: method + " " + path, pool: pool{order: "random"}}
	p.name = a.names.unique(cmp.Or(id.text(), method+" "+path))
	if sendable(bare) != bare || strings.Contains(path, "$") {
		return st, nil, errors.New("its path cannot be sent")
	}
	var query []string
	if fixed != "" {
		query = append(query, literal(fixed))
	}
	params := a.merged(item, op)
	target := base + a.fill(p, bare, params)
	names := map[string]bool{}
	for _, m := range placeholder.FindAllStringSubmatch(bare, -1) {
		name, _, _ := strings.Cut(m[1], ":")
		names[name] = true
	}
	for i := range params {
		if params[i].in == "path" && !names[params[i].name] {
			a.files.problem(params[i].at, fmt.Sprintf("the parameter %s is in the path, but %s does not name it; it is left out", shortText(params[i].name, 40), shortText(path, 60)))
		}
		a.place(&st, p, &params[i], &query)
	}
	a.secure(&st, op, &query)
	if a.swagger && a.multipartForm(op) && len(st.form) > 0 {
		for _, f := range st.form {
			st.multipart = append(st.multipart, part{name: f.key, text: f.value})
		}
		st.form = nil
	}
	if err := a.requestBody(&st, method, path, item, op); err != nil {
		return st, nil, err
	}
	if len(query) > 0 {
		target += "?" + strings.Join(query, "&")
	}
	if sendable(target) != target {
		return st, nil, errors.New("its path with these values cannot be sent")
	}
	st.request = method + " " + target
	a.answers(&st, method, op)
	return st, p.finish(), nil
}

var placeholder = regexp.MustCompile(`\{([^{}]*)\}`)

// fill puts values into a path's templates. What no parameter describes is
// made up and told.
func (a *apiDraft) fill(p *parameters, path string, params []apiParam) string {
	return placeholder.ReplaceAllStringFunc(path, func(text string) string {
		name, _, _ := strings.Cut(text[1:len(text)-1], ":") // {id:[0-9]+} of some frameworks
		for i := range params {
			if params[i].in == "path" && params[i].name == name {
				return p.text(&params[i], url.PathEscape)
			}
		}
		a.madeUp[name+" of "+p.label+", which is not described"] = true
		if low := strings.ToLower(name); strings.HasSuffix(low, "id") || strings.HasSuffix(low, "number") || low == "n" || low == "page" {
			return "1"
		}
		return "text"
	})
}

// place puts a parameter outside of the path where it belongs. Optional ones
// without a value of the document are left out.
func (a *apiDraft) place(st *step, p *parameters, param *apiParam, query *[]string) {
	if !param.required && param.in != "formData" && !param.hasExample() {
		a.optional[printable(param.name+" of "+p.label)] = true
		return
	}
	switch param.in {
	case "query":
		if text := p.text(param, queryEscape); text != "" {
			*query = append(*query, text)
		}
	case "querystring":
		*query = append(*query, literal(param.wholeQuery(p.values(param)[0])))
	case "header":
		ignored := slices.Contains([]string{"accept", "content-type", "authorization"}, strings.ToLower(param.name))
		if ignored || !param.required { // OpenAPI 3: a parameter of these names is ignored
			return
		}
		if v := p.text(param, func(s string) string { return s }); plainKey.MatchString(param.name) && isLine(v) {
			st.headers = append(st.headers, pair{param.name, v})
		}
	case "cookie":
		if param.required {
			st.comment = append(st.comment, "Needs the cookie "+printable(param.name)+": add a step whose answer sets it, or a Cookie header.")
			a.security["Some operations need the cookie "+printable(param.name)+": add a step whose answer sets it."] = true
		}
	case "formData":
		a.formData(st, p, param)
	}
}

// templateRoute writes /items/{id} as /items/:id.
func templateRoute(path string) string {
	return placeholder.ReplaceAllStringFunc(path, func(text string) string {
		name, _, _ := strings.Cut(text[1:len(text)-1], ":")
		return ":" + name
	})
}
