package record

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/load"
)

// harFileOf makes a HAR of entries that are given as JSON texts.
func harFileOf(entries ...string) string {
	return `{"log":{"entries":[` + strings.Join(entries, ",") + `]}}`
}

// harGet is an entry: a request with these headers (name, value, …), answered
// with status 200.
func harGet(method, url, post string, headers ...string) string {
	list := []harHeader{}
	for i := 0; i < len(headers); i += 2 {
		list = append(list, harHeader{Name: headers[i], Value: headers[i+1]})
	}
	data, err := json.Marshal(list)
	if err != nil {
		panic(err)
	}
	if post != "" {
		post = `,"postData":` + post
	}
	return `{"request":{"method":"` + method + `","url":"` + url + `","headers":` + string(data) + post + `},"response":{"status":200,"content":{"mimeType":"text/html"}}}`
}

// harScenario reads a HAR; the draft must be right.
func harScenario(t *testing.T, text string) (scenario, report string) {
	t.Helper()
	d, err := FromHAR(strings.NewReader(text), HAROptions{})
	if err != nil {
		t.Fatal(err)
	}
	written(t, d)
	return string(d.Scenario()), strings.Join(append(d.LeftOut, d.Notes...), "\n")
}

// refuse fails where a text holds one of those.
func refuse(t *testing.T, text string, lacks ...string) {
	t.Helper()
	for _, l := range lacks {
		if strings.Contains(text, l) {
			t.Errorf("it has %q:\n%s", l, text)
		}
	}
}

// The headers that a page's own code chose are taken, each as often as it was
// sent; those of the browser are told.
func TestHARHeaders(t *testing.T) {
	text, report := harScenario(t, harFileOf(harGet("GET", "https://a.test/", "", "Tenancy", "blue", "If-Match", `"v1"`, "rsc", "1", "X-Part", "a", "X-Part", "b", "x-part", "a",
		"Accept-Language", "fr", "Access-Token", "hunter2", "Session", "hunter2", "Content-Length", "9", "Upgrade", "h2c", "Expect", "100-continue", ":authority", "a.test", "If-None-Match", "x")))
	want(t, "the scenario", text, `"Tenancy": "blue"`, `"If-Match": "\"v1\""`, `"rsc": "1"`, `"X-Part": ["a", "b"]`, `"Access-Token": "masked"`, `"Session": "masked"`)
	refuse(t, text, "hunter2", `"Upgrade"`, `"Expect"`, `"Content-Length"`)
	want(t, "the report", report, "accept-language, if-none-match", "Access-Token, Session")
}

