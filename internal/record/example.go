package record

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

const (
	// madeUpRows of a number without example: its smallest value and the next.
	madeUpRows = 10
	// maxSchemaDepth ends schemas that contain themselves.
	maxSchemaDepth = 8
	// maxSampleValues of one body.
	maxSampleValues = 1000
	// maxExamples of one parameter.
	maxExamples = 1000
)

// parameters of one operation: those with several values share a pool.
type parameters struct {
	api   *apiDraft
	label string
	name  string
	pool  pool
	cols  [][]string
}

// value is the parameter's place in a request: its only value, or a column of
// the pool.
func (p *parameters) value(param *openapi3.Parameter, escape func(string) string) string {
	values := paramExamples(param)
	if len(values) == 0 {
		p.api.madeUp[param.Name+" of "+p.label] = true
		values = madeUp(schemaOf(param.Schema))
	}
	var texts []string
	for _, v := range values[:min(len(values), maxExamples)] {
		if text := flat(v); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if len(texts) == 1 {
		return literal(escape(texts[0]))
	}
	used := names{}
	for _, h := range p.pool.header {
		used[h] = true
	}
	column := used.unique(param.Name)
	p.pool.header, p.cols = append(p.pool.header, column), append(p.cols, texts)
	return "${" + p.name + "." + column + "}"
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

// paramExamples are the values that the document gives.
func paramExamples(p *openapi3.Parameter) []any {
	var out []any
	if p.Example != nil {
		out = append(out, p.Example)
	}
	out = append(out, namedExamples(p.Examples)...)
	if len(out) > 0 {
		return out
	}
	for _, t := range slices.Sorted(maps.Keys(p.Content)) {
		if m := p.Content[t]; m != nil && m.Example != nil {
			return []any{m.Example}
		}
	}
	s := schemaOf(p.Schema)
	if s != nil && s.Type != nil && s.Type.Is("array") && s.Example == nil && s.Default == nil && len(s.Examples) == 0 {
		s = schemaOf(s.Items)
	}
	return schemaExamples(s)
}

func namedExamples(examples openapi3.Examples) []any {
	var out []any
	for _, name := range slices.Sorted(maps.Keys(examples)) {
		if ref := examples[name]; ref != nil && ref.Value != nil && ref.Value.Value != nil {
			out = append(out, ref.Value.Value)
		}
	}
	return out
}

// schemaExamples: what a schema says of its values.
func schemaExamples(s *openapi3.Schema) []any {
	switch {
	case s == nil:
	case s.Const != nil:
		return []any{s.Const}
	case s.Example != nil:
		return []any{s.Example}
	case len(s.Examples) > 0:
		return s.Examples
	case len(s.Enum) > 0:
		return slices.DeleteFunc(slices.Clone(s.Enum), func(v any) bool { return v == nil })
	case s.Default != nil:
		return []any{s.Default}
	}
	return nil
}

// madeUp values of a scalar schema.
func madeUp(s *openapi3.Schema) []any {
	if s != nil && s.Type != nil && (s.Type.Is("integer") || s.Type.Is("number")) {
		low := lowest(s)
		var out []any
		for i := range madeUpRows {
			v := low + float64(i)*step1(s)
			if s.Max != nil && v > *s.Max {
				break
			}
			out = append(out, v)
		}
		if len(out) > 0 {
			return out
		}
		return []any{low}
	}
	return []any{sample(s)}
}

func lowest(s *openapi3.Schema) float64 {
	low := 1.0
	if s.Min != nil {
		low = *s.Min
		if s.ExclusiveMin.IsTrue() {
			low++
		}
	} else if s.Max != nil && *s.Max < 1 {
		low = *s.Max
	}
	if s.MultipleOf != nil && *s.MultipleOf > 0 {
		low = math.Ceil(low / *s.MultipleOf) * *s.MultipleOf
	}
	return low
}

func step1(s *openapi3.Schema) float64 {
	if s.MultipleOf != nil && *s.MultipleOf > 0 {
		return *s.MultipleOf
	}
	return 1
}

// sample makes a value that fits a schema, from its examples where it has any.
func sample(s *openapi3.Schema) any {
	left := sampler(maxSampleValues)
	return left.value(s, 0)
}

// sampler counts the values that may still be made: schemas that contain
// themselves several times would make endless ones.
type sampler int

func (left *sampler) value(s *openapi3.Schema, depth int) any {
	if known := schemaExamples(s); len(known) > 0 {
		return known[0]
	}
	*left--
	switch {
	case s == nil || depth > maxSchemaDepth || *left < 0:
		return nil
	case len(s.AllOf) > 0:
		out := map[string]any{}
		for _, ref := range s.AllOf {
			if part, ok := left.value(schemaOf(ref), depth+1).(map[string]any); ok {
				maps.Copy(out, part)
			} else if len(s.AllOf) == 1 {
				return left.value(schemaOf(ref), depth+1)
			}
		}
		maps.Copy(out, left.object(s, depth))
		return out
	case len(s.OneOf) > 0:
		return left.value(schemaOf(s.OneOf[0]), depth+1)
	case len(s.AnyOf) > 0:
		return left.value(schemaOf(s.AnyOf[0]), depth+1)
	case len(s.Properties) > 0 || s.Type != nil && s.Type.Includes("object"):
		return left.object(s, depth)
	case s.Type == nil:
		return "text"
	case s.Type.Includes("array"):
		n := max(int(min(s.MinItems, 100)), 1)
		out := make([]any, 0, n)
		for range n {
			if one := left.value(schemaOf(s.Items), depth+1); one != nil {
				out = append(out, one)
			}
		}
		return out
	case s.Type.Includes("integer"):
		return lowest(s)
	case s.Type.Includes("number"):
		return lowest(s)
	case s.Type.Includes("boolean"):
		return true
	case s.Type.Includes("string"):
		return sampleText(s)
	}
	return nil
}

func (left *sampler) object(s *openapi3.Schema, depth int) map[string]any {
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := schemaOf(s.Properties[name])
		if p == nil || p.ReadOnly || p.Deprecated && !slices.Contains(s.Required, name) {
			continue
		}
		if v := left.value(p, depth+1); v != nil {
			out[name] = v
		}
	}
	return out
}

// sampleText by format (JSON Schema, 7.3) and length.
func sampleText(s *openapi3.Schema) string {
	known := map[string]string{"date": "2024-05-17", "date-time": "2024-05-17T10:00:00Z", "time": "10:00:00Z", "email": "user@example.com",
		"uuid": "3fa85f64-5717-4562-b3fc-2c963f66afa6", "uri": "https://example.com/", "url": "https://example.com/", "hostname": "example.com",
		"ipv4": "192.0.2.1", "ipv6": "2001:db8::1", "byte": "dGV4dA=="}
	if text, ok := known[s.Format]; ok {
		return text
	}
	text := "text"
	for uint64(len(text)) < min(s.MinLength, 10_000) {
		text += "t"
	}
	if s.MaxLength != nil && uint64(len(text)) > *s.MaxLength {
		text = text[:*s.MaxLength]
	}
	return text
}

func schemaOf(ref *openapi3.SchemaRef) *openapi3.Schema {
	if ref == nil {
		return nil
	}
	return ref.Value
}

// flat writes a parameter's value: lists with commas (style simple and form
// without explode), objects as JSON.
func flat(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1e15 {
			return strconv.FormatInt(int64(v), 10)
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	case []any:
		var parts []string
		for _, e := range v {
			parts = append(parts, flat(e))
		}
		return strings.Join(parts, ",")
	case map[string]any:
		data, err := json.Marshal(v)
		if err != nil {
			return ""
		}
		return string(data)
	}
	return fmt.Sprint(v)
}

// requestBody writes the example, or one made of the schema.
func (a *apiDraft) requestBody(st *step, method string, op *openapi3.Operation) error {
	if op.RequestBody == nil || op.RequestBody.Value == nil || method == "GET" || method == "HEAD" {
		return nil
	}
	content := op.RequestBody.Value.Content
	for _, kind := range slices.SortedFunc(maps.Keys(content), byBodyKind) {
		media := content[kind]
		if media == nil {
			continue
		}
		v, found := mediaExample(media)
		if !found {
			a.madeUp["the body of "+method+" "+op.OperationID] = true
		}
		base := baseType(kind)
		switch {
		case strings.HasSuffix(base, "json"):
			st.json = flow(v, 0)
			if base != "application/json" && isLine(base) {
				st.headers = append(st.headers, pair{"Content-Type", literal(base)})
			}
		case base == "application/x-www-form-urlencoded":
			fields, ok := v.(map[string]any)
			if !ok {
				return fmt.Errorf("the schema of its form is no object")
			}
			for _, name := range slices.Sorted(maps.Keys(fields)) {
				st.form = append(st.form, pair{name, literal(flat(fields[name]))})
			}
		default:
			text, ok := v.(string)
			if !ok || !strings.HasPrefix(base, "text/") {
				st.comment = append(st.comment, "Fill in the body ("+kind+").")
				return nil
			}
			st.body = literal(text)
			st.headers = append(st.headers, pair{"Content-Type", literal(base)})
		}
		return nil
	}
	return nil
}

// byBodyKind: JSON before forms before the rest.
func byBodyKind(x, y string) int {
	rank := func(kind string) string {
		switch base := baseType(kind); {
		case base == "application/json":
			return "0" + base
		case strings.HasSuffix(base, "json"):
			return "1" + base
		case base == "application/x-www-form-urlencoded":
			return "2"
		default:
			return "3" + base
		}
	}
	return strings.Compare(rank(x), rank(y))
}

func mediaExample(m *openapi3.MediaType) (v any, found bool) {
	if m.Example != nil {
		return m.Example, true
	}
	if list := namedExamples(m.Examples); len(list) > 0 {
		return list[0], true
	}
	s := schemaOf(m.Schema)
	return sample(s), len(schemaExamples(s)) > 0
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
	case []any:
		var parts []string
		for _, e := range v {
			parts = append(parts, flow(e, depth+1))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
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
