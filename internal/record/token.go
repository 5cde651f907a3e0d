package record

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"kasoku/internal/lazyregexp"
)

const (
	// minToken: shorter texts occur in pages by chance.
	minToken = 6
	// minRandom: a text without a telling name must be longer, and look random.
	minRandom = 16
	// maxBefore bytes before a value make the pattern that finds it again.
	maxBefore = 120
)

// tokenWords in names of values that a server gives out to get back.
var tokenWords = []string{"token", "csrf", "xsrf", "nonce", "authenticity", "viewstate", "eventvalidation", "state", "verification", "signature", "ticket", "form_id", "form_build_id"}

// variable finds out whether a value came from an earlier answer of the
// session. Then that step extracts it, and this place refers to it.
func (h *harDraft) variable(name, value string) (reference string, found bool) {
	if len(value) < minToken || !h.isToken(name, value) {
		return "", false
	}
	for _, m := range slices.Backward(h.steps) {
		for _, x := range m.step.extract {
			if x.value == value {
				return "${" + x.name + "}", true
			}
		}
		if x, ok := extraction(m.entry, name, value); ok {
			x.name, x.value = h.vars.unique(name), value
			m.step.extract = append(m.step.extract, x)
			return "${" + x.name + "}", true
		}
	}
	if reference, found := h.cookieToken(name, value); found {
		return reference, true
	}
	if slices.ContainsFunc(tokenWords[:4], func(w string) bool { return strings.Contains(strings.ToLower(name), w) }) {
		h.once(h.tokenNote(name))
	}
	return "", false
}

// tokenNote tells of a token that no earlier answer gave out.
func (h *harDraft) tokenNote(name string) string {
	name = shortText(name, 60)
	if h.client {
		return name + " looks like a token that the service gives out: take it from an earlier answer with extract:, or fill it in; what stands there may be refused."
	}
	return name + " looks like a token, but no earlier answer in the HAR holds its value: it stands as recorded or masked, and may be refused."
}

func (h *harDraft) once(note string) {
	if !h.dedupe[note] {
		h.dedupe[note] = true
		h.notes = append(h.notes, note)
	}
}

// isToken: a value that the server chose, by the field's name, by a hidden
// input of that name, or by its look.
func (h *harDraft) isToken(name, value string) bool {
	lower := strings.ToLower(name)
	if slices.ContainsFunc(tokenWords, func(w string) bool { return strings.Contains(lower, w) }) {
		return true
	}
	for _, m := range h.steps {
		if hiddenInput(m.entry.body, name, value) {
			return !isChoice(value) || fieldPattern(m.entry.body, name, value) != ""
		}
	}
	digits := strings.ContainsFunc(value, unicode.IsDigit)
	letters := strings.ContainsFunc(value, unicode.IsLetter)
	return len(value) >= minRandom && digits && letters && !strings.ContainsAny(value, " @,;")
}

// isChoice: a word as programs have for what a form does (do_login, save-draft), which is
// the same for everybody. It is taken of an answer only by the field's own name.
func isChoice(value string) bool {
	return !strings.ContainsFunc(value, func(r rune) bool { return (r < 'a' || r > 'z') && r != '_' && r != '-' })
}

var hiddenTag = lazyregexp.New(`(?is)<input\b[^>]*type\s*=\s*["']?hidden[^>]*>`)

func hiddenInput(body, name, value string) bool {
	if !strings.Contains(body, value) {
		return false
	}
	for _, tag := range hiddenTag.FindAllString(body, -1) {
		if strings.Contains(tag, `"`+name+`"`) && strings.Contains(tag, `"`+value+`"`) {
			return true
		}
	}
	return false
}

// extraction finds a value in an answer: by its path in JSON, by the field of a form that
// has the name it is sent by, else by the text before it.
func extraction(e *harEntry, name, value string) (extract, bool) {
	if !strings.Contains(e.body, value) {
		return extract{}, false
	}
	if strings.HasSuffix(e.answerType(), "json") {
		if path := jsonPath(e.body, value); path != "" {
			return extract{json: path}, true
		}
	}
	if re := fieldPattern(e.body, name, value); re != "" {
		return extract{regexp: re}, true
	}
	for from := 0; ; {
		at := strings.Index(e.body[from:], value)
		if at < 0 {
			return extract{}, false
		}
		at += from
		if re := patternAt(e.body, value, at); re != "" {
			return extract{regexp: re}, true
		}
		from = at + len(value)
	}
}

