package record

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
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
		left := sampler(maxSampleValues)
		return []any{left.of(s, 0)}
	}
	n, ok := s.first()
	if !ok {
		s.problem(s.at, "no number is within its bounds")
		return []any{n}
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
	left := sampler(maxSampleValues)
	s := schemaOf(at)
	return left.of(s, 0), len(s.examples()) > 0
}

// sampler counts the values that may still be made: schemas that contain
// themselves several times would make endless ones.
type sampler int

func (left *sampler) value(at apiNode, depth int) any {
	if depth > maxSchemaDepth || *left < 0 {
		return nil
	}
	return left.of(schemaOf(at), depth)
}

func (left *sampler) of(s *schema, depth int) any {
	if *left--; *left < 0 || depth > maxSchemaDepth {
		return nil
	}
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
		return n
	case s.is("boolean"):
		return true
	case len(s.types) == 0 && !s.at.ok():
		return nil
	}
	return s.text()
}

// alternative is the first of oneOf or anyOf that is not null, with the
// object's own properties and what tells the alternatives apart.
func (left *sampler) alternative(s *schema, depth int) any {
	for _, at := range s.oneOf {
		one := *schemaOf(at)
		if len(one.types) == 0 && one.nullable { // {type: null}
			continue
		}
		if len(one.types) == 0 {
			one.types = s.types
		}
		v := left.of(&one, depth+1)
		object, ok := v.(map[string]any)
		if !ok {
			if s.object() {
				break
			}
			return v
		}
		maps.Copy(object, left.object(s, depth))
		if name := s.discriminator.get("propertyName").text(); name != "" {
			if value := mapped(s.discriminator, at.find("$ref").text()); value != "" && len(schemaOf(property(&one, name)).examples()) == 0 {
				object[name] = value
			}
		}
		return object
	}
	if s.object() {
		return left.object(s, depth)
	}
	return nil
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
	out := []any{}
	for i := range max(n, len(s.prefix)) {
		at := s.items
		if i < len(s.prefix) {
			at = s.prefix[i]
		}
		if *left < 0 {
			break
		}
		if !at.ok() && len(s.prefix) == 0 {
			out = append(out, "text")
		} else if one := left.value(at, depth+1); one != nil {
			out = append(out, one)
		}
	}
	return out
}

func (left *sampler) object(s *schema, depth int) map[string]any {
	out := map[string]any{}
	for _, m := range s.properties {
		if *left < 0 {
			break
		}
		p := schemaOf(m.value)
		if p.readOnly || p.deprecated && !s.required[m.key] {
			continue
		}
		if v := left.of(p, depth+1); v != nil {
			out[m.key] = v
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.required)) {
		if _, known := out[name]; !known && !property(s, name).ok() {
			out[name] = "text"
		}
	}
	return out
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
