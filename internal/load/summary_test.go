package load

import (
	"io"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

func TestSummary(t *testing.T) {
	s := mustParse(t, `version: 1
name: shop
workload: 4
pools:
  users: {generate: {to: 100}, fields: {login: "u${n}"}}
  few: {generate: {to: 2}, fields: {a: "${n}"}}
  idle: {generate: {to: 9}, fields: {a: "${n}"}}
sessions:
- name: buy
  weight: 3
  draw: {user: users, f: few}
  steps:
  - {name: page, request: "GET /${user.login}", route: GET /user, assets: [auto, /a.css], expect: {type: text/html, contains: [a, b], size: 3}}
  - {name: order, request: "POST /buy", form: {x: "${f.a}"}, repeat: 2, follow: true, then: {contains: thanks}}
- name: look
  draw: {v: users}
  steps:
  - {name: bare, request: GET /bare}
  - {name: head, request: HEAD /bare}
teardown:
- {name: report, request: GET /report, expect: {json: {$.a: 1}}}
score: {weights: {POST /buy: 5}}
`)
	got := s.Summary()
	if got.Name != "shop" || got.Workload != 4 || len(got.Sessions) != 2 || got.Sessions[0].Share != 0.75 || len(got.Teardown) != 1 || len(got.Setup) != 0 {
		t.Errorf("%+v", got)
	}
	page, order := got.Sessions[0].Steps[0], got.Sessions[0].Steps[1]
	if page.Route != "GET /user" || page.Checks != 4 || page.Assets != 1 || !page.AutoAssets || order.Checks != 1 || order.Repeat != 2 {
		t.Errorf("%+v %+v", page, order)
	}
	if p := got.Pools[0]; p.Rows != 100 || p.Draws != 2 || p.Fields[0] != "login" {
		t.Errorf("%+v", p)
	}
	for _, r := range got.Routes {
		if want := map[bool]float64{true: 5, false: 1}[r.Label == "POST /buy"]; r.Weight != want {
			t.Errorf("%+v", r)
		}
	}
	want := []string{"look: bare checks only the status", "pool idle: no session or step draws from it", "buy: the pool few has 2 rows for 4 users", "look: draws from the pool users, but uses no field"}
	if len(got.Warnings) != len(want) {
		t.Errorf("%q", got.Warnings)
	}
	for _, w := range want {
		if !strings.Contains(strings.Join(got.Warnings, "\n"), w) {
			t.Errorf("no warning %q in %q", w, got.Warnings)
		}
	}
}

// The first requests are what the seed gives, and the same each time.
func TestPreview(t *testing.T) {
	src := steps("- {name: a, request: \"GET /${user.login}\", assets: /a.css, extract: {id: {header: X}}}\n- {name: b, request: \"POST /b/${id}\", repeat: 2, form: {p: \"${user.password}\"}}")
	s := mustParse(t, src)
	got, err := s.Preview(6)
	if err != nil || len(got) != 6 {
		t.Fatal(err, len(got))
	}
	again, _ := mustParse(t, src).Preview(6)
	if strings.Join(got, "\n") != strings.Join(again, "\n") {
		t.Error("differs from one time to the next")
	}
	other, _ := mustParse(t, "seed: 2\n"+src).Preview(6)
	if strings.Join(got, "\n") == strings.Join(other, "\n") {
		t.Error("another seed gives the same")
	}
	row := regexp.MustCompile(`^GET /user(\d+) HTTP/1.1\r\nHost: target\r\n`).FindStringSubmatch(got[0])
	if row == nil {
		t.Fatalf("%q", got[0])
	}
	for i, want := range []string{"GET /user" + row[1] + " ", "GET /a.css ", "POST /b/extracted-id ", "POST /b/extracted-id ", "GET /user"} {
		if !strings.HasPrefix(got[i], want) {
			t.Errorf("request %d: %q, want %q", i, got[i], want)
		}
	}
	if !strings.HasSuffix(got[2], "\r\n\r\np=pass"+row[1]) || strings.HasPrefix(got[4], got[0][:len("GET /user"+row[1]+" ")]) {
		t.Errorf("%q %q", got[2], got[4])
	}
	for _, n := range []int{0, 1, 3} {
		if got, err := s.Preview(n); err != nil || len(got) != n {
			t.Errorf("%d: %d requests, %v", n, len(got), err)
		}
	}
}

// The preview is what a run of one user sends.
func TestPreviewIsWhatIsSent(t *testing.T) {
	src := strings.Replace(steps("- {name: a, request: \"GET /${user.login}\", assets: /x.css}\n- {name: b, request: POST /b, draw: {w: users}, repeat: 2, form: {p: \"${w.password}\"}}"),
		"duration: 300ms", "duration: 100ms", 1) + "- {name: other, weight: 2, steps: [{request: GET /other}]}\n"
	src = strings.Replace(src, "version: 1", "version: 1\nworkload: 1", 1)
	const n = 20
	previews, err := mustParse(t, src).Preview(n)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var sent []string
	runAgainst(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		sent = append(sent, r.Method+" "+r.URL.RequestURI()+" "+string(body))
	}, src, func(o *Options) { o.Workload = 1 })
	mu.Lock() // the last request may still be with the server
	sent = slices.Clone(sent)
	mu.Unlock()
	if len(sent) < n {
		t.Fatalf("only %d requests", len(sent))
	}
	for i, p := range previews {
		line, _, _ := strings.Cut(p, " HTTP/1.1\r\n")
		_, body, _ := strings.Cut(p, "\r\n\r\n")
		if got := line + " " + body; got != sent[i] {
			t.Errorf("request %d: preview %q, sent %q", i, got, sent[i])
		}
	}
}

