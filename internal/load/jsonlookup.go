package load

import "encoding/json"

// JSONPath is a compiled path into a JSON document, such as $.items[0].name.
type JSONPath struct{ steps []jsonStep }

// ParseJSONPath compiles a path; the error says what to write.
func ParseJSONPath(s string) (JSONPath, error) {
	steps, err := parseJSONPath(s)
	return JSONPath{steps}, err
}

// Find returns the bytes of the value that the path leads to. It is false if
// there is none, or if doc is not JSON.
func (p JSONPath) Find(doc []byte) (value []byte, ok bool) {
	if !json.Valid(doc) {
		return nil, false
	}
	return findJSON(doc, p.steps)
}
