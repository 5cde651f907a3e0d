package record

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
)

// style says how a parameter's value is written (OpenAPI 3, "Style Values").
type style struct {
	name    string
	explode bool
}

// collectionFormats of Swagger 2 as styles of OpenAPI 3.
var collectionFormats = map[string]style{"csv": {"form", false}, "ssv": {"spaceDelimited", false}, "tsv": {"tabDelimited", false}, "pipes": {"pipeDelimited", false}, "multi": {"form", true}}

// delimiters between the elements of a list that is not exploded, escaped.
var delimiters = map[string]string{"spaceDelimited": "%20", "pipeDelimited": "%7C", "tabDelimited": "%09"}

// styles that each place of a parameter may have, its default first.
var styles = map[string][]string{
	"query": {"form", "spaceDelimited", "pipeDelimited", "deepObject", "tabDelimited"}, "path": {"simple", "label", "matrix"},
	"header": {"simple"}, "cookie": {"form", "cookie"},
	"querystring": {"form"}, // OpenAPI 3.2: the whole query
	"formData":    {"form", "spaceDelimited", "pipeDelimited", "tabDelimited"},
}

// before is what stands in front of a single value.
func (s style) before(name string) string {
	switch s.name {
	case "simple":
		return ""
	case "label":
		return "."
	case "matrix":
		return ";" + name + "="
	}
	return name + "="
}

// write a value as the style has it. name is escaped already; escape is for
// the values. It follows the table "Style Examples" of OpenAPI 3.
func (s style) write(name string, v any, escape func(string) string) string {
	switch v := v.(type) {
	case []any:
		var parts []string
		for _, e := range v {
			parts = append(parts, escape(flat(e)))
		}
		return s.list(name, parts)
	case map[string]any:
		return s.object(name, v, escape)
	}
	return s.before(name) + escape(flat(v))
}

func (s style) list(name string, parts []string) string {
	between := cmp.Or(delimiters[s.name], ",")
	if s.explode {
		switch s.name {
		case "label":
			between = "."
		case "matrix":
			between = ";" + name + "="
		case "form", "spaceDelimited", "pipeDelimited", "tabDelimited", "deepObject":
			between = "&" + name + "="
		}
	}
	return s.before(name) + strings.Join(parts, between)
}

func (s style) object(name string, v map[string]any, escape func(string) string) string {
	var pairs, flatPairs []string
	for _, k := range sortedNames(v) {
		switch s.name {
		case "deepObject":
			pairs = append(pairs, deepPairs(name+escape("["+k+"]"), v[k], escape, 0)...)
			continue
		}
		pairs = append(pairs, escape(k)+"="+escape(flat(v[k])))
		flatPairs = append(flatPairs, escape(k), escape(flat(v[k])))
	}
	switch {
	case s.name == "deepObject":
		return strings.Join(pairs, "&")
	case !s.explode:
		return s.before(name) + strings.Join(flatPairs, cmp.Or(delimiters[s.name], ","))
	case s.name == "matrix":
		return ";" + strings.Join(pairs, ";")
	case s.name == "label":
		return "." + strings.Join(pairs, ".")
	case s.name == "simple":
		return strings.Join(pairs, ",")
	}
	return strings.Join(pairs, "&")
}

// deepPairs writes a[b][c]=d, and a[b]=1&a[b]=2 for a list.
func deepPairs(name string, v any, escape func(string) string, depth int) []string {
	var out []string
	switch v := v.(type) {
	case map[string]any:
		if depth > maxSchemaDepth {
			return nil
		}
		for _, k := range sortedNames(v) {
			out = append(out, deepPairs(name+escape("["+k+"]"), v[k], escape, depth+1)...)
		}
	case []any:
		for _, e := range v {
			out = append(out, name+"="+escape(flat(e)))
		}
	default:
		out = append(out, name+"="+escape(flat(v)))
	}
	return out
}

// flat writes a value as one text: a list with commas, an object as JSON.
func flat(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case exact:
		return string(v)
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1e21 { // as JavaScript writes it
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	case []any:
		var parts []string
		for _, e := range v {
			parts = append(parts, flat(e))
		}
		return strings.Join(parts, ",")
	case map[string]any:
		return jsonText(v)
	}
	return fmt.Sprint(v)
}

// jsonText of a value.
func jsonText(v any) string {
	data, err := json.Marshal(plainJSON(v))
	if err != nil {
		return ""
	}
	return string(data)
}

func plainJSON(v any) any {
	switch v := v.(type) {
	case exact:
		return json.Number(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plainJSON(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k] = plainJSON(v[k])
		}
		return out
	}
	return v
}

// queryEscape is for values in a query.
func queryEscape(s string) string { return url.QueryEscape(s) }
