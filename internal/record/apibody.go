package record

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
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
	for _, at := range []apiNode{op, a.root} {
		if list := at.get("consumes").items(); len(list) > 0 {
			kind = slices.SortedFunc(slices.Values(texts(list)), byBodyKind)[0]
			break
		}
	}
	for _, at := range append(op.get("parameters").items(), item.get("parameters").items()...) {
		if at.get("in").text() == "body" {
			return apiBody{kind: kind, schema: at.get("schema"), required: at.get("required").truth()}, true
		}
	}
	return apiBody{}, false
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
	base := baseType(b.kind)
	fill := func() {
		st.comment = append(st.comment, "Fill in the body ("+b.kind+").")
		a.hints["a body of "+shortText(b.kind, 60)+" cannot be made up; fill it in"]++
	}
	switch bodyKind(b.kind) {
	case "json":
		if v == nil && !given {
			v = map[string]any{}
		}
		st.json = flow(v, 0)
		if base != "application/json" && !strings.Contains(base, "*") && isLine(base) {
			st.headers = append(st.headers, pair{"Content-Type", literal(base)})
		}
	case "form":
		fields, ok := v.(map[string]any)
		if !ok {
			return fmt.Errorf("the schema of its form is no object")
		}
		st.form = b.fields(fields)
	case "multipart":
		fields, ok := v.(map[string]any)
		if !ok || len(fields) == 0 {
			fill()
			return nil
		}
		st.multipart = b.parts(fields)
	case "text":
		text, ok := v.(string)
		if !ok || !given && base != "text/plain" {
			fill()
			return nil
		}
		st.body = literal(text)
		st.headers = append(st.headers, pair{"Content-Type", literal(base)})
	default:
		fill()
	}
	return nil
}

// example of the body: the document's, else made up of its schema.
func (b *apiBody) example() (v any, given bool) {
	known := append([]apiNode{b.media.get("example")}, namedExamples(b.media.get("examples"))...)
	s := schemaOf(b.schema)
	for _, at := range known {
		if !at.ok() {
			continue
		}
		if v, ok := s.fit(at); ok || len(s.types) == 0 {
			return v, true
		}
		s.problem(at, "the example %s of a body is no %s; it is left out", what(at), strings.Join(s.types, " or "))
	}
	return sample(b.schema)
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
		p := part{name: name, text: literal(flat(v[name])), typ: b.media.get("encoding").get(name).get("contentType").text()}
		field := schemaOf(property(s, name))
		if field.array() {
			if list, ok := v[name].([]any); ok && len(list) > 0 {
				p.text = literal(flat(list[0]))
			}
			field = schemaOf(field.items)
		}
		if _, object := v[name].(map[string]any); object && p.typ == "" {
			p.typ = "application/json"
		}
		if field.binary {
			p.file, p.text = "file.bin", literal("file")
			p.typ = cmp.Or(p.typ, field.at.get("contentMediaType").text(), "application/octet-stream")
		}
		if p.typ, _, _ = strings.Cut(p.typ, ","); !isLine(p.typ) || strings.Contains(p.typ, "*") {
			p.typ = ""
		}
		out = append(out, p)
	}
	return out
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
