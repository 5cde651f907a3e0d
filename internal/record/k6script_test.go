package record

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A script is read in order: assignments, blocks and the phases of a run.
func TestK6ScriptOrder(t *testing.T) {
	checkClient(t, FromK6, []clientCase{
		{"assigned again", script("let p = '/one';\nhttp.get(B + p);\np = '/two';\nhttp.get(B + p);\np += '?x=1';\nhttp.get(`${B}${p}`);"), []string{"GET /one\n", "GET /two\n", "GET /two?x=1\n"}, ""},
		{"counted", script("let n = 4;\nn++;\nhttp.get(`${B}/c/${n}`);\nn += 2;\nhttp.get(`${B}/c/${n}`);"), []string{"GET /c/5", "GET /c/7"}, ""},
		{"a value of an answer", script("let who = '';\nwho = http.get(B + '/a').json('who');\nhttp.get(`${B}/w/${who}`);"), []string{"GET /a\n", "GET /w/FILL-IN"}, "the value of http.get.json(…) is not known"},
		{"fields", script("const o = {a: 1, gone: 5}, h = {headers: {}};\no.b = 2;\no['c'] = [3];\no.c.push(4);\ndelete o.gone;\nh.headers['X-Late'] = 'yes';\nhttp.post(B + '/f', JSON.stringify(o), h);"), []string{`json: {"a": 1, "b": 2, "c": [3, 4]}`, `"X-Late": "yes"`}, ""},
		{"a condition", script("let p = '/one';\nif (x) { p = '/two'; }\nhttp.get(B + '/c' + p);"), []string{"GET /cFILL-IN"}, "the value of p is not known"},
		{"within a loop", script("let u;\nfor (const id of [7]) { u = B + '/in'; http.get(u); }\nhttp.get(`${B}/x/${u}`);"), []string{"GET /in\n", "GET /x/FILL-IN"}, "the value of u is not known"},
		{"a loop", script("let n = 1;\nfor (let i = 0; i < 3; i++) n++;\nfor (const id of [7]) { http.get(`${B}/l/${id}/${n}`); }"), []string{"GET /l/FILL-IN/FILL-IN"}, "the value of n is not known"},
		{"a variable of a block", script("let p = '/out';\n{ let p = '/in'; http.get(B + p); }\nhttp.get(B + p);"), []string{"GET /in\n", "GET /out\n"}, ""},
		{"a parameter hides a constant", script("const q = '/const';\nfunction f(q) { return http.get(B + q); }\n[1].forEach((q) => { http.get(B + '/e' + q); });\nhttp.get(B + q);"), []string{"GET /FILL-IN\n", "GET /eFILL-IN\n", "GET /const\n"}, "the value of q is not known"},
		{"a pattern hides a constant", script("const {id, k: [z]} = data, w = 1;\nhttp.get(`${B}/${id}/${z}`);\nconst {a: m} = {a: 'mm'};\nhttp.get(`${B}/${m}`);"), []string{"GET /FILL-IN/FILL-IN\n", "GET /mm\n"}, "the value of id is not known"},
		{"setup and teardown", "import http from 'k6/http';\nexport function setup() { http.post('http://a.test/prepare', {a: '1'}); if (x) { return {}; } http.get('http://a.test/more'); }\nexport default () => { http.get('http://a.test/load'); }\nexport const teardown = (data) => { http.del('http://a.test/prepare'); };\nexport function handleSummary(d) { http.post('http://a.test/summary', 'x'); }",
			[]string{"steps:\n      # Line 3.\n      - request: GET /load\n", "\nsetup:\n  # Line 2.\n  - request: POST /prepare\n", "- request: GET /more", "\nteardown:\n  # Line 4.\n  - request: DELETE /prepare\n"}, "line 5: http.post in handleSummary"},
	})
}