func TestStarter(t *testing.T) {
	s := compiledSchema(t)
	for address, want := range map[string]string{"/": "GET /", "http://127.0.0.1:8080": "GET /", "https://shop.test/a/b?x=1#f": "GET /a/b",
		"/é ü": "GET /%C3%A9%20%C3%BC", "/a?q=ü&x=${y}": "GET /a", `/"x"`: "GET /%22x%22"} {
		text, err := Starter(address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		sc, err := Parse("s.yaml", []byte(text))
		if err != nil {
			t.Errorf("%s: %v\n%s", address, err, text)
			continue
		}
		if err := validate(s, []byte(text)); err != nil {
			t.Errorf("%s: %v", address, err)
		}
		if got := sc.Routes()[0]; got != want {
			t.Errorf("%s: route %q, want %q", address, got, want)
		}
	}
	for _, address := range []string{"", "shop", "ftp://x/", "mailto:a@b", "http://[::1", "/a%zz"} {
		if text, err := Starter(address); err == nil {
			t.Errorf("%q gives\n%s", address, text)
		}
	}
}

// Every kind of check is counted: one that is new must be added to checks.
func TestChecksCountsAll(t *testing.T) {
	about := map[string]string{"statuses": "the status", "redirect": "the status", "needBody": "how others are done", "mask": "what golden leaves out"}
	typ := reflect.TypeOf(expectation{})
	for i := range typ.NumField() {
		e := expectation{size: -1}
		f := reflect.ValueOf(&e).Elem().Field(i)
		f = reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
		switch f.Kind() {
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		case reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
		case reflect.String:
			f.SetString("x")
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Int, reflect.Int64:
			f.SetInt(1)
		default:
			t.Errorf("expectation.%s is of a kind that this test does not know", typ.Field(i).Name)
			continue
		}
		name := typ.Field(i).Name
		if counted := e.checks() > 0; counted == (about[name] != "") {
			t.Errorf("expectation.%s: counted as a check %v; see (*expectation).checks in summary.go", name, counted)
		}
	}
}
