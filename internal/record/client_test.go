package record

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/load"
)

// from reads a text with one of the readers.
type from func(io.Reader, ClientOptions) (*Draft, error)

// clientCase is a source and what comes of it.
type clientCase struct {
	name, text string
	scenario   []string
	report     string // in what was left out or noted; "": nothing was left out
}

func checkClient(t *testing.T, read from, cases []clientCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d, err := read(strings.NewReader(c.text), ClientOptions{})
			if err != nil {
				t.Fatal(err)
			}
			written(t, d)
			text := string(d.Scenario())
			want(t, "the scenario", text, c.scenario...)
			for _, secret := range []string{"s3cret", "hunter2"} {
				if strings.Contains(text, secret) {
					t.Errorf("the scenario has a secret:\n%s", text)
				}
			}
			if c.report == "" && len(d.LeftOut) > 0 {
				t.Errorf("left out: %s", d.LeftOut)
			}
			want(t, "the report", strings.Join(append(d.LeftOut, d.Notes...), "\n"), c.report)
		})
	}
}

func TestCurl(t *testing.T) {
	checkClient(t, FromCurl, []clientCase{
		{"only an address", "curl http://a.test/x/1", []string{"request: GET /x/1"}, ""},
		{"no scheme", "curl a.test:81/x", []string{"request: GET /x"}, ""},
		{"lines that go on, and a comment", "# one\n$ curl -X PATCH \\\n  'http://a.test/p' \\\r\n -d 'n=4'", []string{"request: PATCH /p", `"n": "4"`}, ""},
		{"bash's quotes", `curl "http://a.test/q?a=\"1\"" --data-raw $'{"t":"it\'s\u00e9\\n"}' -H 'Content-Type: application/json'`, []string{"request: POST /q?a=%221%22", `json: {"t": "it'sé\n"}`}, ""},
		{"JSON without a type", `curl http://a.test/j -d '{"k": 3}'`, []string{`json: {"k": 3}`, `"Content-Type": "application/x-www-form-urlencoded"`}, ""},
		{"--json", `curl --json '{"k":[3]}' http://a.test/j`, []string{"request: POST /j", `json: {"k": [3]}`, `"Accept": "application/json"`}, ""},
		{"several -d", "curl http://a.test/f -d a=1 -d b=2+3 --data-urlencode 'c=x&y' --data-urlencode '=z '", []string{`"a": "1"`, `"b": "2 3"`, `"c": "x&y"`, `"z ": ""`}, ""},
		{"-G", "curl -G http://a.test/g?z=1 --data-urlencode 'q=a b' -d p=2", []string{"request: GET /g?z=1&q=a+b&p=2"}, ""},
		{"-F", "curl http://a.test/u -F t=T -F 'f=@gone.png;type=image/png;filename=n.png'", []string{"request: POST /u", `"f": {text: "file", name: "n.png", type: "image/png"}`, `"t": "T"`}, "line 1: the file gone.png is not read"},
		{"-I and options in one word", "curl -sSIk -o/dev/null -w '%{http_code}' http://a.test/h", []string{"request: HEAD /h"}, ""},
		{"-XPUT", "curl -XPUT -da=1 http://a.test/h", []string{"request: PUT /h", `"a": "1"`}, ""},
		{"GraphQL by its documents", `curl -b jar -c jar http://a.test/g --json '{"query":"query Things { things { id } }"}'` + "\n" + `curl -b jar http://a.test/g --json '{"query":"mutation { add(id: 1) { id } }"}'`,
			[]string{"route: POST /g operationName=Things", "route: POST /g operationName=add", `expect: {not_contains: "\"errors\":["}`}, ""},
		{"a cookie of its own", "curl -b session=1 http://a.test/1", []string{"GET /1"}, "cookies come from the answers"},
		{"a password", "curl -u eve:s3cret http://a.test/p", []string{`"Authorization": "Basic FILL-IN"`, "# Fill in Authorization."}, "The values of Authorization are not taken"},
		{"a password in the address", "curl http://eve:s3cret@a.test/p", []string{"request: GET /p", `"Authorization": "Basic FILL-IN"`}, "Authorization"},
		{"a token", "curl http://a.test/p -H 'authorization: Bearer s3cret' -H 'X-Api-Key: s3cret' -H 'Cookie: sid=s3cret'", []string{`"Authorization": "Bearer FILL-IN"`, `"X-Api-Key": "masked"`}, "left out: Cookie"},
		{"secrets in query and body", `curl 'http://a.test/p?token=s3cret' --json '{"password":"hunter2"}'`, []string{"/p?token=masked", `"password": "masked"`}, "password, token"},
		{"secrets in a body that is no JSON", `curl http://a.test/p -H 'Content-Type: application/json' -d '{"password":"hunter2", n: $N}'`, []string{"masked"}, "password"},
		{"a cookie", "curl -b sid=s3cret http://a.test/p", []string{"GET /p"}, "line 1: --cookie: cookies come from the answers"},
		{"a variable of the shell", `curl "http://a.test/$ID/${x}"`, []string{"GET /FILL-IN/FILL-IN"}, "line 1: the value of $ID is not known"},
		{"several commands and others", "curl http://a.test/1 | jq . && curl http://a.test/2; curl http://a.test/3 > out", []string{"GET /1", "GET /2", "GET /3"}, `line 1: "jq" is no curl command`},
		{"--next", "curl http://a.test/1 -d a=1 --next http://a.test/2", []string{"POST /1", "GET /2"}, ""},
		{"a body of GET", "curl -X GET http://a.test/1 -d a=1", []string{"GET /1"}, "line 1: GET with a body"},
		{"an option nobody knows", "curl --frobnicate http://a.test/1", []string{"GET /1"}, "the option --frobnicate is not known"},
		{"cmd.exe", "curl ^\"http://a.test/a?x=1^&y=2^\" ^\r\n  -H ^\"x-note: say ^\\^\"hi^\\^\"^\" ^\r\n  --data-raw ^\"^{^\\^\"a^\\^\":^\\^\"b c^\\^\"^}^\" &\r\ncurl ^\"http://a.test/b^\"",
			[]string{"request: POST /a?x=1&y=2", `"x-note": "say \"hi\""`, `json: {"a": "b c"}`, "request: GET /b"}, ""},
	})
}

func TestCurlFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "body.txt"), []byte("a=1\n&b=2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	d, err := FromCurl(strings.NewReader("curl http://a.test/f -d @body.txt\ncurl http://a.test/g --data-binary @../secret"), ClientOptions{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	want(t, "the scenario", string(d.Scenario()), `"a": "1"`, `"b": "2"`)
	want(t, "the report", strings.Join(d.LeftOut, "\n"), "line 2: the file ../secret is not read")
}

// collection of Postman with these items.
func collection(items string) string {
	return `{"info":{"name":"C","schema":"https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},"variable":[{"key":"base","value":"http://a.test/v2"},{"key":"n","value":"6"}],"item":[` + items + "]}"
}

func TestPostman(t *testing.T) {
	checkClient(t, FromPostman, []clientCase{
		{"an address alone", collection(`{"name":"a","request":"{{base}}/a"}`), []string{"name: a", "request: GET /v2/a"}, ""},
		{"parts of an address", collection(`{"name":"a","request":{"method":"GET","url":{"protocol":"https","host":["b","test"],"path":["x","y"]}}}`), []string{"request: GET /x/y"}, ""},
		{"disabled parameters and headers", collection(`{"name":"a","request":{"url":{"raw":"{{base}}/a?x=1&y=2","query":[{"key":"x","value":"{{n}}"},{"key":"y","value":"2","disabled":true}]},"header":[{"key":"X-A","value":"1"},{"key":"X-B","value":"2","disabled":true}]}}`), []string{"GET /v2/a?x=6\n", `"X-A": "1"`}, ""},
		{"path variables", collection(`{"name":"a","request":{"url":{"raw":"{{base}}/u/:id/p/:p","variable":[{"key":"id","value":"{{n}}"},{"key":"p","value":""}]}}}`), []string{"/v2/u/6/p/1"}, "the path variable :p has no value"},
		{"a base that is not known", collection(`{"name":"a","request":{"url":"{{host}}/a"}}`), []string{"GET /a"}, ""},
		{"a value that is not known", collection(`{"name":"a","request":{"url":"{{base}}/a?x={{who}}"}}`), []string{"GET /v2/a?x=FILL-IN"}, "line 1: the variable who has no value"},
		{"folders and their variables", collection(`{"name":"F","variable":[{"key":"n","value":"9"}],"item":[{"name":"G","item":[{"name":"a","request":"{{base}}/{{n}}"}]}]},{"name":"b","request":"{{base}}/{{n}}"}`), []string{"name: F", "/v2/9", "name: visit", "/v2/6"}, ""},
		{"authorization of the folder", collection(`{"name":"F","auth":{"type":"bearer","bearer":[{"key":"token","value":"s3cret"}]},"item":[{"name":"a","request":"{{base}}/a"},{"name":"b","request":{"auth":{"type":"noauth"},"url":"{{base}}/b"}}]}`), []string{`"Authorization": "Bearer FILL-IN"`}, "Authorization"},
		{"a key in the query", collection(`{"name":"a","request":{"auth":{"type":"apikey","apikey":[{"key":"key","value":"api_key"},{"key":"value","value":"s3cret"},{"key":"in","value":"query"}]},"url":"{{base}}/a"}}`), []string{"/v2/a?api_key=FILL-IN"}, "Fill in api_key"},
		{"raw JSON", collection(`{"name":"a","request":{"method":"POST","url":"{{base}}/a","body":{"mode":"raw","raw":"{\"n\": {{n}}, \"password\": \"hunter2\"}"}},"response":[{"code":201},{"code":422}]}`), []string{`json: {"n": 6, "password": "masked"}`, "expect: {status: 201}"}, "password"},
		{"fields", collection(`{"name":"a","request":{"method":"POST","url":"{{base}}/a","body":{"mode":"urlencoded","urlencoded":[{"key":"k","value":"x y"},{"key":"l","value":"1","disabled":true}]}}}`), []string{`"k": "x y"`}, ""},
		{"files", collection(`{"name":"a","request":{"method":"POST","url":"{{base}}/a","body":{"mode":"formdata","formdata":[{"key":"k","value":"v","type":"text"},{"key":"f","type":"file","src":"x.png"}]}}}`), []string{`"f": {text: "file", name: "file.bin"}`, `"k": "v"`}, "the file of the field f"},
		{"GraphQL", collection(`{"name":"a","request":{"method":"POST","url":"{{base}}/g","body":{"mode":"graphql","graphql":{"query":"{ a }","variables":"{\"v\":2}"}}}}`), []string{`json: {"query": "{ a }", "variables": {"v": 2}}`}, ""},
		{"scripts", collection(`{"name":"a","event":[{"listen":"test","script":{"exec":["pm.test()"]}}],"request":"{{base}}/a"}`), []string{"GET /v2/a"}, "line 1: a test script of a: scripts are not run"},
		{"v2.0: headers as a text", collection(`{"name":"a","request":{"url":"{{base}}/a","header":"X-A: 5\nX-B: 6"}}`), []string{`"X-A": "5"`, `"X-B": "6"`}, ""},
	})
}

