package record

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

const (
	// madeUpRows of a number without example: its smallest value and the next.
	madeUpRows = 10
	// maxSampleValues of one body.
	maxSampleValues = 1000
	// maxExamples of one parameter.
	maxExamples = 1000
)

// madeUp values of a scalar schema without example.
func (s *schema) madeUp() []any {
	if !s.numeric() {
		return []any{newSampler().of(s, 0)}
	}
	n, ok := s.first()
	if !ok {
		s.problem(s.at, "no number is within its bounds")
	}
	if !ok || math.Abs(n) >= 1<<53 { // the next one is not told apart
		return []any{s.exactly(n)}
	}
	var out []any
	for ; len(out) < madeUpRows && s.fits(n); n = tidy(n + s.step()) {
		out = append(out, n)
	}
	return out
}

// sample makes a value that fits a schema, from its examples where it has any.
// given: the schema gives one for the whole value.
func sample(at apiNode) (v any, given bool) {
	left := newSampler()
	s := schemaOf(at)
	return left.of(s, 0), len(s.examples()) > 0
}

// sampler makes values of schemas.
type sampler struct {
	// left values may still be made: schemas that contain themselves several
	// times would make endless ones.
	left int
	// path are the schemas of the values around this one.
	path []*schema
}

func newSampler() *sampler { return &sampler{left: maxSampleValues} }

// within: the schema contains itself here.
func (left *sampler) within(at apiNode) bool {
	node := at.resolved().n
	return node != nil && slices.ContainsFunc(left.path, func(s *schema) bool { return s.at.resolved().n == node })
}

func (left *sampler) value(at apiNode, depth int) any {
	if depth > maxSchemaDepth || left.left < 0 {
		return nil
	}
	return left.of(schemaOf(at), depth)
}

func (left *sampler) of(s *schema, depth int) any {
	if left.left--; left.left < 0 || depth > maxSchemaDepth {
		return nil
	}
	left.path = append(left.path, s)
	defer func() { left.path = left.path[:len(left.path)-1] }()
	if known := s.examples(); len(known) > 0 {
		return known[0]
	}
	switch {
	case len(s.oneOf) > 0:
		return left.alternative(s, depth)
	case s.object():
		return left.object(s, depth)
	case s.array():
		return left.array(s, depth)
	case s.numeric():
		n, ok := s.first()
		if !ok {
			s.problem(s.at, "no number is within its bounds")
		}
		return s.exactly(n)
	case s.is("boolean"):
		return true
	case len(s.types) == 0 && !s.at.ok(), s.onlyNull:
		return nil
	}
	return s.text()
}

// alternative is the first of oneOf or anyOf that is not null, with the
// object's own properties and what tells the alternatives apart. One that ends
// a schema that contains itself comes before one that goes on.
func (left *sampler) alternative(s *schema, depth int) any {
	list := slices.DeleteFunc(slices.Clone(s.oneOf), func(at apiNode) bool { return schemaOf(at).onlyNull })
	if ends := slices.DeleteFunc(slices.Clone(list), left.within); len(ends) > 0 {
		list = ends
	} else if len(list) < len(s.oneOf) && len(left.path) > 1 {
		return nil // null ends it
	}
	if len(list) == 0 {
		if s.object() {
			return left.object(s, depth)
		}
		return nil
	}
	one := *schemaOf(list[0])
	if len(one.types) == 0 {
		one.types = s.types
	}
	v := left.of(&one, depth+1)
	object, ok := v.(map[string]any)
	switch {
	case !ok && s.object():
		return left.object(s, depth)
	case !ok:
		return v
	}
	maps.Copy(object, left.object(s, depth))
	if ref := list[0].find("$ref").text(); ref != "" {
		s.tell(&one, ref, object)
	}
	return object
}

// tell writes the property that tells alternatives apart, if the schema has a
// discriminator: its value is that of the mapping, or the name of the schema
// that is referred to (OpenAPI 3, "Discriminator Object"; in Swagger 2
// discriminator is the property's name).
func (s *schema) tell(one *schema, ref string, object map[string]any) {
	name := cmp.Or(s.discriminator.get("propertyName").text(), s.discriminator.text())
	value := mapped(s.discriminator, ref)
	if name == "" || value == "" {
		return
	}
	known := schemaOf(property(one, name)).examples()
	if len(known) == 0 || slices.Contains(known, any(value)) {
		object[name] = value
	}
}

func property(s *schema, name string) apiNode {
	for _, p := range s.properties {
		if p.key == name {
			return p.value
		}
	}
	return apiNode{}
}

// mapped is the discriminator's value for a reference: what its mapping says,
// else the schema's name.
func mapped(discriminator apiNode, ref string) string {
	name := ref[strings.LastIndexByte(ref, '/')+1:]
	for _, m := range discriminator.get("mapping").members() {
		if to := m.value.text(); to == ref || to == name {
			return m.key
		}
	}
	return name
}

func (left *sampler) array(s *schema, depth int) any {
	n := max(min(s.minItems, 100), 1)
	if s.maxItems >= 0 {
		n = min(n, s.maxItems)
	}
	if s.minItems == 0 && s.items.ok() && left.within(s.items) {
		n = 0
	}
	out := []any{}
	if s.contains.ok() && n > len(s.prefix) {
		if one := left.value(s.contains, depth+1); one != nil {
			out = append(out, one)
		}
	}
	for i := len(out); i < max(n, len(s.prefix)) && left.left >= 0; i++ {
		at := s.items
		if i < len(s.prefix) {
			at = s.prefix[i]
		}
		one := any("text")
		if at.ok() || len(s.prefix) > 0 {
			one = left.value(at, depth+1)
		}
		if s.unique && one != nil && slices.ContainsFunc(out, func(v any) bool { return jsonText(v) == jsonText(one) }) {
			one = schemaOf(at).another(one, out)
		}
		if one != nil {
			out = append(out, one)
		}
	}
	return out
}

