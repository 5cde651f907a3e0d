package load

import (
	"bytes"
	"strings"
)

// FillIn stands in a scenario made of another file where a person must write a
// value.
const FillIn = "FILL-IN"

// MaskedSecret stands in a scenario made of another file for a secret of that file.
const MaskedSecret = "masked"

// stillHas names the places of a step that hold a placeholder: "its address",
// "its headers", "its body".
func (st *step) stillHas(placeholder string) []string {
	var out []string
	for _, p := range []struct {
		name string
		text *template
	}{{"its address", &st.path}, {"its headers", &st.headers}, {"its body", &st.body}} {
		if p.text.holds(placeholder) {
			out = append(out, p.name)
		}
	}
	return out
}

// holds tells whether a literal of the template has the text.
func (t *template) holds(text string) bool {
	for i := range t.parts {
		if t.parts[i].slot < 0 && bytes.Contains(t.parts[i].literal, []byte(text)) {
			return true
		}
	}
	return false
}

// fillWarnings are about values that nobody has filled in: the service refuses
// such a request, or answers it otherwise than a real one.
func (s *Scenario) fillWarnings(warn func(format string, args ...any)) {
	for _, v := range s.visits() {
		for i := range v.steps {
			if where := v.steps[i].stillHas(MaskedSecret); len(where) > 0 {
				warn("%s: %s still has %s in %s, which stands for a secret that was not taken over: write the value of a test account there, or draw it from a pool", v.name, v.steps[i].name, MaskedSecret, strings.Join(where, " and "))
			}
			if where := v.steps[i].stillHas(FillIn); len(where) > 0 {
				warn("%s: %s still has %s in %s: write a value there, or extract one in an earlier step", v.name, v.steps[i].name, FillIn, strings.Join(where, " and "))
			}
		}
	}
}
