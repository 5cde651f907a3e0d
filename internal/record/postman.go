package record

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	// maxCollection in bytes.
	maxCollection = 64 << 20
	// maxFolders within each other.
	maxFolders = 50
)

var postmanVariable = regexp.MustCompile(`\{\{([^{}\n]+)\}\}`)

// postmanMade are values for Postman's dynamic variables (Postman's
// documentation, "Dynamic variables"), the same in each request.
var postmanMade = map[string]string{"$guid": "3fa85f64-5717-4562-b3fc-2c963f66afa6", "$randomUUID": "3fa85f64-5717-4562-b3fc-2c963f66afa6", "$timestamp": "1715940000",
	"$isoTimestamp": "2024-05-17T10:00:00.000Z", "$randomInt": "42", "$randomFirstName": "Ada", "$randomLastName": "Byron", "$randomFullName": "Ada Byron",
	"$randomEmail": "ada@example.com", "$randomUserName": "ada", "$randomBoolean": "true", "$randomAlphaNumeric": "a", "$randomWord": "word", "$randomCity": "Paris"}

// postman reads a collection.
type postman struct {
	*client
	vars variables
}

// FromPostman makes a scenario of a Postman collection, v2.0 or v2.1: a
// session of each top folder.
func FromPostman(r io.Reader, o ClientOptions) (*Draft, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxCollection+1))
	if err != nil {
		return nil, fmt.Errorf("read Postman collection: %w", err)
	}
	if start := bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))); len(start) == 0 || start[0] != '{' {
		return nil, errors.New("read Postman collection: it is no JSON; export the collection as v2.1")
	}
	file, err := readAPI(data, "")
	if err != nil {
		return nil, fmt.Errorf("read Postman collection: %w", errors.Unwrap(err))
	}
	root := apiNode{file.root, file}
	if c := root.find("collection"); c.ok() && !root.find("item").ok() { // as the API gives it
		root = c
	}
	if !root.find("item").ok() {
		return nil, errors.New(`read Postman collection: it has no "item"; ` + postmanHint(root))
	}
	p := &postman{client: newClient("Postman collection", &o)}
	p.vars = variables{pattern: postmanVariable, values: map[string]string{}, made: postmanMade, long: p.longText, unknown: func(name string, line int) {
		p.leave(line, "the variable %s has no value; fill it in where %s stands", shortText(name, 60), fillIn)
	}}
	p.variables(root)
	p.events(root, "the collection")
	p.items(root, "", root.find("auth"), 0)
	if o.Name == "" {
		o.Name = root.find("info").find("name").text()
	}
	return p.draft(o)
}

func postmanHint(root apiNode) string {
	switch {
	case root.find("values").ok():
		return "it is an environment: export the collection"
	case root.find("requests").ok():
		return "it is a collection v1: export it as v2.1"
	}
	return "export the collection as v2.1"
}

// variables of the collection or of a folder; disabled ones have no value. undo
// gives those of the same names their values back.
func (p *postman) variables(at apiNode) (undo func()) {
	outer := map[string]*string{}
	for _, v := range at.find("variable").items() {
		name := cmp.Or(v.find("key").text(), v.find("id").text())
		if name == "" || v.find("disabled").truth() {
			continue
		}
		if _, noted := outer[name]; !noted {
			outer[name] = nil
			if value, known := p.vars.values[name]; known {
				outer[name] = &value
			}
		}
		p.vars.values[name] = p.variable(name, v.find("value").text(), v.find("type").text() == "secret")
	}
	return func() {
		for name, value := range outer {
			if delete(p.vars.values, name); value != nil {
				p.vars.values[name] = *value
			}
		}
	}
}

// events are scripts, which are not run.
func (p *postman) events(at apiNode, of string) {
	for _, e := range at.find("event").items() {
		script := e.find("script").find("exec")
		text := script.text()
		for _, line := range script.items() {
			text += line.text()
		}
		if strings.TrimSpace(text) != "" {
			p.leave(e.line(), "a %s script of %s: scripts are not run", shortText(e.find("listen").text(), 20), of)
		}
	}
}