// plan of JMeter with these elements in a thread group.
func plan(elements string) string {
	return `<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2"><hashTree><TestPlan testname="P" enabled="true"><elementProp name="TestPlan.user_defined_variables"><collectionProp name="Arguments.arguments">` + argument("host", "a.test", "") + `</collectionProp></elementProp></TestPlan><hashTree>
<ConfigTestElement guiclass="HttpDefaultsGui" enabled="true"><stringProp name="HTTPSampler.domain">${host}</stringProp><stringProp name="HTTPSampler.port">8080</stringProp></ConfigTestElement><hashTree/>
<ThreadGroup testname="T" enabled="true"><stringProp name="ThreadGroup.num_threads">${__P(users,12)}</stringProp></ThreadGroup><hashTree>
` + elements + `
</hashTree></hashTree></hashTree></jmeterTestPlan>`
}

func argument(name, value, more string) string {
	return `<elementProp name="` + name + `"><stringProp name="Argument.name">` + name + `</stringProp><stringProp name="Argument.value">` + value + `</stringProp>` + more + `</elementProp>`
}

// jmxRequest is a sampler with properties; an empty hashTree follows.
func jmxRequest(name, path, method, more string) string {
	return `<HTTPSamplerProxy testname="` + name + `" enabled="true"><stringProp name="HTTPSampler.path">` + path + `</stringProp><stringProp name="HTTPSampler.method">` + method + `</stringProp>` + more + `</HTTPSamplerProxy><hashTree/>`
}

func arguments(list string) string {
	return `<elementProp name="HTTPsampler.Arguments"><collectionProp name="Arguments.arguments">` + list + `</collectionProp></elementProp>`
}

