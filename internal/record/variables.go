package record

import (
	"regexp"
	"slices"
	"strings"
)

// variables of a tool's file: names with values, which may hold others.
type variables struct {
	pattern *regexp.Regexp // its group is the name
	values  map[string]string
	// made gives a value to names that a tool makes up itself.
	made    map[string]string
	unknown func(name string, line int)
}

// maxVariableDepth of values in values.
const maxVariableDepth = 10

// fill puts values into a text. What is not known is told and stands as
// FILL-IN.
func (v *variables) fill(text string, line int) string { return v.filled(text, line, 0) }

func (v *variables) filled(text string, line, depth int) string {
	if len(text) > maxRecordedBody || depth > maxVariableDepth {
		return text
	}
	return v.pattern.ReplaceAllStringFunc(text, func(found string) string {
		name := strings.TrimSpace(v.pattern.FindStringSubmatch(found)[1])
		if value, ok := v.values[name]; ok {
			return v.filled(value, line, depth+1)
		}
		if value, ok := v.made[name]; ok {
			return value
		}
		v.unknown(name, line)
		return fillIn
	})
}

// address fills an address. A variable at its begin that is not known, such as
// {{baseUrl}}, is taken for the service.
func (v *variables) address(text string, line int) string {
	text = strings.TrimSpace(text)
	if at := v.pattern.FindStringSubmatchIndex(text); at != nil && at[0] == 0 {
		name := strings.TrimSpace(text[at[2]:at[3]])
		if _, known := v.values[name]; !known {
			return "http://service.invalid/" + strings.TrimPrefix(v.fill(text[at[1]:], line), "/")
		}
	}
	return absolute(v.fill(text, line))
}

// names that were not known, each once.
type nameList []string

func (l *nameList) add(name string) {
	if !slices.Contains(*l, name) {
		*l = append(*l, name)
	}
}
