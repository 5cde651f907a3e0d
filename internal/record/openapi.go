package record

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// OpenAPIOptions say how an OpenAPI file becomes a scenario.
type OpenAPIOptions struct {
	Name, Source string
	// ByPath makes a session of each first path segment instead of each tag.
	ByPath bool
	Writes bool // POST, PUT, PATCH and DELETE too
	// Dir is where files that the document refers to are; "": such references
	// are errors.
	Dir string
}

// fillIn stands where a person must write a value.
const fillIn = "FILL-IN"

// maxOpenAPI in bytes; the largest public ones have some ten megabytes.
const maxOpenAPI = 64 << 20

// apiDraft makes sessions of an OpenAPI document.
type apiDraft struct {
	o        *OpenAPIOptions
	doc      *openapi3.T
	base     string // path of the server
	out      scenario
	names    names
	left     map[string]int64
	madeUp   map[string]bool // parameters without example
	security map[string]bool
	taken    int64
	routes   []Share
}

// FromOpenAPI makes a scenario of an OpenAPI 3 document: each operation once,
// with the values of its examples.
func FromOpenAPI(data []byte, o OpenAPIOptions) (*Draft, error) {
	doc, err := loadOpenAPI(data, &o)
	if err != nil {
		return nil, err
	}
	title := ""
	if doc.Info != nil {
		title = doc.Info.Title
	}
	o.Name, o.Source = cmp.Or(o.Name, title, "api"), cmp.Or(o.Source, "an OpenAPI file")
	a := &apiDraft{o: &o, doc: doc, names: names{}, left: map[string]int64{}, madeUp: map[string]bool{}, security: map[string]bool{}}
	a.base = serverPath(doc.Servers)
	a.sessions()
	if a.taken == 0 {
		return nil, fmt.Errorf("read OpenAPI: %w: %s", ErrNothing, cmp.Or(strings.Join((&journal{left: a.left}).leftOut(), "; "), "it has no paths"))
	}
	for i := range a.routes {
		a.routes[i].Drafted = 1 / float64(a.taken)
	}
	d := &Draft{Requests: a.taken, Coverage: 1, Routes: a.routes, LeftOut: (&journal{left: a.left}).leftOut()}
	d.Taken = []string{fmt.Sprintf("%d operations of %s in %d sessions", a.taken, cmp.Or(title, o.Source), len(a.out.sessions))}
	d.Notes = a.notes()
	a.out.name = o.Name
	a.out.comment = comments("Made from "+o.Source+".", d)
	return d, d.render(&a.out)
}

// loadOpenAPI parses the document. The library is foreign code on foreign
// input: a panic in it becomes an error about the file.
func loadOpenAPI(data []byte, o *OpenAPIOptions) (doc *openapi3.T, err error) {
	defer func() {
		if r := recover(); r != nil {
			doc, err = nil, fmt.Errorf("read OpenAPI: it cannot be read (%v)", r)
		}
	}()
	if len(data) > maxOpenAPI {
		return nil, fmt.Errorf("read OpenAPI: larger than %d MiB", maxOpenAPI>>20)
	}
	loader := openapi3.NewLoader()
	location := &url.URL{Path: "openapi.yaml"}
	if o.Dir != "" {
		loader.IsExternalRefsAllowed = true
		location.Path = filepath.ToSlash(filepath.Join(o.Dir, "openapi.yaml"))
		loader.ReadFromURIFunc = func(_ *openapi3.Loader, u *url.URL) ([]byte, error) { return readBeside(o.Dir, u) }
	}
	doc, err = loader.LoadFromDataWithPath(data, location)
	if err != nil {
		return nil, fmt.Errorf("read OpenAPI: %w; check it with the tool that made it", err)
	}
	if !strings.HasPrefix(doc.OpenAPI, "3.") {
		return nil, fmt.Errorf("read OpenAPI: its version is %q; convert it to OpenAPI 3", doc.OpenAPI)
	}
	return doc, nil
}