// Secrets by the names of fields and by the look of values, wherever they stand.
func TestSecretFields(t *testing.T) {
	token := "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiJ9.c2lnbmF0dXJlCg"
	d, err := FromCurl(strings.NewReader(`curl -d 'pw=hunter2&cvv=hunter2&assertion=hunter2&code=Hunter2xyz&state=aB12345678&code_verifier=hunter2&SAMLResponse=hunter2&private_key=hunter2' http://a.test/f
curl 'http://a.test/p;jsessionid=hunter2?PHPSESSID=hunter2&state=done&country_code=DE'
curl http://a.test/t/`+token+`/x?y=`+token+` -H 'X-Note: `+token+`'
curl --json '{"deep":["`+token+`"]}' http://a.test/j
`), ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	written(t, d)
	text := string(d.Scenario())
	refuse(t, text, "hunter2", "Hunter2", "aB1234", "eyJ")
	want(t, "the scenario", text, "GET /p;jsessionid=masked?PHPSESSID=masked&state=done&country_code=DE", "GET /t/masked/x?y=masked", `"X-Note": "masked"`, `json: {"deep": ["masked"]}`)
	if d, err = FromCurl(strings.NewReader("curl http://a.test/"+token), ClientOptions{KeepSecrets: true}); err != nil || !strings.Contains(string(d.Scenario()), token) {
		t.Errorf("with KeepSecrets: %v", err)
	}
	if masked, _ := maskQuery("/r/" + token + ";sid=hunter2?code=Hunter2xyz"); masked != "/r/masked;sid=masked?code=masked" {
		t.Errorf("in a log: %s", masked)
	}
}

// Parts and headers of the same name are all sent.
func TestRepeatedNames(t *testing.T) {
	checkClient(t, FromCurl, []clientCase{
		{"parts", "curl http://a.test/u -F a=1 -F b=3 -F a=2 -F 'a=@x.txt;type=text/plain'", []string{`"a": ["1", "2", {text: "file", name: "x.txt", type: "text/plain"}]`, `"b": "3"`}, "x.txt"},
		{"headers", "curl http://a.test/u -H 'X-A: 1' -H 'X-B: 3' -H 'x-a: 2'", []string{`"X-A": ["1", "2"]`, `"X-B": "3"`}, ""},
	})
	checkClient(t, FromPostman, []clientCase{
		{"both", collection(`{"name":"a","request":{"method":"POST","url":"{{base}}/a","header":[{"key":"X-A","value":"1"},{"key":"X-A","value":"2"}],"body":{"mode":"formdata","formdata":[{"key":"k","value":"v"},{"key":"k","value":"w"}]}}}`),
			[]string{`"X-A": ["1", "2"]`, `"k": ["v", "w"]`}, ""},
	})
	s, err := load.Parse("scenario.yaml", []byte("version: 1\nname: n\nsessions:\n- name: s\n  steps:\n  - request: POST /u\n    headers: {X-A: ['1', '2']}\n    multipart: {k: [v, {text: w, name: f.txt}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	shown, err := s.Preview(1)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "the request", strings.Join(shown, "\n"), "X-A: 1", "X-A: 2")
}

// The same with values that pools give.
func TestOneBadRequestOfPools(t *testing.T) {
	draw := func(name string) []pair { return []pair{{name, name}} }
	pools := func(names ...string) (out []pool) {
		for _, n := range names {
			out = append(out, pool{name: n, header: []string{"id"}, rows: [][]string{{"7"}}})
		}
		return out
	}
	s := scenario{name: "n", pools: pools("p1", "p2", "p3"), sessions: []session{{name: "s", steps: []step{
		{name: "one", request: "GET /1/${p1.id}", draw: draw("p1")},
		{name: "two", request: "GET /2/${p2.id}", body: "b", draw: draw("p2")},
		{name: "three", request: "GET /3/$${p9.id}/${p3.id}", draw: draw("p3")},
	}}}}
	left, err := s.leaveUnsound()
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 1 || !strings.Contains(left[0], "GET requests have no body") || len(s.sessions[0].steps) != 2 || len(s.pools) != 2 || s.pools[1].name != "p3" {
		t.Errorf("left out %q, kept %d steps and the pools %v", left, len(s.sessions[0].steps), s.pools)
	}
}

// One request that a scenario cannot have does not take the others with it.
func TestOneBadRequest(t *testing.T) {
	s := scenario{name: "n", sessions: []session{{name: "s", steps: []step{
		{name: "one", request: "GET /1", extract: []extract{{name: "v", header: "X-V"}}},
		{name: "two", request: "GET /2", body: "b", extract: []extract{{name: "w", header: "X-W"}}},
		{name: "three", request: "GET /3/${v}"},
		{name: "four", request: "GET /4/${w}"},
	}}}}
	left, err := s.leaveUnsound()
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for _, st := range s.sessions[0].steps {
		kept = append(kept, st.name)
	}
	if strings.Join(kept, " ") != "one three" || len(left) != 2 {
		t.Errorf("kept %s, left out %q", kept, left)
	}
	want(t, "what is left out", strings.Join(left, "\n"), "two: GET /2: GET requests have no body", "four: GET /4/${w}: ")
	_, report := harScenario(t, harFileOf(harGet("POST", "https://a.test/cut", `{"mimeType":"text/plain","text":"ab"}`, "Content-Length", "700")))
	want(t, "the report", report, "POST /cut: 700 bytes were sent, the source has 2 of them")
	text, report := harScenario(t, harFileOf(harGet("GET", "https://a.test/1", `{"mimeType":"application/json","text":"{}"}`), harGet("POST", "https://a.test/2", `{"mimeType":"application/json","text":"null"}`)))
	want(t, "the scenario", text, "GET /1", `body: "null"`, `"Content-Type": "application/json"`)
	want(t, "the report", report, "GET /1 has a body in the source")
	checkClient(t, FromCurl, []clientCase{
		{"a form of GET, as Postman copies it", "curl --location --request GET 'http://a.test/1' --form 'k=\"v\"'\ncurl http://a.test/2", []string{"GET /1", "GET /2"}, "line 1: GET with a body"},
		{"headers of the connection", "curl http://a.test/1 -H 'Expect: 100-continue' -H 'Upgrade: h2c' -H 'Content-Length: 3' -d a=1", []string{"POST /1"}, "Content-Length, Expect, Upgrade"},
		{"null", "curl --json null http://a.test/1", []string{`body: "null"`}, ""},
	})
	checkClient(t, FromPostman, []clientCase{
		{"a form of GET", collection(`{"name":"a","request":{"method":"GET","url":"{{base}}/a","body":{"mode":"formdata","formdata":[{"key":"k","value":"v"}]}}},{"name":"b","request":"{{base}}/b"}`), []string{"/v2/a", "/v2/b"}, "GET with a body"},
	})
}

// A body without a type of its own is sent as it is, unless it is a form.
func TestFormText(t *testing.T) {
	for text, form := range map[string]bool{
		"a=1&b=x+y&c": true, "user[name]=b%20c": true, "p={\"a\": 1}": true, "a=1 2&b=ü": true, "=x": false,
		"weather,place=oslo temp=3 1": false, "some words": false, "<r a=\"1\"/>": false, "aGk=": false, "a=%FC": false, "a=100%": false, "a==": false, "a=1\nb=2": false, "": false,
	} {
		if got := isFormText(text); got != form {
			t.Errorf("isFormText(%q) = %t", text, got)
		}
	}
	checkClient(t, FromCurl, []clientCase{
		{"lines of a database", "curl http://a.test/w --data-binary 'disk,host=n1 used=7i 99'", []string{`body: "disk,host=n1 used=7i 99"`, `"Content-Type": "application/x-www-form-urlencoded"`}, ""},
		{"a list", `curl http://a.test/w -d '[{"n":2}]'`, []string{`json: [{"n": 2}]`, `"Content-Type": "application/x-www-form-urlencoded"`}, ""},
		{"another charset", "curl http://a.test/w -d 'n=%E9&password=hunter2'", []string{`body: "n=%E9&password=masked"`}, "password"},
	})
	text, _ := harScenario(t, harFileOf(harGet("POST", "https://a.test/1", `{"mimeType":"application/x-www-form-urlencoded; charset=ISO-8859-15","text":"a=%A4&b=2"}`)))
	want(t, "the scenario", text, `body: "a=%A4&b=2"`, `"Content-Type": "application/x-www-form-urlencoded; charset=ISO-8859-15"`)
}

// Addresses of one origin, statuses as texts, and what a browser had already.
func TestHARVariants(t *testing.T) {
	cached := strings.Replace(harGet("GET", "https://a.test/c.css", ""), `{"request"`, `{"_fetchType":"Disk Cache","request"`, 1)
	asText := strings.Replace(harGet("GET", "https://a.test/2", ""), `"status":200`, `"status":"200"`, 1)
	text, report := harScenario(t, harFileOf(harGet("GET", "https://a.test:443/1", ""), asText, cached, harGet("GET", "https://a.test/3 ü/x%2Fy/%zz", ""), harGet("GET", "https://eve:hunter2@a.test/4", "")))
	want(t, "the scenario", text, "GET /1", "GET /2", "GET /3%20%C3%BC/x%2Fy/%25zz", "GET /4")
	refuse(t, text+report, "c.css", "hunter2")
	want(t, "the report", report, "1 requests: the browser took them from its cache", "A user and password in an address")
	for address, plain := range map[string]string{"http://a/b/../c/./d": "http://a/c/d", "a.test/../x?q=/../y": "a.test/x?q=/../y", "http://a/b/..": "http://a/", "http://a/b/.": "http://a/b/", "http://a": "http://a", "http://a?x=/./": "http://a?x=/./"} {
		if got := withoutDots(address); got != plain {
			t.Errorf("withoutDots(%q) = %q", address, got)
		}
	}
}

func TestPostmanAddresses(t *testing.T) {
	checkClient(t, FromPostman, []clientCase{
		{"parameters that are encoded", collection(`{"name":"a","request":{"url":{"raw":"{{base}}/a","query":[{"key":"f","value":"id%20gt%207"},{"key":"g","value":"x+y%2Bz"},{"key":"h","value":"a b&c='ü'"},{"key":"i","value":"[1]/?:"}]}}}`),
			[]string{"/v2/a?f=id%20gt%207&g=x+y%2Bz&h=a%20b%26c%3D%27%C3%BC%27&i=[1]/?:"}, ""},
		{"path variables that are encoded", collection(`{"name":"a","request":{"url":{"raw":"{{base}}/b c/é/:id","variable":[{"key":"id","value":"7%2F8"}]}}}`), []string{"/v2/b%20c/%C3%A9/7%2F8"}, ""},
		{"a variable without a value beside the service", collection(`{"name":"a","request":{"url":{"raw":"{{base}}/a"}}},{"name":"b","request":{"url":{"raw":"{{nowhere}}/b"}}}`), []string{"/v2/a"},
			"1 requests: to an address that is a variable without a value; --origin"},
		{"all of it variables", collection(`{"name":"a","request":{"url":{"raw":"{{scheme}}://{{name}}.test:{{door}}/{{stage}}/x","protocol":"{{scheme}}"}}}`), []string{"GET /FILL-IN/x"}, "the variable stage has no value"},
	})
}

func TestCurlQuoting(t *testing.T) {
	checkClient(t, FromCurl, []clientCase{
		{"octal", `curl http://a.test/1 --data-raw $'a=\041\0501'`, []string{`"a": "!(1"`}, ""},
		{"a quote within JSON, for cmd.exe", "curl ^\"http://a.test/1^\" ^\n  --data-raw ^\"^{^\\^\"t^\\^\":^\\^\"he ^\\^\\^\\^\"went^\\^\\^\\^\"^\\^\"^}^\"\n", []string{`json: {"t": "he \"went\""}`}, ""},
		{"backslashes, for cmd.exe", "curl ^\"http://a.test/1^\" -H ^\"X-A: C:\\dir\\\\^\" -H \"X-B: \\\\\\\"q\\\"\"", []string{`"X-A": "C:\\dir\\"`, `"X-B": "\\\"q\""`}, ""},
	})
}

func TestCurlAddresses(t *testing.T) {
	checkClient(t, FromCurl, []clientCase{
		{"ranges", "curl 'http://a.test/p/[08-10]/{x,y}'", []string{"/p/08/x", "/p/08/y", "/p/09/x", "/p/10/y"}, ""},
		{"letters and steps", "curl 'http://a.test/[a-b]?n=[1-5:2]'", []string{"/a?n=1", "/a?n=5", "/b?n=3"}, ""},
		{"a token", "curl 'http://a.test/x?csrf_token=hunter2hunter2'", []string{"csrf_token=masked"}, ""},
		{"too many", "curl 'http://a.test/[1-5000]'", []string{"/100"}, "line 1: the sets and ranges of an address stand for more than 100"},
		{"-g", "curl -g 'http://a.test/[1-3]?x={a,b}'", []string{"GET /[1-3]?x=%7Ba,b%7D"}, ""},
		{"dots", "curl http://a.test/x/../y/./z", []string{"GET /y/z"}, ""},
		{"--path-as-is", "curl --path-as-is http://a.test/x/../y", []string{"GET /x/../y"}, ""},
		{"-T into a folder", "curl -T sub/note.txt http://a.test/put/?v=1", []string{"PUT /put/note.txt?v=1", "Fill in the body"}, "the file sub/note.txt is not read"},
		{"-T with a name", "curl -T note.txt http://a.test/put", []string{"PUT /put\n"}, "note.txt"},
		{"-A and -e", "curl -A agent/1 -e http://b.test/ http://a.test/1", []string{"GET /1"}, "Referer, User-Agent"},
		{"a signature", "curl --digest -u eve:hunter2 http://a.test/1", []string{"GET /1"}, "line 1: --digest: Digest signs each request"},
		{"a type without its body", "curl http://a.test/1 -H 'Content-Type: text/csv' --data-binary @gone.csv", []string{`"Content-Type": "text/csv"`}, "gone.csv"},
	})
	d, err := FromCurl(strings.NewReader("curl --ntlm -u a:b http://a.test/"), ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	refuse(t, string(d.Scenario()), "FILL-IN")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "b.txt"), []byte("one\ntwo\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	d, err = FromCurl(strings.NewReader("curl -T b.txt http://a.test/put/"), ClientOptions{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	want(t, "the scenario", string(d.Scenario()), "PUT /put/b.txt", `body: "one\ntwo\n"`)
	refuse(t, string(d.Scenario()), "Content-Type")
}

// What stands for a value to write is what the check of a scenario looks for.
func TestFillInIsOne(t *testing.T) {
	if fillIn != load.FillIn {
		t.Errorf("%q and %q", fillIn, load.FillIn)
	}
}

// What scripts do around curl: standard input, variables, $(…).
func TestCurlScripts(t *testing.T) {
	checkClient(t, FromCurl, []clientCase{
		{"a here-document", "curl --json @- http://a.test/1 <<'END'\n{\"n\": 1,\n \"v\": \"$x\"}\nEND\ncurl http://a.test/2", []string{`json: {"n": 1, "v": "$x"}`, "GET /2", "# Line 5."}, ""},
		{"one with variables", "N=7\ncurl --json @- http://a.test/1 <<-END\n\t{\"n\": $N}\n\tEND\n", []string{`json: {"n": 7}`}, ""},
		{"one of cat", "cat <<EOF | curl -d @- http://a.test/1\na=1\nEOF\n", []string{`"a": "1"`}, ""},
		{"a here-string", `curl -d @- http://a.test/1 <<< "b=2"`, []string{`"b": "2"`}, ""},
		{"echo", `echo '{"n": 3}' | curl --json @- http://a.test/1`, []string{`json: {"n": 3}`}, ""},
		{"printf", `printf '%s' 'n=3' | curl -d @- http://a.test/1 || echo failed`, []string{`"n": "3"`}, `"echo" is no curl command`},
		{"variables", "export HOST=http://a.test V=2\ncurl $HOST/v$V/${W:-8} \"${HOST}/y\"", []string{"GET /v2/8", "GET /y"}, ""},
		{"a secret in one", "API_KEY=hunter2\ncurl http://a.test/?k=$API_KEY", []string{"GET /?k=FILL-IN"}, "the value of $API_KEY is not known"},
		{"the output of curl", "R=$(curl -s -X POST \"http://a.test/login\" -d u=1 | jq -r .id)\ncurl http://a.test/u/$R", []string{"POST /login", "GET /u/FILL-IN"}, "the value of $R is not known"},
		{"a file", "curl --data-binary @- http://a.test/1 < gone.bin", []string{"POST /1"}, "the file gone.bin is not read"},
	})
}

func TestPowerShell(t *testing.T) {
	checkClient(t, FromCurl, []clientCase{
		{"as browsers copy it", "$session = New-Object Microsoft.PowerShell.Commands.WebRequestSession\n$session.UserAgent = \"Mozilla\"\nInvoke-WebRequest -UseBasicParsing -Uri \"http://a.test/v1?x=1\" `\n-Method \"POST\" `\n-WebSession $session `\n-Headers @{\n\"method\"=\"POST\"\n  \"x-note\"=\"it`\"s`$\"\n  \"authorization\"=\"Bearer s3cret\"\n} `\n-ContentType \"application/json\" `\n-Body \"{`\"n`\":1,`\"t`\":`\"$([char]233)`\"}\"",
			[]string{"POST /v1?x=1", `"x-note": "it\"s$"`, `json: {"n": 1, "t": "é"}`, `"Authorization": "Bearer FILL-IN"`}, "Authorization"},
		{"aliases and tables", "$b = 'http://a.test'\nirm \"$b/f\" -Method Post -Body @{ a = 'x y'; c = 2 }\ncurl -Uri http://a.test/u -Method PUT", []string{"POST /f", `"a": "x y"`, `"c": "2"`, "PUT /u"}, ""},
		{"the program", "curl.exe -X POST \"http://a.test/p\" `\n  -H \"Content-Type: application/json\" `\n  -d '{\\\"n\\\":1}'\n", []string{"POST /p", `json: {"n": 1}`}, ""},
		{"what is not known", "Invoke-RestMethod http://a.test/$id", []string{"GET /FILL-IN"}, "the value of $id is not known"},
	})
}

// An address of another host in a log is none of the server's own pages, unless
// all are written so.
func TestLogForeignAddresses(t *testing.T) {
	own := logLine(0, "a", "GET /in", 200, "") + logLine(1, "a", "GET /in", 200, "")
	d := draftOf(t, own+logLine(2, "b", "GET http://b.test/out", 200, ""), LogOptions{})
	refuse(t, string(d.Scenario()), "GET /out")
	want(t, "the report", strings.Join(d.LeftOut, "\n"), "1 requests: addresses of other hosts")
	d = draftOf(t, logLine(0, "a", "GET http://a.test/one", 200, "")+logLine(1, "a", "GET http://a.test/two", 200, ""), LogOptions{})
	want(t, "the scenario", string(d.Scenario()), "GET /one", "GET /two")
}