// Values and calls, as scripts and TypeScript write them.
func TestK6ScriptValues(t *testing.T) {
	checkClient(t, FromK6, []clientCase{
		{"encodeURIComponent", script("http.get(`${B}/q?u=${encodeURIComponent(\"a&b=c+d:e/f g'\")}&v=` + encodeURI('/x y?z=1&k'));"), []string{"GET /q?u=a%26b%3Dc%2Bd%3Ae%2Ff%20g'&v=/x%20y?z=1&k"}, ""},
		{"types", "import http, { RefinedResponse } from 'k6/http';\nconst B: string = 'http://a.test';\nexport function run(): void {\n  const r: RefinedResponse<'text'> = http.get<'text'>(`${B}/t`);\n  http.post(B + '/u', JSON.stringify({n: 'x'} as User), { headers: { 'X-T': 'v' } as Record<string, string> });\n}", []string{"GET /t\n", "POST /u", `json: {"n": "x"}`, `"X-T": "v"`}, ""},
		{"functions by their names", "import { get, post as send } from 'k6/http';\nget('http://a.test/g');\nsend('http://a.test/p', {a: '1'});", []string{"GET /g\n", "POST /p\n", `"a": "1"`}, ""},
		{"all under a name", "import * as web from 'k6/http';\nweb.get('http://a.test/g');", []string{"GET /g\n"}, ""},
		{"both", "import https, { get } from 'k6/http';\nhttps.get('http://a.test/g');get('http://a.test/h')", []string{"GET /g\n", "GET /h\n"}, ""},
		{"a list of a form", script("http.patch(B + '/l', {k: ['x y', 'z']});"), []string{`"k": ["x y", "z"]`}, ""},
		{"a file", script("http.post(B + '/u', {n: '1', f: http.file(data, 'cat.png', 'image/png')});"), []string{`"f": {text: "file", name: "cat.png", type: "image/png"}`, `"n": "1"`}, "the file of the field f"},
		{"batch", script("http.batch([['GET', B + '/b1', null, {headers: {'X-A': '1'}}], {method: 'POST', url: B + '/b2', body: {a: '1'}}, B + '/b3']);\nhttp.batch({one: ['DELETE', `${B}/b4`]});"), []string{"GET /b1\n", `"X-A": "1"`, "POST /b2\n", "GET /b3\n", "DELETE /b4\n"}, ""},
		{"undefined is no value", script("http.post(B + '/u', JSON.stringify({a: undefined, b: null, c: [undefined]}));"), []string{`json: {"b": null, "c": [null]}`}, ""},
		{"numbers", script("http.get(`${B}/${0x1F}/${1_000}`);"), []string{"GET /31/1000"}, ""},
		{"elements", script("const l = ['x', 'y'], o = {k: 'z'};\nhttp.get(`${B}/${l[1]}/${o['k']}/${l[9]}`);"), []string{"GET /y/z/FILL-IN"}, "the value of l[…] is not known"},
		{"merged objects", script("const h = {headers: {'X-A': '1'}};\nhttp.get(B + '/m', Object.assign({}, h, {tags: {name: 'merged'}}));"), []string{"name: merged", `"X-A": "1"`}, ""},
		{"a choice of what is known", script("const v2 = true, n = 0;\nhttp.get(B + (v2 ? '/v2' : '/v1') + `/${n ? 'x' : 'y'}`);"), []string{"GET /v2/y"}, ""},
		{"a choice of what is not", script("const u = __ENV.TARGET ? __ENV.TARGET : 'http://a.test';\nhttp.get(u + '/c');\nhttp.post(B + '/o', JSON.stringify({k: Math.random() > 0.5 ? 'one' : 'two', n: 3}));"), []string{"GET /c", `json: {"k": "one", "n": 3}`}, "what a condition"},
		{"cookies and redirects", script("http.get(B + '/c', {cookies: {sid: 's3cret'}, redirects: 0});"), []string{"GET /c"}, "cookies come from the answers"},
	})
}

// Hostile scripts end.
func TestK6ScriptHostile(t *testing.T) {
	for name, text := range map[string]string{
		"blocks":      strings.Repeat("{", 100_000),
		"brackets":    "let a=1;" + strings.Repeat("a=(", 50_000),
		"assignments": "let a='x';" + strings.Repeat("a+=a;", 200),
		"arrows":      strings.Repeat("(a)=>{", 50_000),
		"patterns":    strings.Repeat("const {a,", 50_000),
		"lists":       "const l=[1];" + strings.Repeat("l.push(l);", 3000) + "http.post('http://a.test/', JSON.stringify(l))",
		"types":       strings.Repeat("let a:b<", 50_000),
	} {
		t.Run(name, func(t *testing.T) {
			if d, err := FromK6(strings.NewReader("import http from 'k6/http';\n"+text), ClientOptions{}); err == nil {
				written(t, d)
			}
		})
	}
}

// Files that a script opens are read where they are, below its folder only.
func TestK6ScriptFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"users.json": `[{"login": "ann", "n": 7}, {"login": "bob", "n": 8}]`, "body.txt": "a body"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const text = `import http from 'k6/http';
import { SharedArray } from 'k6/data';
const users = new SharedArray('users', function () { const all = JSON.parse(open('./users.json')); return all; });
const same = new SharedArray('same', () => JSON.parse(open('users.json')));
const body = open('./body.txt');
export default function () {
  const user = users[Math.floor(Math.random() * users.length)];
  http.get(` + "`http://a.test/u/${user.login}/${same[1].n}`" + `);
  http.post('http://a.test/b', body);
  http.post('http://a.test/c', open('../outside'));
}`
	d, err := FromK6(strings.NewReader(text), ClientOptions{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	written(t, d)
	want(t, "the scenario", string(d.Scenario()), "GET /u/ann/8", `body: "a body"`, "POST /c")
	want(t, "what is left out", strings.Join(append(d.LeftOut, d.Notes...), "\n"), "which of 2 values the script draws")
	d, err = FromK6(strings.NewReader(text), ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want(t, "what is left out without the files", strings.Join(append(d.LeftOut, d.Notes...), "\n"), "the file ./users.json", "fill")
}
