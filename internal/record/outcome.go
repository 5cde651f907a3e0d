package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// outcome is the field of a JSON object by which a service says whether it did what it was
// asked for, with whatever status the answer has: {"errno": 501} comes with status 200.
type outcome struct {
	field string
	value string // as JSON writes it
	good  bool   // the answer says that all is well
}

// Names of such fields in small letters, without _ and -; those of a code, of an error's
// code, and of a truth. Most telling first.
var (
	errorCodes = []string{"errno", "errcode", "errorcode", "errornumber", "retcode", "resultcode", "returncode", "respcode"}
	codes      = []string{"code", "statuscode", "ret", "rc", "status", "result"}
	truths     = []string{"success", "successful", "succeeded", "issuccess", "ok"}
)

// goodCodes are what services say of success: none of an error, HTTP's, and words.
var goodCodes = []string{"0", "200", "20000", `"0"`, `"00"`, `"000"`, `"0000"`, `"00000"`, `"000000"`, `"200"`,
	`"ok"`, `"OK"`, `"Ok"`, `"success"`, `"SUCCESS"`, `"Success"`, "true"}

// messages stand beside a code that says little by itself.
var messages = []string{"msg", "message", "info", "errmsg", "errormessage", "error", "errors", "data"}

// outcomeOf finds it in an answer's body. A field named like an error's code says by another
// value than 0 that something failed; one named like a truth by false; any other is taken
// only where it says that all is well, and something beside it tells that it is of the answer
// and not of what was asked for (an order has a status, too).
func outcomeOf(body string) (outcome, bool) {
	fields, ok := scalars(body)
	if !ok {
		return outcome{}, false
	}
	find := func(names []string) (outcome, bool) {
		for _, name := range names {
			for _, f := range fields {
				if plainName(f.field) == name && f.value != "" {
					return f, true
				}
			}
		}
		return outcome{}, false
	}
	if f, ok := find(errorCodes); ok && f.value != "null" {
		f.good = slices.Contains(goodCodes, f.value)
		return f, true
	}
	if f, ok := find(truths); ok && (f.value == "true" || f.value == "false") {
		f.good = f.value == "true"
		return f, true
	}
	beside := slices.ContainsFunc(fields, func(f outcome) bool { return slices.Contains(messages, plainName(f.field)) })
	if f, ok := find(codes); ok && beside && slices.Contains(goodCodes, f.value) {
		f.good = true
		return f, true
	}
	return outcome{}, false
}

func plainName(field string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(field))
}

// longestOutcome bytes of a value.
const longestOutcome = 40

// scalars are the fields of a JSON object in their order; those that hold objects, lists and
// long texts have no value. false: it is no object.
func scalars(body string) (out []outcome, ok bool) {
	d := json.NewDecoder(bytes.NewReader([]byte(body)))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		t, err := d.Token()
		name, isName := t.(string)
		var raw json.RawMessage
		if err != nil || !isName || d.Decode(&raw) != nil {
			return nil, false
		}
		value := string(raw)
		if value == "" || strings.ContainsRune("{[", rune(value[0])) || len(value) > longestOutcome {
			value = ""
		}
		if plainKey.MatchString(name) {
			out = append(out, outcome{field: name, value: value})
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, false
	}
	return out, true
}

// path of the field.
func (o outcome) path() string { return "$." + o.field }

// outcome has a step expect what the recorded answer says of itself; false: it says nothing.
func (h *harDraft) outcome(m *made) bool {
	e := m.entry
	if h.client || !strings.HasSuffix(e.answerType(), "json") || e.Request.Method == "HEAD" {
		return false
	}
	o, ok := outcomeOf(e.body)
	if !ok {
		return false
	}
	value := o.value
	if strings.HasPrefix(value, `"`) {
		text, err := strconv.Unquote(value)
		if err != nil {
			return false
		}
		value = double(literal(text))
	}
	m.step.equals = pair{o.path(), value}
	if !o.good {
		h.once(fmt.Sprintf("%s was refused when it was recorded: its answer says %s %s. That is what its step expects; record it again, or put right what it should be.",
			shownRequest(&m.step), o.field, shortText(o.value, longestOutcome)))
	}
	return true
}