// fieldPattern finds a value as that of the first input with this name, whichever of its
// attributes comes first; "" if there is none. What stands around the input may change: a
// page of another visitor has other fields before it.
func fieldPattern(body, name, value string) string {
	for _, tag := range inputTag.FindAllString(body, -1) {
		named, valued := attribute(tag, "name", name), attribute(tag, "value", value)
		if named == nil || valued == nil {
			continue
		}
		quote := tag[valued[1]-1 : valued[1]]
		class := `([^\s>]+)`
		if quote == `"` || quote == "'" {
			class = "([^" + quote + "]+)" + quote
		}
		group := regexp.QuoteMeta(tag[valued[0]:valued[2]]) + class
		re := regexp.QuoteMeta(tag[named[0]:named[1]]) + `\s[^>]*?` + group
		if valued[0] < named[0] {
			re = group + `\s[^>]*?` + regexp.QuoteMeta(tag[named[0]:named[1]])
		}
		if c, err := regexp.Compile(re); err == nil {
			if m := c.FindStringSubmatch(body); m != nil && m[1] == value {
				return re
			}
		}
	}
	return ""
}

var inputTag = lazyregexp.New(`(?is)<input\b[^>]*>`)

// attribute finds name=text in a tag: where it begins and ends, and where its text begins
// (behind a quote); nil if the tag has none.
func attribute(tag, name, text string) []int {
	text = regexp.QuoteMeta(text)
	re, err := regexp.Compile(`(?i)\s(` + name + `\s*=\s*(?:"(` + text + `)"|'(` + text + `)'|(` + text + `)\b))`)
	if err != nil {
		return nil
	}
	at := re.FindStringSubmatchIndex(tag)
	if at == nil {
		return nil
	}
	return []int{at[2], at[3], max(at[4], at[6], at[8])}
}

// patternAt makes the shortest pattern of whole words before a value that
// finds this value first; "" if there is none.
func patternAt(body, value string, at int) string {
	end := at + len(value)
	class := `[^"'<>&\s]+`
	if end < len(body) && strings.IndexByte(`"'`, body[end]) >= 0 {
		class = `[^` + body[end:end+1] + `]+`
	}
	begin := max(0, at-maxBefore)
	if cut := strings.LastIndexAny(body[begin:at], "\r\n"); cut >= 0 {
		begin += cut + 1
	}
	for start := at - 1; start >= begin; start-- {
		if start > begin && isWordByte(body[start]) && isWordByte(body[start-1]) {
			continue // within a word
		}
		re, err := regexp.Compile(regexp.QuoteMeta(body[start:at]) + "(" + class + ")")
		if err != nil {
			return ""
		}
		// A bare quote or tag would match as soon as the page changes: at least
		// a word must stand before the value.
		if m := re.FindStringSubmatch(body); m != nil && m[1] == value && strings.ContainsFunc(body[start:at], unicode.IsLetter) {
			return re.String()
		}
	}
	return ""
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// plainKey can stand in a path after a dot.
var plainKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func findText(v any, value, path string, depth int) string {
	if depth > maxJSONDepth {
		return ""
	}
	switch v := v.(type) {
	case string:
		if v == value {
			return path
		}
	case json.Number:
		if v.String() == value {
			return path
		}
	case []any:
		for i, e := range v {
			if p := findText(e, value, fmt.Sprintf("%s[%d]", path, i), depth+1); p != "" {
				return p
			}
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			step := "." + k
			if !plainKey.MatchString(k) {
				if strings.ContainsAny(k, `"]`) {
					continue
				}
				step = `["` + k + `"]`
			}
			if p := findText(v[k], value, path+step, depth+1); p != "" {
				return p
			}
		}
	}
	return ""
}