func TestJMeterPlan(t *testing.T) {
	checkClient(t, FromJMeter, []clientCase{
		{"a request with the defaults", plan(jmxRequest("home", "/h", "GET", "")), []string{"name: T", "name: home", "request: GET /h"}, ""},
		{"arguments of GET", plan(jmxRequest("a", "/s", "GET", arguments(argument("q", "a b", `<boolProp name="HTTPArgument.always_encode">true</boolProp>`)+argument("e", "x%20y", `<boolProp name="HTTPArgument.always_encode">false</boolProp>`)))), []string{"GET /s?q=a+b&e=x%20y"}, ""},
		{"a form", plan(jmxRequest("a", "/f", "POST", arguments(argument("user", "eve", "")+argument("password", "hunter2", "")))), []string{`"user": "${account.user}"`, `"password": "${account.password}"`, "accounts: {file: pools/accounts.csv}"}, "password"},
		{"a raw body", plan(jmxRequest("a", "/j", "POST", `<boolProp name="HTTPSampler.postBodyRaw">true</boolProp>`+arguments(argument("", `{"h": "${host}"}`, "")))), []string{`json: {"h": "a.test"}`}, ""},
		{"headers of the sampler and of the level", plan(`<HeaderManager enabled="true"><collectionProp name="HeaderManager.headers"><elementProp name=""><stringProp name="Header.name">X-All</stringProp><stringProp name="Header.value">1</stringProp></elementProp></collectionProp></HeaderManager><hashTree/>` + jmxRequest("a", "/a", "GET", "")), []string{`"X-All": "1"`}, ""},
		{"a pause", plan(jmxRequest("a", "/a", "GET", "") + `<ConstantTimer testname="t" enabled="true"><stringProp name="ConstantTimer.delay">250</stringProp></ConstantTimer><hashTree/>`), []string{"think: 250ms"}, ""},
		{"disabled", plan(jmxRequest("a", "/a", "GET", "") + strings.Replace(jmxRequest("b", "/b", "GET", ""), `enabled="true"`, `enabled="false"`, 1)), []string{"GET /a"}, "1 elements that are disabled"},
		{"assertions and extractors", plan(jmxRequest("a", "/a", "GET", "") + `<ResponseAssertion testname="ok" enabled="true"/><hashTree/>` + "\n" + `<RegexExtractor testname="id" enabled="true"/><hashTree/>`), []string{"GET /a"}, `line 6: RegexExtractor "id": a value of an answer`},
		{"a value that is not known", plan(jmxRequest("a", "/a/${id}", "GET", "")), []string{"GET /a/FILL-IN"}, "line 5: the value of ${id} is not known"},
		{"controllers", plan(`<LoopController testname="l" enabled="true"/><hashTree>` + jmxRequest("a", "/a", "GET", "") + `</hashTree>`), []string{"GET /a"}, `LoopController "l": its requests are sent once`},
		{"a script", plan(jmxRequest("a", "/a", "GET", "") + `<JSR223Sampler testname="s" enabled="true"/><hashTree/>`), []string{"GET /a"}, `JSR223Sampler "s": a script`},
		{"users", plan(jmxRequest("a", "/a", "GET", "") + `<Unheard testname="u" enabled="true"/><hashTree/>`), []string{"GET /a"}, "The thread group T has 12 users"},
	})
}

// script of k6 with these statements.
func script(text string) string {
	return "import http from 'k6/http';\nconst B = __ENV.B || 'http://a.test';\nexport default function () {\n" + text + "\n}\n"
}

func TestK6Script(t *testing.T) {
	checkClient(t, FromK6, []clientCase{
		{"a template", script("const r = http.get(`${B}/a?x=1`);"), []string{"GET /a?x=1"}, ""},
		{"joined texts", script("http.get(B + '/a/' + 4);"), []string{"GET /a/4"}, ""},
		{"JSON", script(`http.post("http://a.test/j", JSON.stringify({n: 1, 'm-n': [true, null], password: 'hunter2'}), {headers: {'Content-Type': 'application/json', "X-A": "1"}});`), []string{`json: {"m-n": [true, null], "n": 1, "password": "masked"}`, `"X-A": "1"`}, "password"},
		{"a form", script("http.post(B + '/f', {a: '1', b: 2});"), []string{`"a": "1"`, `"b": "2"`}, ""},
		{"constants", script("const p = { headers: { 'X-A': 'z' } };\nconst body = { k: 'v' };\nhttp.put(`${B}/p`, body, p); http.del(`${B}/d`, null, p);"), []string{"PUT /p", `"k": "v"`, `"X-A": "z"`, "DELETE /d"}, ""},
		{"request", script("http.request('PATCH', B + '/r', 'text');"), []string{"PATCH /r", `body: "text"`}, ""},
		{"a status and a pause", script("const r = http.post(B + '/c');\ncheck(r, {c: (r) => r.status === 201});\nsleep(0.25);"), []string{"POST /c", "status: 201", "think: 250ms"}, "line 5: checks are left out"},
		{"what is not plain", script("http.get(B + '/a');\nhttp.get(next());\nhttp.get(`${B}/i/${r.json('id')}`);"), []string{"GET /i/FILL-IN"}, "line 5: http.get: its address is not plain"},
		{"batch", script("http.get(B + '/a');\nhttp.batch([]);"), []string{"GET /a"}, "line 5: http.batch"},
		{"comments, regular expressions and quotes in them", script("// http.get('http://x/')\n/* http.get('http://y/') */\nif (/['\"]\\/[/]/.test(a)) {}\nhttp.get(B + '/a');"), []string{"GET /a"}, ""},
		{"another name", "import h from 'k6/http'\nh.get('http://a.test/a')\nexport let options = { vus: 3 }", []string{"GET /a"}, "The script's options (line 3)"},
		{"a token", script("http.get(B + '/a', {headers: {Authorization: 'Bearer s3cret'}});"), []string{`"Authorization": "Bearer FILL-IN"`}, "Authorization"},
	})
}

