package load

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// steps wraps session steps into a whole scenario.
func steps(text string) string {
	return "version: 1\nname: t\nwarmup: 0s\nduration: 300ms\ntimeout: 10s\n" +
		"pools:\n  users:\n    generate: {from: 1, to: 1000}\n    fields: {login: \"user${n}\", password: \"pass${n}\"}\n" +
		"sessions:\n- name: s\n  draw: {user: users}\n  steps:\n" + indent(text, "  ")
}

func indent(text, by string) string {
	return by + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+by) + "\n"
}

func mustParse(t testing.TB, src string) *Scenario {
	t.Helper()
	s, err := Parse(filepath.Join(t.TempDir(), "scenario.yaml"), []byte(src))
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	return s
}

// The example of docs/reference/scenario.md is what people copy: it must be right.
func TestParseDocumentExample(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/scenario.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	example, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("docs/reference/scenario.md has no yaml example")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "words.csv"), []byte("w,lang\nkasoku,ja\nfast,en\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := Parse(filepath.Join(dir, "scenario.yaml"), []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "login" || s.Workload != 8 || s.Warmup != time.Second || s.Duration != 5*time.Second || s.Seed != 1 {
		t.Errorf("top level: %+v", s)
	}
	if len(s.sessions) != 2 || s.weights != 7 || len(s.pools) != 3 || len(s.assets) != 2 {
		t.Errorf("%d sessions of weight %d, %d pools, %d assets", len(s.sessions), s.weights, len(s.pools), len(s.assets))
	}
}

func TestParseWarmup(t *testing.T) {
	const rest = "\nversion: 1\nname: x\nsessions: [{steps: [{request: GET /}]}]\n"
	for text, want := range map[string]time.Duration{"auto": AutoWarmup, "2s": 2 * time.Second, "0s": 0} {
		if s := mustParse(t, "warmup: "+text+rest); s.Warmup != want {
			t.Errorf("%s: %s", text, s.Warmup)
		}
	}
	if _, err := Parse("s.yaml", []byte("warmup: soon"+rest)); err == nil || !strings.Contains(err.Error(), "or auto") {
		t.Error(err)
	}
}

// Omitted keys have the defaults that docs/reference/scenario.md names.
func TestParseDefaults(t *testing.T) {
	s := mustParse(t, "version: 1\nname: x\nsessions:\n- steps:\n  - request: GET /a?q=1\n")
	if s.Workload != 8 || s.Warmup != AutoWarmup || s.Duration != 5*time.Second || s.Timeout != 5*time.Second || s.Seed != 1 {
		t.Errorf("defaults: %+v", s)
	}
	if got := s.Routes(); len(got) != 1 || got[0] != "GET /a" {
		t.Errorf("routes %q", got)
	}
	if s.score.mismatch != 50 || s.score.error != 10 || s.score.timeout != 20 || s.score.weights[0] != 1 {
		t.Errorf("score %+v", s.score)
	}
}

