package load

import (
	"strings"
	"testing"
)

// What a person must still fill in is told, with its place.
func TestFillInIsTold(t *testing.T) {
	s := mustParse(t, `version: 1
name: drafted
sessions:
- name: visit
  steps:
  - {name: one, request: GET /a/FILL-IN/b, headers: {Authorization: Bearer FILL-IN}, expect: {contains: x}}
  - {name: two, request: POST /b, json: {k: [FILL-IN]}, expect: {contains: x}}
  - {name: login, request: POST /login, form: {user: me, password: masked}, expect: {contains: x}}
  - {name: three, request: GET /c, expect: {contains: FILL-IN}}
`)
	told := strings.Join(s.Summary().Warnings, "\n")
	for _, want := range []string{"visit: one still has FILL-IN in its address and its headers: ", "visit: two still has FILL-IN in its body: ",
		"visit: login still has masked in its body, which stands for a secret that was not taken over: "} {
		if !strings.Contains(told, want) {
			t.Errorf("not told: %s\n%s", want, told)
		}
	}
	if strings.Contains(told, "three") {
		t.Errorf("told of what is only expected:\n%s", told)
	}
}