func (p *postman) items(at apiNode, group string, auth apiNode, depth int) {
	if depth > maxFolders {
		p.leave(at.line(), "folders within more than %d others", maxFolders)
		return
	}
	for _, item := range at.find("item").items() {
		name := item.find("name").text()
		own := item.find("auth")
		if !own.ok() {
			own = auth
		}
		if item.find("item").ok() { // a folder
			undo := p.variables(item)
			p.events(item, "the folder "+name)
			p.items(item, cmp.Or(group, name), own, depth+1)
			undo()
			continue
		}
		if item.find("request").ok() {
			p.events(item, name)
			p.request(item, cmp.Or(name, "request"), group, own)
		} else {
			p.leave(item.line(), "%s has no request", cmp.Or(name, "an item"))
		}
	}
}

func (p *postman) request(item apiNode, name, group string, auth apiNode) {
	at := item.find("request")
	q := clientRequest{group: group, name: name, line: item.line(), method: "GET"}
	if at.kind() == yaml.ScalarNode { // only an address
		q.url = p.vars.address(at.text(), at.line())
		p.auth(&q, auth)
		p.add(q)
		return
	}
	q.method = strings.ToUpper(cmp.Or(at.find("method").text(), "GET"))
	q.url = p.url(at.find("url"))
	if q.url == "" {
		p.leave(q.line, "%s has no address", name)
		return
	}
	for _, h := range p.fields(at.find("header")) {
		q.headers = append(q.headers, harHeader{Name: h.key, Value: h.value})
	}
	if own := at.find("auth"); own.ok() && !own.is("!!null") {
		auth = own
	}
	p.auth(&q, auth)
	p.body(&q, at.find("body"))
	for _, answer := range item.find("response").items() {
		if code, ok := answer.find("code").whole(); ok && code >= 200 && code < 400 && !slices.Contains(q.status, code) {
			q.status = append(q.status, code)
		}
	}
	p.add(q)
}

// url of a request: a text, or its parts.
func (p *postman) url(at apiNode) string {
	raw := at.text()
	if at.kind() == yaml.MappingNode {
		if raw = at.find("raw").text(); raw == "" {
			raw = strings.Join(texts(at.find("host").items()), ".") + "/" + strings.Join(texts(at.find("path").items()), "/")
			if protocol := at.find("protocol").text(); protocol != "" {
				raw = protocol + "://" + raw
			}
		}
		base, _, _ := strings.Cut(raw, "?")
		var query []string
		list := at.find("query")
		if list.ok() { // raw may hold parameters that are disabled
			for _, f := range p.fields(list) {
				query = append(query, postmanQuery(f))
			}
			raw = base
			if len(query) > 0 {
				raw += "?" + strings.Join(query, "&")
			}
		}
		raw = p.pathVariables(raw, at.find("variable").items())
	}
	if strings.TrimSpace(raw) == "" {
		return ""
	}
	return p.vars.address(raw, at.line())
}

// pathVariables puts the values of /users/:id into an address.
func (p *postman) pathVariables(raw string, list []apiNode) string {
	values := map[string]string{}
	for _, v := range list {
		name := cmp.Or(v.find("key").text(), v.find("id").text())
		value := p.variable(name, p.vars.fill(v.find("value").text(), v.line()), false)
		if value == "" {
			p.leave(v.line(), "the path variable :%s has no value; 1 is sent", shortText(name, 40))
			value = "1"
		}
		values[name] = value
	}
	base, query, asks := strings.Cut(raw, "?")
	parts := strings.Split(base, "/")
	for i, part := range parts {
		if name, ok := strings.CutPrefix(part, ":"); ok && i > 0 {
			if value, known := values[name]; known {
				parts[i] = value
			}
		}
	}
	if raw = strings.Join(parts, "/"); asks {
		raw += "?" + query
	}
	return raw
}

