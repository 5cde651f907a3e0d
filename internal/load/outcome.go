package load

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Outcome is the field of a JSON object by which a service says whether it did what it was
// asked for, with whatever status the answer has: {"errno": 501} comes with status 200.
type Outcome struct {
	Field string `json:"field"`
	Value string `json:"value"` // as JSON writes it
	Good  bool   `json:"good"`  // the answer says that all is well
}

// Names of such fields in small letters, without _ and -; those of a code, of an error's
// code, and of a truth. Most telling first.
var (
	errorCodes = []string{"errno", "errcode", "errorcode", "errornumber", "retcode", "resultcode", "returncode", "respcode"}
	codes      = []string{"code", "statuscode", "ret", "rc", "status", "result"}
	truths     = []string{"success", "successful", "succeeded", "issuccess", "ok"}
	statWords  = []string{"stat"} // with "ok" or "fail", as Flickr's API and many after it have it
)

// goodCodes are what services say of success: none of an error, HTTP's, and words.
var goodCodes = []string{"0", "200", "20000", `"0"`, `"00"`, `"000"`, `"0000"`, `"00000"`, `"000000"`, `"200"`,
	`"ok"`, `"OK"`, `"Ok"`, `"success"`, `"SUCCESS"`, `"Success"`, "true"}

// messages stand beside a code that says little by itself.
var messages = []string{"msg", "message", "info", "errmsg", "errormessage", "error", "errors", "data"}

// OutcomeOf finds it in the body of an answer; false: nothing there says so. A field named
// like an error's code says by another value than 0 that something failed; one named like a
// truth by false; any other is taken
// only where it says that all is well, and something beside it tells that it is of the answer
// and not of what was asked for (an order has a status, too).
func OutcomeOf(body []byte) (Outcome, bool) {
	fields, ok := scalars(body)
	if !ok {
		return Outcome{}, false
	}
	find := func(names []string) (Outcome, bool) { return fieldOf(fields, names) }
	if f, ok := find(errorCodes); ok && f.Value != "null" {
		f.Good = slices.Contains(goodCodes, f.Value)
		return f, true
	}
	if f, ok := find(truths); ok && (f.Value == "true" || f.Value == "false") {
		f.Good = f.Value == "true"
		return f, true
	}
	if f, ok := find(statWords); ok && (f.Value == `"ok"` || f.Value == `"fail"`) {
		f.Good = f.Value == `"ok"`
		return f, true
	}
	beside := slices.ContainsFunc(fields, func(f Outcome) bool { return slices.Contains(messages, plainName(f.Field)) })
	if f, ok := find(codes); ok && beside && slices.Contains(goodCodes, f.Value) {
		f.Good = true
		return f, true
	}
	return Outcome{}, false
}

// fieldOf is the first field that has one of the names and a value, most telling name first.
func fieldOf(fields []Outcome, names []string) (Outcome, bool) {
	for _, name := range names {
		for _, f := range fields {
			if plainName(f.Field) == name && f.Value != "" {
				return f, true
			}
		}
	}
	return Outcome{}, false
}

func plainName(field string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(field))
}

// longestOutcome bytes of a value.
const longestOutcome = 40

// scalars are the fields of a JSON object in their order; those that hold objects, lists and
// long texts have no value. false: it is no object.
func scalars(body []byte) (out []Outcome, ok bool) {
	d := json.NewDecoder(bytes.NewReader(body))
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
		if plainField(name) {
			out = append(out, Outcome{Field: name, Value: value})
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, false
	}
	return out, true
}

// plainField: a name that can stand in a path after a dot.
func plainField(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return !isNameByte(byte(r)) || r >= 0x80 })
}

// looksPerRoute is how many answers of a route a user looks at: what all answers say, the
// first ones say, too.
const looksPerRoute = 8

// Refusal is what answers of a route say of themselves that count as right: that they failed.
type Refusal struct {
	Route   string `json:"route"`
	Outcome        // of the first one
	Looked  int64  `json:"looked"` // answers that were looked at
	Count   int64  `json:"count"`  // of them refused
}

// String says it and what to do.
func (r *Refusal) String() string {
	return fmt.Sprintf("%s: %d of %d answers that were looked at say %s %s, and count as right; if they failed, have the step expect {json: {$.%s: …}}",
		r.Route, r.Count, r.Looked, r.Field, r.Value, r.Field)
}

// lookOutcome looks at a right answer whose step expects nothing of its JSON.
func (u *user) lookOutcome(st *step) {
	if len(st.expect.json) > 0 || u.route < 0 || u.route >= len(u.run.opts.Scenario.routes) || len(u.text) == 0 || u.text[0] != '{' {
		return
	}
	if u.refusals == nil {
		u.refusals = make([]Refusal, len(u.run.opts.Scenario.routes))
	}
	r := &u.refusals[u.route]
	if r.Looked == looksPerRoute {
		return
	}
	r.Looked++
	if o, ok := OutcomeOf(u.text); ok && !o.Good {
		if r.Count++; r.Count == 1 {
			r.Outcome = o
		}
	}
}

// refusalsOf sums what all users saw; the routes with most of them first.
func refusalsOf(users []*user, routes []string) []Refusal {
	sum := make([]Refusal, len(routes))
	for _, u := range users {
		for i := range u.refusals {
			r := &u.refusals[i]
			if sum[i].Looked += r.Looked; sum[i].Count == 0 {
				sum[i].Outcome = r.Outcome
			}
			sum[i].Count += r.Count
			sum[i].Route = routes[i]
		}
	}
	sum = slices.DeleteFunc(sum, func(r Refusal) bool { return r.Count == 0 })
	slices.SortStableFunc(sum, func(a, b Refusal) int { return cmp.Compare(b.Count, a.Count) })
	return sum
}
