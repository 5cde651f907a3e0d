package record

import (
	"math"
	"net/url"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	// maxRefs that lead from one to the next.
	maxRefs = 32
	// maxNodes of one example are taken: aliases and references could make a
	// small document mean an endless one.
	maxNodes = 5000
)

// apiNode is a value of an API document with its place. The zero apiNode is a
// value that is not there; every method works on it.
type apiNode struct {
	n    *yaml.Node
	file *apiFile
}

// apiFile is one document: the one that was named, or one that it refers to.
type apiFile struct {
	name  string // for messages; "" is the one that was named
	path  string // below the document's folder
	root  *yaml.Node
	files *apiFiles
}

// member is a key of an object with its value.
type member struct {
	key   string
	at    apiNode // of the key
	value apiNode
}

func (v apiNode) ok() bool { return v.n != nil }

// plain follows aliases.
func (v apiNode) plain() apiNode {
	for range maxRefs {
		if v.n == nil || v.n.Kind != yaml.AliasNode {
			return v
		}
		v.n = v.n.Alias
	}
	return apiNode{}
}

func (v apiNode) kind() yaml.Kind {
	if v = v.plain(); v.n == nil {
		return 0
	}
	return v.n.Kind
}

// line of the value; 0 if it is not there.
func (v apiNode) line() int {
	if v.n == nil {
		return 0
	}
	return v.n.Line
}

// own are the members of an object without those that a $ref brings. A merge
// key's (<<) come after the object's own.
func (v apiNode) own() []member {
	if v = v.plain(); v.n == nil || v.n.Kind != yaml.MappingNode {
		return nil
	}
	var out, merged []member
	for i := 0; i+1 < len(v.n.Content); i += 2 {
		k, value := v.n.Content[i], v.n.Content[i+1]
		if k.ShortTag() != "!!merge" {
			out = append(out, member{k.Value, apiNode{k, v.file}, apiNode{value, v.file}})
			continue
		}
		from := apiNode{value, v.file}.plain()
		if from.kind() == yaml.MappingNode {
			for j := 0; j+1 < len(from.n.Content); j += 2 {
				merged = append(merged, member{from.n.Content[j].Value, apiNode{from.n.Content[j], v.file}, apiNode{from.n.Content[j+1], v.file}})
			}
		}
	}
	return append(out, merged...)
}

// find is an own member; the last of several with one name counts, and one of
// a merge key only where there is none.
func (v apiNode) find(key string) apiNode {
	if v = v.plain(); v.n == nil || v.n.Kind != yaml.MappingNode {
		return apiNode{}
	}
	merges := false
	for i := len(v.n.Content) - 2; i >= 0; i -= 2 {
		k := v.n.Content[i]
		if k.Value == key {
			return apiNode{v.n.Content[i+1], v.file}
		}
		merges = merges || k.Value == "<<"
	}
	if merges {
		for _, m := range v.own() {
			if m.key == key {
				return m.value
			}
		}
	}
	return apiNode{}
}

// target follows the value's $ref; false if it has none or it leads nowhere.
func (v apiNode) target() (apiNode, bool) {
	ref := v.find("$ref")
	if ref.kind() != yaml.ScalarNode || v.file == nil {
		return apiNode{}, false
	}
	to, err := v.file.files.follow(v.file, ref.text())
	if err != nil {
		v.file.files.problem(ref, "$ref "+shortText(ref.text(), 80)+": "+err.Error())
		return apiNode{}, false
	}
	return to, true
}

// resolved follows aliases and references to the value itself.
func (v apiNode) resolved() apiNode {
	v = v.plain()
	for range maxRefs {
		to, ok := v.target()
		if !ok {
			return v
		}
		v = to.plain()
	}
	return apiNode{}
}

// get is a member by its name: the object's own, or that of what it refers to.
func (v apiNode) get(key string) apiNode {
	for range maxRefs {
		if found := v.find(key); found.ok() {
			return found.plain()
		}
		to, ok := v.target()
		if !ok {
			return apiNode{}
		}
		v = to
	}
	return apiNode{}
}

// members of the object itself, or of what it refers to.
func (v apiNode) members() []member { return v.resolved().own() }

// items of a list.
func (v apiNode) items() []apiNode {
	if v = v.resolved(); v.kind() != yaml.SequenceNode {
		return nil
	}
	var out []apiNode
	for _, n := range v.n.Content {
		out = append(out, apiNode{n, v.file}.plain())
	}
	return out
}

// text of a scalar as it is written; "" for others and for null.
func (v apiNode) text() string {
	if v = v.plain(); v.kind() != yaml.ScalarNode || v.n.ShortTag() == "!!null" {
		return ""
	}
	return v.n.Value
}

func (v apiNode) is(tag string) bool {
	v = v.plain()
	return v.kind() == yaml.ScalarNode && v.n.ShortTag() == tag
}

// number of a scalar that is one, also of a text that reads as one.
func (v apiNode) number() (float64, bool) {
	if v.kind() != yaml.ScalarNode || v.is("!!bool") || v.is("!!null") {
		return 0, false
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(v.text()), 64)
	return n, err == nil && !math.IsInf(n, 0) && !math.IsNaN(n)
}

// whole is a number from 0 up, such as a length.
func (v apiNode) whole() (int, bool) {
	n, ok := v.number()
	if !ok || n < 0 || n != math.Trunc(n) || n > math.MaxInt32 {
		return 0, false
	}
	return int(n), true
}

// truth of a boolean; false if it is none.
func (v apiNode) truth() bool { return v.is("!!bool") && strings.EqualFold(v.text(), "true") }

// exact is a number that a float64 does not hold as it is written.
type exact string

// value of an example: nil, bool, string, float64, exact, []any, map[string]any.
func (v apiNode) value() any {
	left := maxNodes
	return v.bounded(&left, 0)
}

func (v apiNode) bounded(left *int, depth int) any {
	v = v.plain()
	if *left--; *left < 0 || depth > maxJSONDepth {
		return nil
	}
	switch v.kind() {
	case yaml.ScalarNode:
		return v.scalar()
	case yaml.SequenceNode:
		out := []any{}
		for _, n := range v.items() {
			if *left < 0 {
				break
			}
			out = append(out, n.bounded(left, depth+1))
		}
		return out
	case yaml.MappingNode:
		out := map[string]any{}
		for _, m := range v.own() {
			if _, known := out[m.key]; !known && *left >= 0 {
				out[m.key] = m.value.bounded(left, depth+1)
			}
		}
		return out
	}
	return nil
}

func (v apiNode) scalar() any {
	switch v.n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		return v.truth()
	case "!!int", "!!float":
		n, err := strconv.ParseFloat(v.n.Value, 64)
		if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
			return v.n.Value // 0x1F, .inf: as it is written
		}
		if v.is("!!int") && math.Abs(n) >= 1<<53 {
			return exact(v.n.Value)
		}
		return n
	}
	return v.n.Value // dates too
}

// pointer walks a JSON pointer (RFC 6901), as a URI's fragment has it.
func (v apiNode) pointer(fragment string) (apiNode, bool) {
	if plain, err := url.PathUnescape(fragment); err == nil {
		fragment = plain
	}
	if fragment == "" || fragment == "/" {
		return v, true
	}
	if !strings.HasPrefix(fragment, "/") {
		return apiNode{}, false
	}
	for _, step := range strings.Split(fragment[1:], "/") {
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		next := v.resolved().find(step)
		if list := v.items(); !next.ok() && list != nil {
			if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(list) {
				next = list[i]
			}
		}
		if v = next.plain(); !v.ok() {
			return apiNode{}, false
		}
	}
	return v, true
}
