package record

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxSchemaDepth ends schemas that contain themselves.
const maxSchemaDepth = 8

// schema is what of a schema (JSON Schema 2020-12 and draft 4, as OpenAPI 3.1,
// 3.0 and Swagger 2 have it) decides which values fit it. allOf is merged in.
type schema struct {
	at    apiNode
	types []string // without null; empty: any
	// known are the values that the document gives, the surest first: const,
	// example, examples, enum, default.
	known []apiNode
	enum  []apiNode // only these fit
	bounds

	minLength, minItems, minProperties int
	maxLength, maxItems                int // -1: no limit
	unique                             bool
	pattern, format                    string
	items, contains                    apiNode
	more                               apiNode // additionalProperties
	prefix                             []apiNode
	properties                         []member
	required                           map[string]bool
	oneOf                              []apiNode
	discriminator                      apiNode

	nullable, readOnly, deprecated, binary bool
	onlyNull                               bool   // its type is null and nothing else
	ref                                    string // by which the schema was reached; "": none
	fixed                                  bool   // const or enum gives its values

	seen map[*yaml.Node]bool // parts that are merged in already
}

// types that a schema may name.
var schemaTypes = []string{"string", "number", "integer", "boolean", "array", "object", "null", "file"}

// schemaOf reads a schema; never nil. Each is read once and may not be changed.
func schemaOf(at apiNode) *schema {
	at = at.plain()
	if at.ok() && at.file != nil {
		if known := at.file.files.schemas[at.n]; known != nil {
			return known
		}
	}
	s := &schema{maxLength: -1, maxItems: -1, bounds: unbounded(), required: map[string]bool{}, seen: map[*yaml.Node]bool{}}
	s.ref = at.find("$ref").text()
	for _, part := range at.get("allOf").items() {
		s.ref = cmp.Or(s.ref, part.find("$ref").text())
	}
	s.read(at, 0)
	if at.ok() && at.file != nil {
		at.file.files.schemas[at.n] = s
	}
	if s.bounds.integer = slices.Contains(s.types, "integer") && !slices.Contains(s.types, "number"); s.integer && s.multiple == 0 {
		s.multiple = 1
	}
	if len(s.known) == 0 {
		s.known = s.enum
	}
	return s
}

func (s *schema) problem(at apiNode, format string, args ...any) {
	if at.file != nil {
		at.file.files.problem(at, fmt.Sprintf(format, args...))
	}
}

func (s *schema) read(at apiNode, depth int) {
	if at = at.plain(); !at.ok() || depth > maxSchemaDepth || s.seen[at.n] {
		return
	}
	s.seen[at.n] = true
	// What stands beside a $ref holds, too (JSON Schema 2020-12, 8.2.3.1).
	if to, ok := at.target(); ok {
		s.read(to, depth+1)
	}
	if at.kind() != yaml.MappingNode {
		if !at.is("!!bool") { // true and false are schemas of 3.1
			s.problem(at, "a schema is %s where an object is expected; it is left out", what(at))
		}
		return
	}
	if !s.at.ok() {
		s.at = at
	}
	for _, part := range at.get("allOf").items() {
		s.read(part, depth+1)
	}
	s.readTypes(at)
	s.readKnown(at)
	s.bounds.read(at)
	for name, to := range map[string]*int{"minLength": &s.minLength, "minItems": &s.minItems, "minProperties": &s.minProperties, "maxLength": &s.maxLength, "maxItems": &s.maxItems} {
		if v := at.get(name); v.ok() {
			if n, ok := v.whole(); ok {
				*to = n
			} else {
				s.problem(v, "%s is %s, which is no count; it is left out", name, what(v))
			}
		}
	}
	s.pattern = cmp.Or(at.get("pattern").text(), s.pattern)
	s.format = cmp.Or(at.get("format").text(), s.format)
	s.unique = s.unique || at.get("uniqueItems").truth()
	s.nullable = s.nullable || at.get("nullable").truth()
	s.readOnly = s.readOnly || at.get("readOnly").truth()
	s.deprecated = s.deprecated || at.get("deprecated").truth()
	s.binary = s.binary || s.format == "binary" || at.get("contentMediaType").ok() && !at.get("contentEncoding").ok()
	s.readMembers(at)
	s.tellIgnored(at)
	if v := at.get("oneOf"); v.ok() && len(s.oneOf) == 0 {
		s.oneOf = v.items()
	}
	if v := at.get("anyOf"); v.ok() && len(s.oneOf) == 0 {
		s.oneOf = v.items()
	}
	if d := at.get("discriminator"); d.ok() {
		s.discriminator = d
	}
}

// readTypes: one name, or a list of names.
func (s *schema) readTypes(at apiNode) {
	v := at.get("type")
	names := v.items()
	if v.kind() == yaml.ScalarNode {
		names = []apiNode{v}
	}
	if v.ok() {
		s.types = nil
	}
	for _, n := range names {
		switch name := strings.ToLower(n.text()); {
		case n.is("!!null"), name == "null":
			s.nullable, s.onlyNull = true, len(names) == 1
		case !slices.Contains(schemaTypes, name):
			s.problem(n, "there is no type %q; any value is taken", shortText(n.text(), 40))
		case name == "file": // Swagger 2
			s.types, s.binary = append(s.types, "string"), true
		default:
			s.types = append(s.types, name)
		}
	}
}