func TestParseErrors(t *testing.T) {
	step := func(text string) string { return steps("- name: a\n  request: GET /\n" + indent(text, "  ")) }
	tests := []struct {
		name, src string
		line      string // "line:"; the wrapper's first step is at line 14
		want      []string
	}{
		{"empty file", "", "1:", []string{"empty"}},
		{"not YAML", "a: [", "1:", []string{"not valid YAML"}},
		{"two documents", "a: 1\n---\nb: 1\n", "1:", []string{"2 YAML documents"}},
		{"a list", "- a\n", "1:", []string{"must be keys with values, not a list"}},
		{"unknown key with a near one", "version: 1\nname: x\nworklod: 3\n", "3:", []string{`unknown key "worklod"`, `did you mean "workload"?`}},
		{"unknown key without", steps("- request: GET /\n  xyz: 1"), "15:", []string{`"xyz"`, "known are assets, body"}},
		{"no version", "name: x\n", "1:", []string{"version is missing", "write version: 1"}},
		{"future version", "version: 2\n", "1:", []string{"version is 2"}},
		{"no sessions", "version: 1\nname: x\n", "1:", []string{"sessions are missing"}},
		{"empty sessions", "version: 1\nname: x\nsessions: []\n", "3:", []string{"sessions is empty"}},
		{"key twice", "version: 1\nname: x\nname: y\n", "3:", []string{"name"}},
		{"null value", "version: 1\nname:\n", "2:", []string{"name has no value"}},
		{"text for number", "version: 1\nname: x\nworkload: many\n", "3:", []string{`workload must be a whole number, not the text "many"`}},
		{"number out of range", "version: 1\nname: x\nworkload: 0\n", "3:", []string{"workload is 0", "from 1 to"}},
		{"fraction", "version: 1\nname: x\nworkload: 1.5\n", "3:", []string{"whole number, not the number 1.5"}},
		{"duration without unit", "version: 1\nname: x\nduration: 5\n", "3:", []string{`duration is "5"`, "500ms"}},
		{"no duration", "version: 1\nname: x\nduration: 0s\n", "3:", []string{"duration is 0s", "from 1ms"}},
		{"merge key", "version: 1\nname: x\nscore: &s {}\npools:\n  <<: *s\n", "5:", []string{"merge keys"}},
		{"alias without anchor", "version: 1\nname: *x\n", "2:", []string{"x"}},

		{"pool without rows", "version: 1\nname: x\npools: {p: {fields: {a: b}}}\n", "3:", []string{"needs generate"}},
		{"pool of both kinds", "version: 1\nname: x\npools: {p: {generate: {to: 1}, file: x.csv, fields: {a: b}}}\n", "3:", []string{"both generate and file"}},
		{"pool range", "version: 1\nname: x\npools:\n  p:\n    generate: {from: 5, to: 4}\n    fields: {a: b}\n", "5:", []string{"to (4) is below from (5)"}},
		{"pool order", "version: 1\nname: x\npools: {p: {generate: {to: 4}, fields: {a: b}, order: shuffled}}\n", "3:", []string{"unique, random or sequential"}},
		{"pool expression", "version: 1\nname: x\npools: {p: {generate: {to: 4}, fields: {a: \"${n/0}\"}}}\n", "3:", []string{"${n/0} is unknown", "${n/K}"}},
		{"pool file", "version: 1\nname: x\npools: {p: {file: no.csv}}\n", "3:", []string{"no.csv", "relative to the scenario's folder"}},

		{"no request", steps("- name: a"), "14:", []string{"a has no request", "request: GET /"}},
		{"method", steps("- request: FETCH /"), "14:", []string{"does not begin with a method", "GET, HEAD"}},
		{"path", steps("- request: GET index.html"), "14:", []string{`"index.html" does not begin with /`}},
		{"full URL", steps("- request: GET http://h/"), "14:", []string{"without scheme and host"}},
		{"space in path", steps("- request: GET /a b"), "14:", []string{"%20"}},
		{"fragment", steps("- request: GET /a#b"), "14:", []string{"fragment"}},
		{"percent", steps("- request: GET /a%2"), "14:", []string{"%25"}},
		{"unknown variable", steps("- request: GET /${usr.login}"), "14:", []string{"unknown variable ${usr.login}", `did you mean "user.login"?`}},
		{"unknown field", steps("- request: GET /${user.name}"), "14:", []string{`pool users has no field "name"`, "login, password"}},
		{"no field", steps("- request: GET /${user}"), "14:", []string{"${user} needs a field", "${user.login}"}},
		{"open variable", steps("- request: GET /${user.login"), "14:", []string{"no closing }"}},
		{"used before extracted", steps("- request: GET /${tok}\n  extract: {tok: {header: X}}"), "14:", []string{"unknown variable ${tok}"}},
		{"unknown pool", step("draw: {v: people}"), "16:", []string{`there is no pool "people"`, "users"}},
		{"header", step("headers: {Content-Length: 3}"), "16:", []string{"Kasoku's own"}},
		{"header name", step("headers: {\"a b\": 3}"), "16:", []string{"cannot name a header"}},
		{"two bodies", steps("- request: POST /\n  form: {a: b}\n  body: x"), "16:", []string{"more than one of form, json, body and multipart"}},
		{"body of GET", step("form: {a: b}"), "16:", []string{"GET requests have no body"}},
		{"repeat", step("repeat: 0"), "16:", []string{"repeat is 0"}},
		{"then without follow", step("then: {status: 200}"), "16:", []string{"add follow: true"}},
		{"follow", step("follow: yes please"), "16:", []string{"must be true or false"}},
		{"status", step("expect: {status: 99}"), "16:", []string{"status is 99", "from 200 to 599"}},
		{"contains", step("expect: {contains: {a: b}}"), "16:", []string{"contains must be a text, not keys"}},
		{"regexp", step("expect: {regexp: '(a'}"), "16:", []string{"missing closing )", "RE2"}},
		{"regexp with variable", step("expect: {regexp: '${user.login}'}"), "16:", []string{"takes no ${variables}", "contains"}},
		{"sha256", step("expect: {sha256: abc}"), "16:", []string{"64 hexadecimal digits"}},
		{"json path", step("expect: {json: {a.b: 1}}"), "16:", []string{"does not begin with $"}},
		{"json path index", step("expect: {json: {\"$.a[x]\": 1}}"), "16:", []string{`wrong at "[x]"`}},
		{"set outside teardown", step("expect: {json_has_all: {$.a: \"@s\"}}"), "16:", []string{"for teardown"}},
		{"unknown set", steps("- request: GET /\n  record: {seen: x}") + "teardown:\n- request: GET /\n  expect: {json_has_all: {$.a: \"@sen\"}}\n", "18:", []string{"@sen is recorded nowhere", `did you mean "seen"?`}},
		{"set without @", steps("- request: GET /\n  record: {seen: x}") + "teardown:\n- request: GET /\n  expect: {json_has_all: {$.a: seen}}\n", "18:", []string{"write @ and the name"}},
		{"time without group", step("expect: {time: {regexp: at, layout: \"15:04\", near: a}}"), "16:", []string{"needs a group"}},
		{"time layout", step("expect: {time: {regexp: (at), layout: YYYY, near: a}}"), "16:", []string{"2006-01-02 15:04:05"}},
		{"time near", step("expect: {time: {regexp: (at), layout: \"15:04\", near: b}}"), "16:", []string{`near names "b"`, "known are a"}},
		{"time zone", step("expect: {time: {regexp: (at), layout: \"15:04\", near: a, zone: Mars}}"), "16:", []string{"zone", "UTC"}},
		{"step names", steps("- {name: a, request: GET /}\n- {name: a, request: GET /}"), "15:", []string{"two steps are named"}},
		{"asset with variable", step("assets: [\"/${user.login}.png\"]"), "16:", []string{"make it a step"}},
		{"extract", step("extract: {x: {}}"), "16:", []string{"needs regexp, header, json, css or cookie"}},
		{"weight of no route", steps("- request: GET /") + "score: {weights: {GET /x: 1}}\n", "15:", []string{`no step has the route "GET /x"`}},
		{"penalty", steps("- request: GET /") + "score: {penalty: {error: -1}}\n", "15:", []string{"from 0 to"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("s.yaml", []byte(tt.src))
			if err == nil {
				t.Fatalf("no error for\n%s", tt.src)
			}
			text := err.Error()
			if !strings.HasPrefix(text, "s.yaml:"+tt.line) {
				t.Errorf("error is not at s.yaml:%s\n%s\n%s", tt.line, text, tt.src)
			}
			for _, w := range tt.want {
				if !strings.Contains(text, w) {
					t.Errorf("error lacks %q:\n%s", w, text)
				}
			}
		})
	}
}

