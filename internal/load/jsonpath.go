package load

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// jsonStep goes into an object (key) or an array (index ≥ 0).
type jsonStep struct {
	key   string
	index int // -1: key
}

// parseJSONPath compiles $.a.b[0]["c d"].
func parseJSONPath(s string) ([]jsonStep, error) {
	rest, ok := strings.CutPrefix(s, "$")
	if !ok {
		return nil, fmt.Errorf("path %q does not begin with $; write for example $.items[0].name", s)
	}
	steps := []jsonStep{}
	for rest != "" {
		var step jsonStep
		step, rest, ok = cutJSONStep(rest)
		if !ok {
			return nil, fmt.Errorf(`path %q is wrong at %q; write for example $.items[0].name or $["a b"]`, s, shorten(rest, 20))
		}
		steps = append(steps, step)
	}
	return steps, nil
}

func cutJSONStep(s string) (step jsonStep, rest string, ok bool) {
	if name, dotted := strings.CutPrefix(s, "."); dotted {
		end := strings.IndexAny(name, ".[")
		if end < 0 {
			end = len(name)
		}
		return jsonStep{key: name[:end], index: -1}, name[end:], end > 0
	}
	if !strings.HasPrefix(s, "[") {
		return step, s, false
	}
	if len(s) > 1 && (s[1] == '"' || s[1] == '\'') {
		end := strings.Index(s[2:], s[1:2]+"]")
		if end < 0 {
			return step, s, false
		}
		return jsonStep{key: s[2 : 2+end], index: -1}, s[end+4:], true
	}
	end := strings.IndexByte(s, ']')
	if end < 0 {
		return step, s, false
	}
	i, err := strconv.ParseUint(s[1:end], 10, 31)
	if err != nil {
		return step, s, false
	}
	return jsonStep{index: int(i)}, s[end+1:], true
}

// findJSON returns the bytes of the value that a path leads to, without
// decoding what is beside it. body must be valid JSON (json.Valid); on other
// bytes the result means nothing, but it does not panic.
func findJSON(body []byte, path []jsonStep) (value []byte, ok bool) {
	at := skipSpace(body, 0)
	for _, step := range path {
		if at >= len(body) {
			return nil, false
		}
		found := -1
		eachJSON(body, at, func(i int, key []byte, from, _ int) bool {
			if step.index >= 0 && key == nil && i == step.index || step.index < 0 && key != nil && sameKey(key, step.key) {
				found = from
			}
			return found < 0
		})
		if found < 0 {
			return nil, false
		}
		at = found
	}
	end := skipValue(body, at)
	if at >= end {
		return nil, false
	}
	return body[at:end], true
}

// eachJSON calls do for the members of the object or array at from, until it
// returns false. key is a member's quoted name, nil in arrays.
func eachJSON(body []byte, at int, do func(i int, key []byte, from, to int) bool) {
	if at >= len(body) || body[at] != '{' && body[at] != '[' {
		return
	}
	object := body[at] == '{'
	at = skipSpace(body, at+1)
	for i := 0; at < len(body) && body[at] != '}' && body[at] != ']'; i++ {
		var key []byte
		if object {
			end := skipValue(body, at)
			key = body[at:end]
			at = skipSpace(body, skipSpace(body, end)+1) // the colon
		}
		end := skipValue(body, at)
		if end > len(body) || at >= end || !do(i, key, at, end) {
			return
		}
		if at = skipSpace(body, end); at < len(body) && body[at] == ',' {
			at = skipSpace(body, at+1)
		}
	}
}

// sameKey compares a quoted JSON name with a text.
func sameKey(quoted []byte, text string) bool {
	if len(quoted) < 2 {
		return false
	}
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1:len(quoted)-1]) == text
	}
	var s string
	return json.Unmarshal(quoted, &s) == nil && s == text
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// skipValue is the index behind the value at i; at most len(b).
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return len(b)
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		for depth := 0; i < len(b); i++ {
			switch b[i] {
			case '"':
				i = skipString(b, i) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
		return len(b)
	}
	for i < len(b) && !bytes.ContainsRune([]byte(",]} \n\r\t"), rune(b[i])) {
		i++
	}
	return i
}

func skipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// jsonString is the text of a scalar: a string without quotes and escapes,
// anything else as written.
func jsonString(value []byte) []byte {
	if len(value) < 2 || value[0] != '"' {
		return value
	}
	if bytes.IndexByte(value, '\\') < 0 {
		return value[1 : len(value)-1]
	}
	var s string
	if json.Unmarshal(value, &s) != nil {
		return value
	}
	return []byte(s)
}

// sameJSON compares two values by meaning: 1 equals 1.0, the order of an
// object's keys does not count.
func sameJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	return reflect.DeepEqual(x, y)
}