// another value than those that a list has already; nil: none is known.
func (s *schema) another(one any, have []any) any {
	fresh := func(v any) bool {
		return !slices.ContainsFunc(have, func(h any) bool { return jsonText(h) == jsonText(v) })
	}
	for _, v := range s.examples() {
		if fresh(v) {
			return v
		}
	}
	if s.fixed {
		return nil
	}
	for i := 1; i <= len(have)+1; i++ {
		switch v := one.(type) {
		case float64:
			if n := tidy(v + float64(i)*s.step()); s.fits(n) && fresh(n) {
				return n
			}
		case string:
			text := lastDigits(v, i)
			if s.pattern == "" && formatTexts[s.format] == "" {
				if text = fmt.Sprintf("%s%d", v, i); s.maxLength >= 0 && len(text) > s.maxLength {
					text = fmt.Sprintf("%.*s%d", max(s.maxLength-len(fmt.Sprint(i)), 0), v, i)
				}
			}
			if text != v && fresh(text) && s.matches(text) {
				return text
			}
		case bool:
			if fresh(!v) {
				return !v
			}
		}
	}
	return nil
}

func (s *schema) matches(text string) bool {
	re, err := regexp.Compile(s.pattern)
	return err == nil && re.MatchString(text)
}

// lastDigits counts a text's last digit or letter on, as in another UUID.
func lastDigits(text string, n int) string {
	for at := len(text) - 1; at >= 0; at-- {
		switch c := text[at]; {
		case c >= '0' && c <= '9':
			return text[:at] + string('0'+(c-'0'+byte(n%10))%10) + text[at+1:]
		case c >= 'a' && c <= 'f':
			return text[:at] + string('a'+(c-'a'+byte(n%6))%6) + text[at+1:]
		}
	}
	return text
}

func (left *sampler) object(s *schema, depth int) map[string]any {
	out := map[string]any{}
	for _, m := range s.properties {
		if left.left < 0 {
			break
		}
		p := schemaOf(m.value)
		needed := s.required[m.key]
		if p.readOnly || !needed && (p.deprecated || left.within(m.value) || p.items.ok() && left.within(p.items)) {
			continue
		}
		v := any(nil)
		if !left.within(m.value) || !p.nullable {
			v = left.of(p, depth+1)
		}
		switch null := p.onlyNull || len(p.examples()) > 0 || needed && p.mayBeNull(); {
		case v != nil || null:
			out[m.key] = v
		case needed && !p.at.ok(): // true: any value
			out[m.key] = "text"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.required)) {
		if _, known := out[name]; !known && !property(s, name).ok() {
			out[name] = "text"
		}
	}
	left.others(s, out, depth)
	if s.ref != "" && s.discriminator.ok() && len(s.oneOf) == 0 {
		s.tell(s, s.ref, out)
	}
	return out
}

// others are the properties that minProperties asks for and nobody names.
func (left *sampler) others(s *schema, out map[string]any, depth int) {
	if s.more.is("!!bool") && !s.more.truth() {
		return
	}
	for i := 1; len(out) < min(s.minProperties, 100) && left.left >= 0; i++ {
		v := any("text")
		if s.more.kind() == yaml.MappingNode {
			if v = left.value(s.more, depth+1); v == nil {
				return
			}
		}
		if name := fmt.Sprintf("key%d", i); out[name] == nil {
			out[name] = v
		}
	}
}

func (s *schema) mayBeNull() bool {
	return s.nullable || slices.ContainsFunc(s.oneOf, func(at apiNode) bool { return schemaOf(at).onlyNull })
}

// formatTexts are samples by format (JSON Schema 2020-12 validation, 7.3, and
// the OpenAPI format registry).
var formatTexts = map[string]string{"date": "2024-05-17", "date-time": "2024-05-17T10:00:00Z", "time": "10:00:00Z", "duration": "PT1H", "email": "user@example.com",
	"uuid": "3fa85f64-5717-4562-b3fc-2c963f66afa6", "uri": "https://example.com/", "url": "https://example.com/", "uri-reference": "/a", "hostname": "example.com",
	"ipv4": "192.0.2.1", "ipv6": "2001:db8::1", "byte": "dGV4dA==", "json-pointer": "/a", "regex": "a"}

// text of a schema by pattern, format and length.
func (s *schema) text() string {
	if s.pattern != "" {
		if text := patternText(s.pattern, s.minLength, s.maxLength); text != "" {
			return text
		}
		s.problem(s.at, "no text was found for the pattern %s; a text without it is sent", shortText(s.pattern, 60))
	}
	if text, ok := formatTexts[s.format]; ok && (s.maxLength < 0 || len(text) <= s.maxLength) && len(text) >= s.minLength {
		return text
	}
	text := "text"
	if n := min(s.minLength, maxSampleText) - len(text); n > 0 {
		text += strings.Repeat("t", n)
	}
	if s.maxLength >= 0 && utf8.RuneCountInString(text) > s.maxLength {
		text = text[:s.maxLength]
	}
	return text
}
