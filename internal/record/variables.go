package record

import (
	"regexp"
	"strings"
)

// variables of a tool's file: names with values, which may hold others.
type variables struct {
	pattern *regexp.Regexp // its group is the name
	values  map[string]string
	// made gives a value to names that a tool makes up itself.
	made    map[string]string
	unknown func(name string, line int)
	long    func(line int) // tells a text that became too long
	spent   int            // bytes read to fill texts
}

const (
	// maxVariableDepth of values in values.
	maxVariableDepth = 10
	// maxFill bytes are read to fill one text, however often values hold others.
	maxFill = 1 << 20
	// maxFills bytes are read to fill all texts of a file.
	maxFills = 256 << 20
)

// fill puts values into a text. What is not known is told and stands as
// FILL-IN, and so does a text that becomes longer than a body may be.
func (v *variables) fill(text string, line int) string {
	if len(text) > maxRecordedBody || !v.pattern.MatchString(text) {
		return text
	}
	f := filling{variables: v, line: line, left: min(maxFill, maxFills-v.spent)}
	began := f.left
	whole := f.write(text, 0)
	v.spent += began - f.left
	if !whole {
		v.long(line)
		return fillIn
	}
	return f.String()
}

// filling of one text.
type filling struct {
	*variables
	strings.Builder
	line int
	left int // bytes that may still be read
}

// write a text with its values; false: there are too many.
func (f *filling) write(text string, depth int) bool {
	f.left -= len(text) + 1
	end := 0
	for _, at := range f.pattern.FindAllStringSubmatchIndex(text, -1) {
		f.WriteString(text[end:at[0]])
		end = at[1]
		name := strings.TrimSpace(text[at[2]:at[3]])
		value, known := f.values[name]
		made, isMade := f.made[name]
		switch {
		case f.left < 0 || f.Len() > maxRecordedBody:
			return false
		case known && depth < maxVariableDepth:
			if !f.write(value, depth+1) {
				return false
			}
		case isMade:
			f.WriteString(made)
		default:
			f.unknown(name, f.line)
			f.WriteString(fillIn)
		}
	}
	f.WriteString(text[end:])
	return f.left >= 0 && f.Len() <= maxRecordedBody
}

// address fills an address. A variable at its begin that is not known, such as
// {{baseUrl}}, is taken for the service.
func (v *variables) address(text string, line int) string {
	text = strings.TrimSpace(text)
	if at := v.pattern.FindStringSubmatchIndex(text); at != nil && at[0] == 0 {
		name := strings.TrimSpace(text[at[2]:at[3]])
		if _, known := v.values[name]; !known {
			return noOrigin + "/" + strings.TrimPrefix(v.fill(afterHost(text[at[1]:]), line), "/")
		}
	}
	return absolute(withoutUnknownPort(v.fill(text, line)))
}
