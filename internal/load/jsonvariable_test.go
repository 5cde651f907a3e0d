package load

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// What was taken from an answer is a text, and yet a number of the same digits in
// another answer equals it; part of a text, or another number, does not.
func TestJSONNumberEqualsAVariable(t *testing.T) {
	for _, c := range []struct {
		expect string
		wrong  string // what is told; "": right
	}{
		{`{"$.id": "${id}", "$.name": "${id}"}`, ""},
		{`{"$.id": "x${id}"}`, `$.id = "x7"`},
		{`{"$.other": "${id}"}`, `$.other = "7"`},
		{`{"$.id": "7"}`, `$.id = "7"`}, // written as a text
	} {
		src := steps("- request: GET /\n  extract: {id: {json: $.id}}\n- request: GET /\n  expect: {json: " + c.expect + "}\n")
		res := runAgainst(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"id": 7, "name": "7", "other": 70}`)
		}, src)
		switch {
		case c.wrong == "":
			wantRight(t, res)
		case res.Mismatches == 0 || !strings.Contains(res.Samples[0].Expected, c.wrong):
			t.Errorf("%s: %d mismatches, %+v", c.expect, res.Mismatches, res.Samples)
		}
	}
}
