package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// apiParam is a parameter of an operation.
type apiParam struct {
	name, in string
	at       apiNode
	required bool
	schema   *schema
	style
	json bool // its value is written as JSON (content)
}

// parameters of one operation: those with several values share a pool.
type parameters struct {
	api   *apiDraft
	label string
	name  string
	pool  pool
	cols  [][]string
}

// param reads a parameter of OpenAPI 3 or Swagger 2; false if it is none.
func (a *apiDraft) param(at apiNode) (apiParam, bool) {
	if ref := at.find("$ref"); ref.ok() {
		if _, ok := at.target(); !ok {
			return apiParam{}, false // told
		}
	}
	at = at.resolved()
	p := apiParam{name: at.get("name").text(), in: at.get("in").text(), at: at, required: at.get("required").truth()}
	if p.name == "" || p.in == "" {
		if at.ok() {
			a.files.problem(at, "a parameter without name and in is left out")
		}
		return p, false
	}
	if p.in == "body" && a.swagger {
		return p, false // readBody takes it
	}
	known := styles[p.in]
	if known == nil || p.in == "formData" && !a.swagger {
		a.files.problem(at, fmt.Sprintf("the parameter %s is in %s, which is no place; it is left out", p.name, shortText(p.in, 40)))
		return p, false
	}
	schemaAt := at.get("schema")
	if content := at.get("content").members(); !schemaAt.ok() && len(content) > 0 {
		schemaAt, p.json = content[0].value.get("schema"), strings.HasSuffix(baseType(content[0].key), "json")
	}
	if a.swagger && !schemaAt.ok() {
		schemaAt = at // the parameter is its own schema
	}
	p.schema = schemaOf(schemaAt)
	p.style = style{known[0], known[0] == "form"}
	if a.swagger {
		p.style.explode = false
		if s, ok := collectionFormats[at.get("collectionFormat").text()]; ok && (p.in == "query" || p.in == "formData") {
			p.style = s
		}
		return p, true
	}
	if v := at.get("style"); v.ok() {
		if slices.Contains(known, v.text()) {
			p.style = style{v.text(), v.text() == "form"}
		} else {
			a.files.problem(v, fmt.Sprintf("a parameter in %s has no style %s; %s is taken", p.in, what(v), known[0]))
		}
	}
	if v := at.get("explode"); v.ok() {
		p.style.explode = v.truth()
	}
	return p, true
}

// wholeQuery is the value of a parameter that is all of the query: JSON, or
// a form's fields.
func (p *apiParam) wholeQuery(v any) string {
	text, isText := v.(string)
	switch {
	case p.json:
		return queryEscape(jsonText(v))
	case isText:
		return strings.TrimPrefix(text, "?")
	}
	return style{"form", true}.write("", v, queryEscape)
}

// examples that the document gives for the parameter.
func (p *apiParam) examples() []any {
	var given []apiNode
	if v := p.at.get("example"); v.ok() {
		given = append(given, v)
	}
	if v := p.at.get("x-example"); v.ok() {
		given = append(given, v)
	}
	given = append(given, namedExamples(p.at.get("examples"))...)
	if content := p.at.get("content").members(); len(content) > 0 {
		if v := content[0].value.get("example"); v.ok() {
			given = append(given, v)
		}
		given = append(given, namedExamples(content[0].value.get("examples"))...)
	}
	if len(given) > 0 {
		s := *p.schema
		s.known = given
		if list := s.examples(); len(list) > 0 {
			return list
		}
	}
	return p.schema.examples()
}

// namedExamples: the values of OpenAPI's map of examples, or of a list.
func namedExamples(at apiNode) []apiNode {
	out := at.items()
	for _, m := range at.members() {
		for _, name := range []string{"dataValue", "value"} { // dataValue: OpenAPI 3.2
			if v := m.value.get(name); v.ok() {
				out = append(out, v)
				break
			}
		}
	}
	return out
}

// hasExample: the document gives a value for the parameter, or for some part
// of it.
func (p *apiParam) hasExample() bool {
	return len(p.examples()) > 0 || partsHaveExamples(p.schema, 0)
}

func partsHaveExamples(s *schema, depth int) bool {
	if depth > 2 {
		return false
	}
	parts := slices.Clone(s.prefix)
	if s.items.ok() {
		parts = append(parts, s.items)
	}
	for _, m := range s.properties {
		parts = append(parts, m.value)
	}
	return slices.ContainsFunc(parts[:min(len(parts), 50)], func(at apiNode) bool {
		one := schemaOf(at)
		return len(one.known) > 0 || partsHaveExamples(one, depth+1)
	})
}

// values of the parameter; made up where the document gives none.
func (p *parameters) values(param *apiParam) []any {
	list := param.examples()
	if param.in == "path" { // an empty segment is another path
		list = slices.DeleteFunc(slices.Clone(list), func(v any) bool { return flat(v) == "" })
	}
	if len(list) > 0 && secretExample(param.name, param.schema) && !param.schema.object() && !param.schema.array() {
		p.api.secrets[param.name] = true
		return []any{fillIn}
	}
	if len(list) > 0 {
		for i := range list {
			list[i] = p.api.sent(param.name, list[i], param.schema, 0)
		}
		return list
	}
	if !partsHaveExamples(param.schema, 0) {
		p.api.madeUp[param.name+" of "+p.label] = true
	}
	return param.schema.madeUp()
}

// text is the parameter in a request, as its style has it: its only value, or
// a column of the pool. escape is for names and values.
func (p *parameters) text(param *apiParam, escape func(string) string) string {
	values := p.values(param)
	if param.json {
		return literal(param.before(escape(param.name)) + escape(jsonText(values[0])))
	}
	var texts []string
	for _, v := range values[:min(len(values), maxExamples)] {
		switch v.(type) {
		case []any, map[string]any: // a column holds single values
			return literal(param.write(escape(param.name), v, escape))
		}
		if text := flat(v); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if param.schema.array() && len(texts) > 0 && param.style.name != "simple" {
		texts = texts[:1]
	}
	before := literal(param.before(escape(param.name)))
	if len(texts) == 1 {
		return before + literal(escape(texts[0]))
	}
	used := names{}
	for _, h := range p.pool.header {
		used[h] = true
	}
	column := used.unique(param.name)
	p.pool.header, p.cols = append(p.pool.header, column), append(p.cols, texts)
	return before + "${" + p.name + "." + column + "}"
}

// finish makes the pool, if any parameter has several values: the n-th row has
// each one's n-th value, shorter lists begin anew.
func (p *parameters) finish() []pair {
	if len(p.cols) == 0 {
		return nil
	}
	rows := 0
	for _, c := range p.cols {
		rows = max(rows, len(c))
	}
	for i := range rows {
		var row []string
		for _, c := range p.cols {
			row = append(row, c[i%len(c)])
		}
		p.pool.rows = append(p.pool.rows, row)
	}
	p.pool.name = p.name
	p.api.out.pools = append(p.api.out.pools, p.pool)
	return []pair{{p.name, p.name}}
}

// merged parameters: an operation's own come before those of its path.
func (a *apiDraft) merged(item, op apiNode) []apiParam {
	var out []apiParam
	for _, at := range append(op.get("parameters").items(), item.get("parameters").items()...) {
		p, ok := a.param(at)
		if ok && !slices.ContainsFunc(out, func(o apiParam) bool { return o.name == p.name && o.in == p.in }) {
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(x, y apiParam) int { return cmp.Compare(x.in, y.in) })
	return out
}