// fields are a list of keys and values without the disabled ones, or the text
// of headers that v2.0 allows.
func (p *postman) fields(at apiNode) []pair {
	var out []pair
	if at.kind() == yaml.ScalarNode {
		for line := range strings.Lines(at.text()) {
			if k, v, ok := strings.Cut(line, ":"); ok {
				out = append(out, pair{strings.TrimSpace(k), p.vars.fill(strings.TrimSpace(v), at.line())})
			}
		}
		return out
	}
	for _, f := range at.items() {
		if key := f.find("key").text(); key != "" && !f.find("disabled").truth() {
			out = append(out, pair{p.vars.fill(key, f.line()), p.vars.fill(f.find("value").text(), f.line())})
		}
	}
	return out
}

// auth notes the scheme; its secrets are not taken.
func (p *postman) auth(q *clientRequest, at apiNode) {
	switch kind := at.find("type").text(); kind {
	case "", "noauth":
	case "basic":
		q.auth = basicAuth
	case "bearer", "oauth2", "jwt":
		q.auth = bearerAuth
	case "apikey":
		values := map[string]string{}
		for _, f := range at.find("apikey").items() {
			values[f.find("key").text()] = f.find("value").text()
		}
		for _, m := range at.find("apikey").own() { // v2.0
			values[m.key] = m.value.text()
		}
		name := p.vars.fill(values["key"], at.line())
		p.note("Fill in %s wherever %s stands.", name, fillIn)
		if values["in"] == "query" {
			between := "?"
			if strings.Contains(q.url, "?") {
				between = "&"
			}
			q.url += between + queryEscape(name) + "=" + fillIn
			return
		}
		q.headers = append(q.headers, harHeader{Name: name, Value: fillIn})
	default:
		p.leave(at.line(), "authorization of the kind %s signs each request, which load does not do", shortText(kind, 40))
	}
}

func (p *postman) body(q *clientRequest, at apiNode) {
	if at.find("disabled").truth() {
		return
	}
	switch mode := at.find("mode").text(); mode {
	case "", "none":
	case "raw":
		text := p.vars.fill(at.find("raw").text(), at.line())
		if text == "" {
			return
		}
		kinds := map[string]string{"json": "application/json", "xml": "application/xml", "html": "text/html", "javascript": "application/javascript", "text": "text/plain"}
		kind := cmp.Or(q.contentType(), kinds[at.find("options").find("raw").find("language").text()])
		if kind == "" && strings.HasPrefix(strings.TrimSpace(text), "{") {
			kind = "application/json"
		}
		q.post = &harPost{Type: cmp.Or(kind, "text/plain"), Text: text}
	case "urlencoded":
		q.post = &harPost{Type: "application/x-www-form-urlencoded", Text: encodeForm(p.fields(at.find("urlencoded")))}
	case "formdata":
		p.formData(q, at.find("formdata"))
	case "graphql":
		g := at.find("graphql")
		variables := p.vars.fill(g.find("variables").text(), g.line())
		body := jsonText(map[string]any{"query": p.vars.fill(g.find("query").text(), g.line())})
		if strings.HasPrefix(strings.TrimSpace(variables), "{") {
			body = strings.TrimSuffix(body, "}") + `,"variables":` + variables + "}"
		}
		q.post = &harPost{Type: "application/json", Text: body}
	default:
		p.leave(at.line(), "a body of the kind %s: fill it in", shortText(mode, 40))
		q.comment = append(q.comment, "Fill in the body.")
	}
	p.leaveBody(q, at.line())
}

func (p *postman) formData(q *clientRequest, list apiNode) {
	for _, f := range list.items() {
		name := f.find("key").text()
		if name == "" || f.find("disabled").truth() {
			continue
		}
		one := part{name: p.vars.fill(name, f.line()), text: p.vars.fill(f.find("value").text(), f.line()), typ: f.find("contentType").text()}
		if f.find("type").text() == "file" {
			one.text, one.file = "file", "file.bin"
			p.leave(f.line(), "the file of the field %s: a few bytes are sent instead", shortText(name, 40))
		}
		q.parts = append(q.parts, one)
	}
}
