package record

import (
	"net/url"
	"strings"
)

// secretExample: the document's value for a name is a secret. Values that a
// const or an enum gives are part of the interface, and numbers are counts,
// such as max_tokens.
func secretExample(name string, s *schema) bool {
	return (isSecret(name) || s.format == "password") && !s.fixed && !s.numeric() && !s.is("boolean")
}

// sent is a value as a request may have it: without properties that only
// answers have, and with FILL-IN where the document's examples are secrets.
func (a *apiDraft) sent(name string, v any, s *schema, depth int) any {
	if depth > maxJSONDepth {
		return v
	}
	switch v := v.(type) {
	case string:
		if v != "" && v != fillIn && secretExample(name, s) && v != s.text() {
			a.secrets[name] = true
			return fillIn
		}
	case []any:
		for i := range v {
			v[i] = a.sent(name, v[i], schemaOf(s.items), depth+1)
		}
	case map[string]any:
		for _, k := range sortedNames(v) {
			p := s.member(k, 0)
			if p.readOnly {
				delete(v, k)
				continue
			}
			v[k] = a.sent(k, v[k], p, depth+1)
		}
	}
	return v
}

// member is the schema of a property, of the object's own or of one of its
// alternatives.
func (s *schema) member(name string, depth int) *schema {
	if at := property(s, name); at.ok() {
		return schemaOf(at)
	}
	for _, at := range s.oneOf[:min(len(s.oneOf), maxExamples)] {
		if one := schemaOf(at); depth < maxSchemaDepth && property(one, name).ok() {
			return one.member(name, depth+1)
		}
	}
	return schemaOf(s.more)
}

// sentText is an example that is a text, such as XML.
func (a *apiDraft) sentText(text string) string {
	for _, re := range namedValues {
		text = re.ReplaceAllStringFunc(text, func(found string) string {
			m := re.FindStringSubmatch(found)
			if !isSecret(m[1]) || m[2] == "" {
				return found
			}
			a.secrets[m[1]] = true
			at := strings.LastIndex(found, m[2])
			return found[:at] + fillIn + found[at+len(m[2]):]
		})
	}
	return text
}

// formText reads an example of a form that is written as it is sent.
func formText(text string) (map[string]any, bool) {
	values, err := url.ParseQuery(strings.TrimSpace(text))
	if err != nil || !strings.Contains(text, "=") || strings.ContainsAny(text, "{<\n") {
		return nil, false
	}
	out := map[string]any{}
	for k, list := range values {
		all := []any{}
		for _, v := range list {
			all = append(all, v)
		}
		if out[k] = all; len(all) == 1 {
			out[k] = all[0]
		}
	}
	return out, true
}
