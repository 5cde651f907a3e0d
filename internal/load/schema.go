package load

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/goccy/go-yaml"
)

//go:generate go run ./gen

// SchemaURL is the schema's own name, by which editors tell schemas apart.
const SchemaURL = "scenario.schema.json"

// sectionSpec is a mapping of scenario.yaml whose keys are known.
type sectionSpec struct {
	name, meaning string
	// context is a whole scenario; @ stands for the keys of this place.
	context string
	// base are keys that every example here needs: name, value, name, value …
	base []string
	keys []keySpec
}

// keySpec is one key.
type keySpec struct {
	name     string
	value    schema
	required bool
	fallback string // the value if the key is left out, as YAML
	meaning  string
	example  string   // a value as YAML in one line; the tests parse it
	with     []string // other keys that the example needs: name, value …
	context  string   // instead of the place's
}

// schema is a JSON Schema, draft 2020-12.
type schema map[string]any

// A text may be written without quotes, so 1 and true are texts, too.
func textValue() schema { return schema{"type": []string{"string", "number", "boolean"}} }

func patternValue(pattern string) schema { return schema{"type": "string", "pattern": pattern} }

func wordValue(words ...string) schema { return schema{"type": "string", "enum": words} }

func flagValue() schema { return schema{"type": "boolean"} }

func wholeValue(low, high int64) schema {
	return schema{"type": "integer", "minimum": low, "maximum": high}
}

func numberValue(low, high float64) schema {
	return schema{"type": "number", "minimum": low, "maximum": high}
}

// durationValue is what time.ParseDuration reads, not negative.
func durationValue() schema {
	return schema{"type": []string{"string", "integer"}, "minimum": 0, "maximum": 0,
		"pattern": `^\+?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`}
}

// refValue is the mapping of another place.
func refValue(place string) schema { return schema{"$ref": "#/$defs/" + place} }

func listValue(of schema) schema { return schema{"type": "array", "items": of} }

// someValue is one, or a list.
func someValue(of schema) schema { return schema{"anyOf": []schema{of, listValue(of)}} }

// mapValue has keys that the author chooses.
func mapValue(of schema) schema { return schema{"type": "object", "additionalProperties": of} }

// namedValue: keys can stand in ${…}.
func namedValue(of schema) schema {
	return schema{"type": "object", "additionalProperties": of, "propertyNames": schema{"pattern": "^[A-Za-z_][A-Za-z0-9_-]*$"}}
}

func anyValue() schema { return schema{} }

// Schema is the JSON Schema (draft 2020-12) of scenario.yaml, for editors.
// docs/scenario.schema.json is this.
func Schema() ([]byte, error) {
	defs := schema{}
	for _, p := range places[1:] {
		one, err := p.schema()
		if err != nil {
			return nil, err
		}
		defs[p.name] = one
	}
	root, err := places[0].schema()
	if err != nil {
		return nil, err
	}
	root["$schema"], root["$id"], root["title"] = "https://json-schema.org/draft/2020-12/schema", SchemaURL, "Kasoku scenario"
	root["$defs"] = defs
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(root); err != nil {
		return nil, fmt.Errorf("write the schema: %w", err)
	}
	return b.Bytes(), nil
}

func (p *sectionSpec) schema() (schema, error) {
	properties, required := schema{}, []string{}
	for _, k := range p.keys {
		one := schema{"description": k.meaning}
		for name, v := range k.value {
			one[name] = v
		}
		if k.fallback != "" {
			v, err := plainValue(k.fallback)
			if err != nil {
				return nil, fmt.Errorf("default of %s: %s: %w", p.name, k.name, err)
			}
			one["default"] = v
		}
		v, err := plainValue(k.example)
		if err != nil {
			return nil, fmt.Errorf("example of %s: %s: %w", p.name, k.name, err)
		}
		one["examples"] = []any{v}
		properties[k.name] = one
		if k.required {
			required = append(required, k.name)
		}
	}
	out := schema{"type": "object", "description": p.meaning, "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	return out, nil
}

// plainValue is YAML as JSON values.
func plainValue(text string) (any, error) {
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return nil, err
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// scenario is a whole scenario file that holds the key's example.
func (k *keySpec) scenario(p *sectionSpec) string {
	var keys []string
	add := func(name, value string) { keys = append(keys, name+": "+value) }
	given := map[string]bool{k.name: true}
	for i := 0; i+1 < len(k.with); i += 2 {
		given[k.with[i]] = true
		add(k.with[i], k.with[i+1])
	}
	for i := 0; i+1 < len(p.base); i += 2 {
		if !given[p.base[i]] {
			add(p.base[i], p.base[i+1])
		}
	}
	add(k.name, k.example)
	context := p.context
	if k.context != "" {
		context = k.context
	}
	return strings.Replace(context, "@", strings.Join(keys, ", "), 1) + "\n"
}

// WriteKeys writes docs/scenario-keys.md: every key with its example.
func WriteKeys(w io.Writer) error {
	var b strings.Builder
	b.WriteString("<!-- Generated by `go generate ./internal/load` from keys.go. Do not edit. -->\n\n# Every key of scenario.yaml\n\n" +
		"[scenario.md](scenario.md) explains how they work together. The tests execute every example.\n")
	for _, p := range places {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| key | value | default | meaning | example |\n|---|---|---|---|---|\n", p.name, p.meaning)
		for _, k := range p.keys {
			fallback := code(k.fallback)
			if k.required {
				fallback = "required"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", k.name, cell(k.value.words()), fallback, cell(k.meaning), code(k.name+": "+k.example))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// code in a cell of a table.
func code(s string) string {
	if s == "" {
		return "–"
	}
	if strings.Contains(s, "`") {
		return "`` " + cell(s) + " ``"
	}
	return "`" + cell(s) + "`"
}

// words say what a value may be.
func (s schema) words() string {
	switch {
	case s["$ref"] != nil:
		name := strings.TrimPrefix(s["$ref"].(string), "#/$defs/")
		return "[" + name + "](#" + name + ")"
	case s["anyOf"] != nil:
		var each []string
		for _, one := range s["anyOf"].([]schema) {
			each = append(each, one.words())
		}
		return strings.Join(each, " or ")
	case s["enum"] != nil:
		return strings.Join(s["enum"].([]string), ", ")
	case s["items"] != nil:
		return "list of " + s["items"].(schema).words()
	case s["additionalProperties"] != nil:
		return "names with " + s["additionalProperties"].(schema).words()
	case s["type"] == "integer":
		return fmt.Sprintf("whole number from %d to %d", s["minimum"], s["maximum"])
	case s["type"] == "number":
		return fmt.Sprintf("number from %v to %v", s["minimum"], s["maximum"])
	case s["type"] == "boolean":
		return "true or false"
	case s["type"] == nil:
		return "anything"
	}
	if _, two := s["type"].([]string); two && s["maximum"] != nil {
		return "duration"
	}
	return "text"
}