// readBeside reads a referred file within the document's folder; nothing else
// of the machine, and nothing from the network.
func readBeside(dir string, u *url.URL) ([]byte, error) {
	if u.Scheme != "" && u.Scheme != "file" || u.Host != "" {
		return nil, fmt.Errorf("%s is not fetched: save it beside the document", u)
	}
	rel, err := filepath.Rel(dir, filepath.FromSlash(u.Path))
	if err != nil || !filepath.IsLocal(rel) {
		return nil, fmt.Errorf("%s is outside the document's folder", u.Path)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.ReadFile(rel)
}

// serverPath is the path that stands before those of the document.
func serverPath(servers openapi3.Servers) string {
	if len(servers) == 0 || servers[0] == nil {
		return ""
	}
	text := servers[0].URL
	for name, v := range servers[0].Variables {
		if v != nil {
			text = strings.ReplaceAll(text, "{"+name+"}", v.Default)
		}
	}
	u, err := url.Parse(text)
	if err != nil || !strings.HasPrefix(u.Path, "/") {
		return ""
	}
	return strings.TrimSuffix(sendable(u.EscapedPath()), "/")
}

func (a *apiDraft) notes() []string {
	var out []string
	if len(a.madeUp) > 0 {
		out = append(out, "Values without an example are made up: "+strings.Join(slices.Sorted(maps.Keys(a.madeUp)), ", ")+". Put values that exist into the pools.")
	}
	out = append(out, slices.Sorted(maps.Keys(a.security))...)
	if a.o.Writes {
		out = append(out, "Operations that write are in: run it on a copy, or set load.reset.")
	}
	return out
}

// order of methods in a session: what reads comes first.
var order = []string{"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"}

// sessions groups the operations, in the order of paths.
func (a *apiDraft) sessions() {
	at := map[string]int{}
	for _, path := range slices.Sorted(maps.Keys(a.doc.Paths.Map())) {
		item := a.doc.Paths.Value(path)
		if item == nil {
			continue
		}
		ops := item.Operations()
		for _, method := range order {
			op := ops[method]
			if op == nil {
				continue
			}
			if why := a.refuse(method, op); why != "" {
				a.left[why]++
				continue
			}
			st, draw, err := a.step(path, method, item, op)
			if err != nil {
				a.left[fmt.Sprintf("%s %s: %v", method, path, err)]++
				continue
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
	}
	for i := range a.out.sessions { // what writes comes last, deletions at the end
		slices.SortStableFunc(a.out.sessions[i].steps, func(x, y step) int {
			return cmp.Compare(writeRank(x.request), writeRank(y.request))
		})
	}
}

func writeRank(request string) int {
	method, _, _ := strings.Cut(request, " ")
	return max(slices.Index(order, method)-2, 0)
}

func (a *apiDraft) refuse(method string, op *openapi3.Operation) string {
	switch {
	case op.Deprecated:
		return "operations that are deprecated"
	case slices.Contains(writes, method) && !a.o.Writes:
		return method + " operations; --writes takes them"
	case method == "OPTIONS":
		return "OPTIONS operations"
	}
	return ""
}

func (a *apiDraft) group(path string, op *openapi3.Operation) string {
	if !a.o.ByPath && len(op.Tags) > 0 && op.Tags[0] != "" {
		return op.Tags[0]
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return "/" + first
}

// step of an operation.
func (a *apiDraft) step(path, method string, item *openapi3.PathItem, op *openapi3.Operation) (step, []pair, error) {
	st := step{route: method + " " + a.base + templateRoute(path), name: stepName(op, method, path)}
	p := &parameters{api: a, label: method + " " + path, pool: pool{order: "random"}}
	p.name = a.names.unique(cmp.Or(op.OperationID, method+" "+path))
	target, query := a.base+path, []string{}
	if path == "" || sendable(path) != path || strings.Contains(path, "$") {
		return st, nil, errors.New("the path cannot be sent")
	}
	for _, param := range merged(item.Parameters, op.Parameters) {
		switch param.In {
		case openapi3.ParameterInPath:
			v := p.value(param, url.PathEscape)
			target = strings.ReplaceAll(target, "{"+param.Name+"}", v)
		case openapi3.ParameterInQuery:
			if param.Required || len(paramExamples(param)) > 0 {
				query = append(query, url.QueryEscape(param.Name)+"="+p.value(param, url.QueryEscape))
			}
		case openapi3.ParameterInHeader:
			if v := p.value(param, func(s string) string { return s }); param.Required && plainKey.MatchString(param.Name) && isLine(v) {
				st.headers = append(st.headers, pair{param.Name, v})
			}
		case openapi3.ParameterInCookie:
			if param.Required {
				st.comment = append(st.comment, "Needs the cookie "+param.Name+": add a step whose answer sets it, or a Cookie header.")
			}
		}
	}
	if strings.ContainsAny(strings.ReplaceAll(target, "${", ""), "{") {
		return st, nil, errors.New("a parameter in its path is not described")
	}
	a.secure(&st, op, &query)
	if err := a.requestBody(&st, method, op); err != nil {
		return st, nil, err
	}
	if len(query) > 0 {
		target += "?" + strings.Join(query, "&")
	}
	st.request = method + " " + target
	a.answers(&st, op)
	return st, p.finish(), nil
}

func stepName(op *openapi3.Operation, method, path string) string {
	return printable(cmp.Or(op.OperationID, method+" "+path))
}

// templateRoute writes /items/{id} as /items/:id.
func templateRoute(path string) string {
	return strings.NewReplacer("{", ":", "}", "").Replace(path)
}

// merged parameters: an operation's own come before those of its path.
func merged(item, own openapi3.Parameters) []*openapi3.Parameter {
	var out []*openapi3.Parameter
	for _, ref := range append(slices.Clone(own), item...) {
		if ref == nil || ref.Value == nil || slices.ContainsFunc(out, func(p *openapi3.Parameter) bool { return p.Name == ref.Value.Name && p.In == ref.Value.In }) {
			continue
		}
		out = append(out, ref.Value)
	}
	return out
}

// secure writes placeholders for what the operation's first alternative needs.
func (a *apiDraft) secure(st *step, op *openapi3.Operation, query *[]string) {
	needs := a.doc.Security
	if op.Security != nil {
		needs = *op.Security
	}
	if len(needs) == 0 || a.doc.Components == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(needs[0])) {
		ref := a.doc.Components.SecuritySchemes[name]
		if ref == nil || ref.Value == nil {
			continue
		}
		s := ref.Value
		header, value := "Authorization", "Bearer "+fillIn
		switch {
		case s.Type == "http" && strings.EqualFold(s.Scheme, "basic"):
			value = "Basic " + fillIn
			a.security["Fill in Authorization (basic): the Base64 of user:password, wherever "+fillIn+" stands."] = true
		case s.Type == "apiKey" && s.In == "query":
			*query = append(*query, url.QueryEscape(s.Name)+"="+fillIn)
			a.security["Fill in the query parameter "+s.Name+" wherever "+fillIn+" stands."] = true
			continue
		case s.Type == "apiKey" && s.In == "cookie":
			header, value = "Cookie", s.Name+"="+fillIn
			a.security["Fill in the cookie "+s.Name+" wherever "+fillIn+" stands, or add a login step and remove the header."] = true
		case s.Type == "apiKey":
			header, value = s.Name, fillIn
			a.security["Fill in the header "+s.Name+" wherever "+fillIn+" stands."] = true
		default:
			a.security["Fill in the bearer token ("+name+") wherever "+fillIn+" stands, or extract it in a setup step: setup: with extract: {token: {json: $.access_token}}, then \"Bearer ${token}\"."] = true
		}
		if plainKey.MatchString(header) && isLine(value) {
			st.headers = append(st.headers, pair{header, literal(value)})
			st.comment = append(st.comment, "Fill in "+header+".")
		}
	}
}

// answers sets what is expected: the documented 2xx and 3xx, and the type.
func (a *apiDraft) answers(st *step, op *openapi3.Operation) {
	types := map[string]bool{}
	empty := false
	for _, code := range slices.Sorted(maps.Keys(op.Responses.Map())) {
		status := 0
		if _, err := fmt.Sscanf(code, "%d", &status); err != nil || len(code) != 3 || status < 200 || status > 399 {
			continue
		}
		st.status = append(st.status, status)
		ref := op.Responses.Value(code)
		if ref == nil || ref.Value == nil || len(ref.Value.Content) == 0 {
			empty = true
			continue
		}
		for t := range ref.Value.Content {
			types[baseType(t)] = true
		}
	}
	if len(types) == 1 && !empty && !strings.HasPrefix(st.request, "HEAD ") {
		for t := range types {
			if !strings.Contains(t, "*") && isLine(t) {
				st.typ = literal(t)
			}
		}
	}
}