// Every mistake is told at once, each with its line.
func TestParseTellsAll(t *testing.T) {
	_, err := Parse("s.yaml", []byte(steps("- request: GET /${a}\n- request: GET /${b}\n  exect: 1")))
	if err == nil || strings.Count(err.Error(), "s.yaml:") != 3 {
		t.Errorf("want three errors, got %v", err)
	}
}

// A small file must not unfold to a large one.
func TestParseAliasBomb(t *testing.T) {
	var b strings.Builder
	b.WriteString("version: 1\nname: x\nsessions:\n- steps:\n  - request: POST /\n    json:\n      a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := range 9 {
		b.WriteString("      a" + string(rune('1'+i)) + ": &a" + string(rune('1'+i)) + " [" + strings.Repeat("*a"+string(rune('0'+i))+", ", 9) + "x]\n")
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := Parse("s.yaml", []byte(b.String())); err == nil || !strings.Contains(err.Error(), "aliases unfold") {
		t.Errorf("want an error about aliases, got %v", err)
	}
	runtime.ReadMemStats(&after)
	// Unfolded it has 10^10 words.
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
		t.Errorf("took %d bytes", took)
	}
}

func TestPoolFile(t *testing.T) {
	tests := []struct{ name, csv, want string }{
		{"right", "\xef\xbb\xbfa,b\n1,\"x,y\"\n2,z\n", ""},
		{"no rows", "a,b\n", "has no rows"},
		{"ragged", "a,b\n1\n", "wrong number of fields"},
		{"bad name", "a b\n1\n", "name fields with letters"},
		{"twice", "a,a\n1,2\n", "twice"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p pool
			err := p.readCSV(strings.NewReader(tt.csv))
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Fatalf("got %v", err)
				}
				return
			}
			if err != nil || p.rows != 2 || string(p.append(nil, 0, 1)) != "x,y" || string(p.append(nil, 1, 0)) != "2" {
				t.Errorf("%v %+v", err, p)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	if page, err := os.ReadFile("../../docs/reference/scenario.md"); err == nil {
		_, rest, _ := strings.Cut(string(page), "```yaml\n")
		example, _, _ := strings.Cut(rest, "```")
		f.Add([]byte(example))
	}
	f.Add([]byte(steps("- request: POST /${user.login}\n  json: {a: [1, 0x1f, .inf, null, true, \"${user.password}\"]}\n  extract: {t: {json: \"$.a[0]\"}}")))
	f.Add([]byte("version: 1\nname: &a x\nsessions: [*a]\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) > 4096 {
			return
		}
		s, err := Parse("s.yaml", src)
		if err == nil && (s == nil || len(s.sessions) == 0) {
			t.Error("no error and no sessions")
		}
		if err != nil && !strings.HasPrefix(err.Error(), "s.yaml:") {
			t.Errorf("error without its place: %v", err)
		}
	})
}
