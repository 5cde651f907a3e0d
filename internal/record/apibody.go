package record

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// body of an operation's request.
type apiBody struct {
	kind     string  // media type
	schema   apiNode // of the whole body
	media    apiNode // its entry under content; not there in Swagger 2
	required bool
}

// readBody finds the operation's body; false if it has none.
func (a *apiDraft) readBody(item, op apiNode) (apiBody, bool) {
	if a.swagger {
		return a.swaggerBody(item, op)
	}
	body := op.get("requestBody").resolved()
	content := body.get("content").members()
	if len(content) == 0 {
		if body.ok() {
			a.files.problem(body, "a requestBody without content is left out")
		}
		return apiBody{}, false
	}
	slices.SortStableFunc(content, func(x, y member) int { return byBodyKind(x.key, y.key) })
	m := content[0]
	return apiBody{m.key, m.value.get("schema"), m.value, body.get("required").truth()}, true
}

// swaggerBody is the parameter in body, or those in formData as one schema.
func (a *apiDraft) swaggerBody(item, op apiNode) (apiBody, bool) {
	kind := "application/json"
	if list := a.consumes(op); len(list) > 0 {
		kind = slices.SortedFunc(slices.Values(list), byBodyKind)[0]
	}
	for _, at := range append(op.get("parameters").items(), item.get("parameters").items()...) {
		if at.get("in").text() == "body" {
			return apiBody{kind: kind, schema: at.get("schema"), required: at.get("required").truth()}, true
		}
	}
	return apiBody{}, false
}

// consumes are the media types of an operation's body in Swagger 2.
func (a *apiDraft) consumes(op apiNode) []string {
	for _, at := range []apiNode{op, a.root} {
		if list := at.get("consumes").items(); len(list) > 0 {
			return texts(list)
		}
	}
	return nil
}

// multipartForm: the fields in formData are sent as multipart, because
// url-encoded is not taken.
func (a *apiDraft) multipartForm(op apiNode) bool {
	kinds := map[string]bool{}
	for _, kind := range a.consumes(op) {
		kinds[bodyKind(kind)] = true
	}
	return kinds["multipart"] && !kinds["form"]
}

func texts(list []apiNode) []string {
	var out []string
	for _, n := range list {
		out = append(out, n.text())
	}
	return out
}

// bodyKind: how a media type is written into a scenario.
func bodyKind(kind string) string {
	switch base := baseType(kind); {
	case strings.HasSuffix(base, "json") || base == "*/*" || base == "application/*":
		return "json"
	case base == "application/x-www-form-urlencoded":
		return "form"
	case base == "multipart/form-data":
		return "multipart"
	case strings.HasPrefix(base, "text/") || strings.HasSuffix(base, "xml"):
		return "text"
	}
	return ""
}

// byBodyKind: JSON before forms before texts before the rest.
func byBodyKind(x, y string) int {
	order := []string{"json", "form", "multipart", "text", ""}
	rank := func(kind string) int {
		if baseType(kind) == "application/json" {
			return -1
		}
		return slices.Index(order, bodyKind(kind))
	}
	return cmp.Or(cmp.Compare(rank(x), rank(y)), strings.Compare(x, y))
}

// requestBody writes the body's example, or one made of the schema.
func (a *apiDraft) requestBody(st *step, method, path string, item, op apiNode) error {
	b, ok := a.readBody(item, op)
	if !ok {
		return nil
	}
	if method == "GET" || method == "HEAD" {
		a.files.problem(op.get("requestBody"), method+" "+path+" has a body, which load does not send; it is left out")
		return nil
	}
	v, given := b.example()
	if !given {
		a.madeUp["the body of "+method+" "+path] = true
	}
	v = a.sent("", v, schemaOf(b.schema), 0)
	base := baseType(b.kind)
	if text, ok := v.(string); ok && bodyKind(b.kind) == "form" {
		if fields, ok := formText(text); ok {
			v = a.sent("", fields, schemaOf(b.schema), 0)
		}
	}
	if !a.writeBody(st, &b, base, v, given) {
		st.comment = append(st.comment, "Fill in the body ("+b.kind+").")
		a.hints["a body of "+shortText(b.kind, 60)+" cannot be made up; fill it in"]++
	}
	return nil
}

// writeBody puts the value into the step as its kind is written; false if it
// has to be filled in.
func (a *apiDraft) writeBody(st *step, b *apiBody, base string, v any, given bool) bool {
	fields, object := v.(map[string]any)
	switch bodyKind(b.kind) {
	case "json":
		a.jsonBody(st, base, v, given || schemaOf(b.schema).onlyNull)
	case "form":
		st.form = b.fields(fields)
		return object
	case "multipart":
		if len(fields) == 0 {
			return false
		}
		st.multipart = b.parts(fields)
	case "text":
		text, ok := v.(string)
		if !ok || !given && base != "text/plain" {
			return false
		}
		st.body = literal(a.sentText(text))
		st.headers = append(st.headers, pair{"Content-Type", literal(base)})
	default:
		return false
	}
	return true
}

func (a *apiDraft) jsonBody(st *step, base string, v any, known bool) {
	if strings.Contains(base, "*") || !isLine(base) {
		base = "application/json"
	}
	if v == nil && known { // json: null would be no body
		st.body = "null"
		st.headers = append(st.headers, pair{"Content-Type", literal(base)})
		return
	}
	if v == nil {
		v = map[string]any{}
	}
	st.json = flow(v, 0)
	if base != "application/json" {
		st.headers = append(st.headers, pair{"Content-Type", literal(base)})
	}
}