// TestClientRefused: what is wrong, and what to do.
func TestClientRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		read from
		text string
		want string
	}{
		{"curl: nothing", FromCurl, "", "it has no requests"},
		{"curl: other commands", FromCurl, "wget http://a.test/\n", `line 1: "wget" is no curl command`},
		{"curl: no address", FromCurl, "curl -s", "line 1: a curl command without an address"},
		{"postman: an environment", FromPostman, `{"values":[]}`, "it is an environment"},
		{"postman: v1", FromPostman, `{"requests":[]}`, "collection v1"},
		{"postman: no JSON", FromPostman, `{"item":[`, "ends in the middle"},
		{"postman: nothing", FromPostman, `{"item":[]}`, "it has no requests"},
		{"jmeter: no plan", FromJMeter, "<a/>", "no jmeterTestPlan"},
		{"jmeter: cut", FromJMeter, "<jmeterTestPlan><hashTree>", "line 1: "},
		{"jmeter: entities", FromJMeter, `<!DOCTYPE a [<!ENTITY b "c">]><jmeterTestPlan>&b;</jmeterTestPlan>`, "line 1: "},
		{"jmeter: no request", FromJMeter, plan(""), "it has no requests"},
		{"k6: no request", FromK6, "export default function () {}", "it has no requests"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := c.read(strings.NewReader(c.text), ClientOptions{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want %q; %+v", err, c.want, d)
			}
		})
	}
}

// fuzzClient: whatever the file, the draft is an error or a right scenario.
func fuzzClient(f *testing.F, read from, seeds ...string) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := read(strings.NewReader(text), ClientOptions{})
		if err != nil {
			return
		}
		if _, err := load.Parse("scenario.yaml", d.Scenario()); err != nil && len(d.Scenario()) < 200<<10 {
			t.Errorf("%v\n%s", err, d.Scenario())
		}
	})
}

func FuzzCurl(f *testing.F) {
	fuzzClient(f, FromCurl, `curl -XPUT "http://a.test/$x" -F 'a=@b;type=c/d' -H 'A: ${b}' -u c:d`, "curl ^\"http://a/^\" ^\n -d ^\"^{^\\^\"a^\\^\":1^}^\"", "curl --json $'{\"a\":\"\\u00e9\"}' b.test -G --data-urlencode =c",
		"Invoke-WebRequest -Uri \"http://a/$x$([char]233)\" `\n -Headers @{\n\"b\"=\"c\"; d = (e)\n} -Body \"{`\"f`\":1}\"",
		"A=1\nB=$(curl a.test/[1-3]/{x,y} -T f)\ncat <<-E | curl -d @- b.test/$A/../c\n\t$B\n\tE\n")
}

func FuzzPostman(f *testing.F) {
	fuzzClient(f, FromPostman, collection(`{"name":"a","request":{"method":"POST","url":{"raw":"{{base}}/:id","variable":[{"key":"id","value":"{{n}}"}]},"auth":{"type":"apikey","apikey":[{"key":"key","value":"a"}]},"body":{"mode":"graphql","graphql":{"query":"q","variables":"{}"}}}}`))
}

func FuzzJMeterPlan(f *testing.F) {
	fuzzClient(f, FromJMeter, plan(jmxRequest("a", "/a/${id}", "POST", arguments(argument("q", "a%zz", "")))))
}

func FuzzK6Script(f *testing.F) {
	fuzzClient(f, FromK6, script("http.post(`${B}/a`, JSON.stringify({a: [1, -2, {b: 'c'}]}), {headers: {d: e.f(g)[0]}}); check(r, {a: r => r.status === 201}); sleep(1)"))
}
