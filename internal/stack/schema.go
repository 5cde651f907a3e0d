package stack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"

	"kasoku/internal/lazyregexp"
)

//go:generate go run ./gen

// SchemaURL is the schema's own name, by which editors tell schemas apart.
const SchemaURL = "kasoku.schema.json"

// placeSpec is a mapping of kasoku.yaml whose keys are known: a struct that Load
// reads by its yaml tags, and what is to be said about each.
type placeSpec struct {
	name, meaning string
	of            reflect.Type
	keys          []keySpec
}

// keySpec is one key. Its type is the struct's field.
type keySpec struct {
	name, meaning string
	fallback      string // the value if the key is left out, in words; "" for none
	required      bool
	// limits narrow the type: words of JSON Schema, for the value or, of a list,
	// for what is in it.
	limits map[string]any
}

// Schema is the JSON Schema (draft 2020-12) of kasoku.yaml, for editors. What the
// types alone tell is checked as Load does: keys, types, words and ranges; that
// services name each other rightly is not. docs/reference/kasoku.schema.json is this.
func Schema() ([]byte, error) {
	defs := map[string]any{}
	var root map[string]any
	for i := range places {
		one, err := places[i].schema()
		if err != nil {
			return nil, err
		}
		if i == 0 {
			root = one
			continue
		}
		defs[places[i].name] = one
	}
	root["$schema"], root["$id"], root["title"] = "https://json-schema.org/draft/2020-12/schema", SchemaURL, "Kasoku stack"
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

// schema is that of one place. A key that is written without a value is as if it
// were left out, so null is right everywhere.
func (p *placeSpec) schema() (map[string]any, error) {
	properties, required := map[string]any{}, []string{}
	for _, k := range p.keys {
		t, ok := fieldOf(p.of, k.name)
		if !ok {
			return nil, fmt.Errorf("%s has no key %s", p.of, k.name)
		}
		one, err := typeSchema(t, k.limits)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", p.name, k.name, err)
		}
		about := k.meaning
		if k.fallback != "" {
			about += " Default: " + k.fallback + "."
		}
		one["description"] = linkForm.ReplaceAllString(about, "$1")
		properties[k.name] = one
		if k.required {
			required = append(required, k.name)
		}
	}
	out := map[string]any{"type": orNull("object"), "description": linkForm.ReplaceAllString(p.meaning, "$1"), "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	return out, nil
}

// linkForm is a link of Markdown, of which editors show the text.
var linkForm = lazyregexp.New(`\[([^\]]*)\]\([^)]*\)`)

// orNull is a type or nothing.
func orNull(kind string) []string { return []string{kind, "null"} }

// fieldOf is the type of the field that a key of YAML is read into.
func fieldOf(t reflect.Type, key string) (reflect.Type, bool) {
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ","); name == key {
			return t.Field(i).Type, true
		}
	}
	return nil, false
}

// durationForm is what time.ParseDuration reads, not negative.
const durationForm = `^\+?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`

// typeSchema is the schema of a field's type, as document.walk reads it.
func typeSchema(t reflect.Type, limits map[string]any) (map[string]any, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	out := map[string]any{}
	switch {
	case t == durationType:
		out["type"], out["pattern"] = orNull("string"), durationForm
	case t == resetType, t == argvType: // or one text, of which snapshot is one
		out["type"], out["items"] = []string{"array", "string", "null"}, map[string]any{"type": orNull("string")}
	case t.Kind() == reflect.Struct:
		p := placeOf(t)
		if p == nil {
			return nil, fmt.Errorf("%s is in no place of keys.go", t)
		}
		out["$ref"] = "#/$defs/" + p.name
		if t == commandType { // or its argv alone
			out = map[string]any{"anyOf": []any{out, map[string]any{"type": []string{"array", "string"}, "items": map[string]any{"type": orNull("string")}}}}
		}
	case t.Kind() == reflect.Map, t.Kind() == reflect.Slice:
		items, err := typeSchema(t.Elem(), limits)
		if err != nil {
			return nil, err
		}
		out["type"], out["items"] = orNull("array"), items
		if t.Kind() == reflect.Map {
			out = map[string]any{"type": orNull("object"), "additionalProperties": items}
		}
		return out, nil
	default:
		kind := map[reflect.Kind]string{reflect.String: "string", reflect.Int: "integer", reflect.Float64: "number", reflect.Bool: "boolean"}[t.Kind()]
		if kind == "" {
			return nil, fmt.Errorf("no schema for %s", t)
		}
		out["type"] = orNull(kind)
	}
	for word, v := range limits {
		out[word] = v
	}
	if words, ok := out["enum"].([]string); ok {
		values := []any{nil}
		for _, w := range words {
			values = append(values, w)
		}
		out["enum"] = values
	}
	return out, nil
}

func placeOf(t reflect.Type) *placeSpec {
	for i := range places {
		if places[i].of == t {
			return &places[i]
		}
	}
	return nil
}

// WriteKeys writes docs/reference/kasoku-yaml-keys.md: every key of kasoku.yaml.
func WriteKeys(w io.Writer) error {
	var b strings.Builder
	b.WriteString("<!-- Generated by `go generate ./internal/stack` from keys.go. Do not edit. -->\n\n# Every key of kasoku.yaml\n\n" +
		"For whoever edits `kasoku.yaml` and wants to know what a key means. [kasoku.yaml](kasoku-yaml.md) explains how they work together; " +
		"`kasoku schema` prints the [schema](" + SchemaURL + ") that editors use.\n")
	for i := range places {
		p := &places[i]
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| key | value | meaning | default |\n|---|---|---|---|\n", p.name, p.meaning)
		for _, k := range p.keys {
			t, ok := fieldOf(p.of, k.name)
			if !ok {
				return fmt.Errorf("%s has no key %s", p.of, k.name)
			}
			fallback := k.fallback
			switch {
			case k.required:
				fallback = "required"
			case fallback == "":
				fallback = "–"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", k.name, typeWords(t, k.limits), strings.ReplaceAll(k.meaning, "|", `\|`), fallback)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// typeWords say what a value may be.
func typeWords(t reflect.Type, limits map[string]any) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if words, ok := limits["enum"].([]string); ok && t.Kind() == reflect.String {
		return "`" + strings.Join(words, "`, `") + "`"
	}
	switch {
	case t == durationType:
		return "duration"
	case t == resetType:
		return "`snapshot`, or a command: list of text, or text"
	case t == argvType:
		return "list of text, or text"
	case t.Kind() == reflect.Struct:
		name := placeOf(t).name
		if t == commandType {
			return "list of text, text, or [" + name + "](#" + name + ")"
		}
		return "[" + name + "](#" + name + ")"
	case t.Kind() == reflect.Map:
		return "names with " + typeWords(t.Elem(), limits)
	case t.Kind() == reflect.Slice:
		return "list of " + typeWords(t.Elem(), limits)
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Int:
		return "whole number" + rangeWords(limits)
	case t.Kind() == reflect.Float64:
		return "number" + rangeWords(limits)
	}
	return "text"
}

func rangeWords(limits map[string]any) string {
	low, high := limits["minimum"], limits["maximum"]
	switch {
	case low != nil && high != nil:
		return fmt.Sprintf(" from %v to %v", low, high)
	case low != nil:
		return fmt.Sprintf(" from %v", low)
	}
	return ""
}
