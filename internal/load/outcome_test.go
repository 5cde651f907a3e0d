package load

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestOutcomeOf(t *testing.T) {
	for body, want := range map[string]string{
		`{"errno": 0, "data": []}`:                     "errno 0 true",
		`{"errno":501,"errmsg":"log in"}`:              "errno 501 false",
		`{"error_code":"0","list":[1]}`:                `error_code "0" true`,
		`{"data":{},"success":true}`:                   "success true true",
		`{"success":false,"message":"no"}`:             "success false false",
		`{"code":200,"msg":"ok","data":null}`:          "code 200 true",
		`{"status":"success","data":{"id":1}}`:         `status "success" true`,
		`{"msg":"","code":"00000"}`:                    `code "00000" true`,
		`{"id":5,"status":"shipped","data":1}`:         "",
		`{"code":"EUR","message":"x"}`:                 "",
		`{"status":"ok"}`:                              "",
		`{"stat":"fail","err":{"code":105}}`:           `stat "fail" false`,
		`{"review":{},"stat":"ok"}`:                    `stat "ok" true`,
		`{"stat":7,"of":"ok"}`:                         "",
		`{"errno":null}`:                               "",
		`{"success":{"a":1}}`:                          "",
		`[{"errno":0}]`:                                "",
		`{"errno":0`:                                   "",
		`{"result":{"code":0},"ok":"yes","code":1234}`: "",
	} {
		got := ""
		if o, ok := OutcomeOf([]byte(body)); ok {
			got = fmt.Sprint(o.Field, " ", o.Value, " ", o.Good)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

// Answers with status 200 that say they failed are told, unless the step looks at that itself.
func TestRefusalsAreTold(t *testing.T) {
	res := runAgainst(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/good":
			fmt.Fprint(w, `{"errno":0}`)
		case "/bad", "/expected":
			fmt.Fprint(w, `{"errno":501,"errmsg":"log in"}`)
		}
	}, steps("- request: GET /good\n- request: POST /bad\n- request: POST /expected\n  expect: {json: {$.errno: 501}}\n- request: GET /empty\n"))
	wantRight(t, res)
	if len(res.Refusals) != 1 || res.Refusals[0].Route != "POST /bad" || res.Refusals[0].Count == 0 || res.Refusals[0].Count != res.Refusals[0].Looked {
		t.Fatalf("%+v", res.Refusals)
	}
	if got := res.Refusals[0].String(); !strings.Contains(got, "say errno 501, and count as right") {
		t.Error(got)
	}
}