// example of the body: the document's, else made up of its schema.
func (b *apiBody) example() (v any, given bool) {
	known := append([]apiNode{b.media.get("example")}, namedExamples(b.media.get("examples"))...)
	s := schemaOf(b.schema)
	for _, at := range known {
		if !at.ok() {
			continue
		}
		if v, ok := b.written(at, s); ok {
			return v, true
		}
		if v, ok := s.fit(at); ok || len(s.types) == 0 {
			return v, true
		}
		s.problem(at, "the example %s of a body is no %s; it is left out", what(at), strings.Join(s.types, " or "))
	}
	return sample(b.schema)
}

// written is an example that stands as the text that is sent: XML and forms
// whatever their schema, and JSON of an object or a list.
func (b *apiBody) written(at apiNode, s *schema) (any, bool) {
	if at.kind() != yaml.ScalarNode || s.is("string") {
		return nil, false
	}
	text, ok := at.value().(string)
	if !ok {
		return nil, false
	}
	switch bodyKind(b.kind) {
	case "text":
		return text, true
	case "form":
		return formText(text)
	case "json":
		return jsonExample(text)
	}
	return nil, false
}

// jsonExample reads a text that is an object or a list in JSON.
func jsonExample(text string) (any, bool) {
	if text = strings.TrimSpace(text); !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") || !json.Valid([]byte(text)) {
		return nil, false
	}
	var root yaml.Node
	if err := yaml.Unmarshal([]byte(text), &root); err != nil || len(root.Content) != 1 {
		return nil, false
	}
	return apiNode{root.Content[0], nil}.value(), true
}

// fields of a form: a list repeats its field, an object is JSON, or name[key]
// where the encoding says deepObject.
func (b *apiBody) fields(v map[string]any) []pair {
	var out []pair
	for _, name := range sortedNames(v) {
		encoding := b.media.get("encoding").get(name)
		exploded := !encoding.get("explode").ok() || encoding.get("explode").truth()
		switch field := v[name].(type) {
		case []any:
			if !exploded {
				out = append(out, pair{name, literal(flat(field))})
				continue
			}
			for _, e := range field {
				out = append(out, pair{name, literal(flat(e))})
			}
		case map[string]any:
			if encoding.get("style").text() != "deepObject" {
				out = append(out, pair{name, literal(flat(field))})
				continue
			}
			for _, k := range sortedNames(field) {
				out = append(out, pair{name + "[" + k + "]", literal(flat(field[k]))})
			}
		default:
			out = append(out, pair{name, literal(flat(field))})
		}
	}
	return out
}

// parts of a multipart form: binary properties are files.
func (b *apiBody) parts(v map[string]any) []part {
	var out []part
	s := schemaOf(b.schema)
	for _, name := range sortedNames(v) {
		field := schemaOf(property(s, name))
		values := []any{v[name]}
		if list, ok := v[name].([]any); ok { // each element is a part (OpenAPI 3.1, "Special Considerations for multipart Content")
			values = list
			if field.array() {
				field = schemaOf(field.items)
			}
		}
		for _, value := range values {
			out = append(out, b.part(name, value, field))
		}
	}
	return out
}

func (b *apiBody) part(name string, v any, field *schema) part {
	p := part{name: name, text: literal(flat(v)), typ: b.media.get("encoding").get(name).get("contentType").text()}
	if _, object := v.(map[string]any); object && p.typ == "" {
		p.typ = "application/json"
	}
	if field.binary {
		p.file, p.text = "file.bin", literal("file")
		p.typ = cmp.Or(p.typ, field.at.get("contentMediaType").text(), "application/octet-stream")
	}
	if p.typ, _, _ = strings.Cut(p.typ, ","); !isLine(p.typ) || strings.Contains(p.typ, "*") {
		p.typ = ""
	}
	return p
}

// flow writes a value as YAML flow that means the same JSON.
func flow(v any, depth int) string {
	if depth > maxJSONDepth {
		return "null"
	}
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return double(literal(v))
	case exact:
		return string(v)
	case []any:
		var parts []string
		for _, e := range v {
			parts = append(parts, flow(e, depth+1))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		var parts []string
		for _, k := range sortedNames(v) {
			if k != "" {
				parts = append(parts, double(k)+": "+flow(v[k], depth+1))
			}
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case bool:
		return strconv.FormatBool(v)
	case float64:
		text := flat(v)
		if strings.Contains(text, "e") && !strings.Contains(text, ".") {
			text = strings.Replace(text, "e", ".0e", 1)
		}
		return text
	}
	return double(literal(fmt.Sprint(v)))
}

// formData is a field of Swagger 2's form.
func (a *apiDraft) formData(st *step, p *parameters, param *apiParam) {
	v := p.values(param)[0]
	if param.schema.binary {
		for _, f := range st.form {
			st.multipart = append(st.multipart, part{name: f.key, text: f.value})
		}
		st.form = nil
		st.multipart = append(st.multipart, part{name: param.name, text: "file", file: "file.bin", typ: "application/octet-stream"})
		return
	}
	fields := (&apiBody{}).fields(map[string]any{param.name: v})
	if list, ok := v.([]any); ok && !param.explode {
		fields = []pair{{param.name, literal(flat(list))}}
	}
	if st.multipart == nil {
		st.form = append(st.form, fields...)
		return
	}
	for _, f := range fields {
		st.multipart = append(st.multipart, part{name: f.key, text: f.value})
	}
}