func (s *schema) readKnown(at apiNode) {
	var known []apiNode
	add := func(v apiNode) {
		if v.ok() {
			known = append(known, v)
		}
	}
	add(at.get("const"))
	s.fixed = s.fixed || len(known) > 0
	for _, name := range []string{"example", "x-example"} {
		add(at.get(name))
	}
	for _, v := range at.get("examples").items() {
		add(v)
	}
	if v := at.get("enum"); v.ok() {
		if list := v.items(); list != nil {
			s.fixed = true
			s.enum = slices.DeleteFunc(list, func(n apiNode) bool { return n.is("!!null") })
		} else {
			s.problem(v, "enum is %s where a list is expected; it is left out", what(v))
		}
	}
	if len(known) == 0 && len(s.enum) == 0 {
		if v := at.get("default"); v.ok() && !v.is("!!null") {
			known = append(known, v)
		}
	}
	if len(known) > 0 {
		s.known = known
	}
}

func (s *schema) readMembers(at apiNode) {
	if v := at.get("items"); v.ok() {
		s.items = v
		if list := v.items(); list != nil { // draft 4: a list of schemas
			s.prefix, s.items = list, apiNode{}
		}
	}
	if v := at.get("contains"); v.ok() {
		s.contains = v
	}
	if v := at.get("additionalProperties"); v.ok() {
		s.more = v
	}
	if list := at.get("prefixItems").items(); list != nil {
		s.prefix = list
	}
	if v := at.get("properties"); v.ok() {
		if v.kind() != yaml.MappingNode {
			s.problem(v, "properties is %s where an object is expected; it is left out", what(v))
		}
		for _, m := range v.members() {
			if i := slices.IndexFunc(s.properties, func(p member) bool { return p.key == m.key }); i >= 0 {
				s.properties[i] = m
				continue
			}
			s.properties = append(s.properties, m)
		}
	}
	if v := at.get("required"); v.ok() && !v.is("!!bool") { // true: draft 3, and Swagger 2's parameters
		if v.kind() != yaml.SequenceNode {
			s.problem(v, "required is %s where a list of names is expected; it is left out", what(v))
		}
		for _, n := range v.items() {
			s.required[n.text()] = true
		}
	}
}

// what names a value for a message.
func what(v apiNode) string {
	switch v.kind() {
	case yaml.MappingNode:
		return "an object"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
		return fmt.Sprintf("%q", shortText(v.n.Value, 40))
	}
	return "nothing"
}

// is reports whether the schema's values may be of the type.
func (s *schema) is(name string) bool { return slices.Contains(s.types, name) }

// object: its values are objects, also where only properties say so.
func (s *schema) object() bool {
	return s.is("object") || len(s.types) == 0 && len(s.properties) > 0
}

func (s *schema) array() bool {
	return s.is("array") || len(s.types) == 0 && (s.items.ok() || len(s.prefix) > 0)
}

// numeric: its values are numbers and nothing else.
func (s *schema) numeric() bool {
	return len(s.types) > 0 && !slices.ContainsFunc(s.types, func(t string) bool { return t != "integer" && t != "number" })
}

// fit makes a value of the document one of the schema's type; false if it is
// of another one. A number in quotes is a number where one is wanted, and a
// bare one a text where a text is wanted.
func (s *schema) fit(v apiNode) (any, bool) {
	value := v.value()
	if len(s.types) == 0 {
		return value, true
	}
	switch x := value.(type) {
	case nil:
		return nil, s.nullable
	case map[string]any:
		return x, s.is("object")
	case []any:
		return x, s.is("array")
	case bool:
		if s.is("boolean") {
			return x, true
		}
	case float64, exact:
		n, whole := x.(float64)
		if s.is("number") || s.is("integer") && (!whole || n == math.Trunc(n)) {
			return x, true
		}
	case string:
		if s.is("string") {
			return x, true
		}
		if n, ok := v.number(); ok && (s.is("number") || s.is("integer") && n == math.Trunc(n)) {
			return n, true
		}
		if s.is("boolean") && (x == "true" || x == "false") {
			return x == "true", true
		}
		return nil, false
	}
	if s.is("string") {
		return v.text(), true
	}
	return nil, false
}

// examples are the values that the document gives and that have the right
// type. What has not is told.
func (s *schema) examples() []any {
	var out []any
	for _, v := range s.known {
		if value, ok := s.fit(v); ok {
			out = append(out, value)
			continue
		}
		s.problem(v, "the example %s is no %s; it is left out", what(v), strings.Join(s.types, " or "))
	}
	if len(out) == 0 && len(s.known) > 0 && len(s.enum) > 0 {
		for _, v := range s.enum {
			if value, ok := s.fit(v); ok {
				out = append(out, value)
			}
		}
	}
	return out
}

// names of an object's members in order.
func sortedNames(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
