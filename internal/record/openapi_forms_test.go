package record

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// api is a document with one path item.
func api(version, more, item string) string {
	return "openapi: " + version + "\ninfo: {title: Forms, version: '1'}\n" + more + "\npaths:\n  /things/{id}:\n    parameters: [{name: id, in: path, required: true, schema: {type: string}, example: t7}]\n" + item
}

const ok200 = "responses: {200: {description: ok}}"

// query is an operation with these parameters.
func query(params string) string {
	return api("3.0.3", "", "    get:\n      parameters: ["+params+"]\n      "+ok200+"\n")
}

// send is an operation with a JSON body of this schema.
func send(version, schema string) string {
	return api(version, "", "    post:\n      requestBody: {content: {application/json: {schema: "+schema+"}}}\n      "+ok200+"\n")
}

// What is in the scenario, and what the report tells.
func TestOpenAPIForms(t *testing.T) {
	for _, c := range []struct{ name, doc, scenario, report string }{
		// Parameters: RFC 6570 as OpenAPI's "Style Examples" has it.
		{"an exploded list", query("{name: n, in: query, schema: {type: array, items: {type: integer}}, example: [4, 5]}"), "/things/t7?n=4&n=5", ""},
		{"a list with commas", query("{name: n, in: query, explode: false, schema: {type: array}, example: [4, 5]}"), "?n=4,5\n", ""},
		{"a list with blanks", query("{name: n, in: query, style: spaceDelimited, explode: false, schema: {type: array}, example: [a, b]}"), "?n=a%20b\n", ""},
		{"a list with bars", query("{name: n, in: query, style: pipeDelimited, schema: {type: array}, example: [a, b]}"), "?n=a%7Cb\n", ""},
		{"a deep object", query("{name: n, in: query, style: deepObject, explode: true, schema: {type: object}, example: {k: {l: 1}, m: [2, 3]}}"), "?n%5Bk%5D%5Bl%5D=1&n%5Bm%5D=2&n%5Bm%5D=3\n", ""},
		{"an exploded object", query("{name: n, in: query, schema: {type: object}, example: {k: 1, l: 'x y'}}"), "?k=1&l=x+y\n", ""},
		{"an object with commas", query("{name: n, in: query, explode: false, schema: {type: object}, example: {k: 1, l: 2}}"), "?n=k,1,l,2\n", ""},
		{"a list of the item's examples", query("{name: n, in: query, schema: {type: array, items: {type: string, example: red}}}"), "?n=red\n", ""},
		{"JSON in a query", query("{name: n, in: query, required: true, content: {application/json: {schema: {type: object}, example: {a: [1]}}}}"), "?n=%7B%22a%22%3A%5B1%5D%7D\n", ""},
		{"a matrix", strings.Replace(query(""), "schema: {type: string}, example: t7", "style: matrix, explode: true, schema: {type: array}, example: [3, 4]", 1), "GET /things/;id=3;id=4\"", ""},
		{"a label", strings.Replace(query(""), "schema: {type: string}, example: t7", "style: label, schema: {type: string}, example: u", 1), "/things/.u\n", ""},
		{"a path value escaped", strings.Replace(query(""), "example: t7", "example: 'ä/ö?'", 1), "/things/%C3%A4%2F%C3%B6%3F\n", ""},
		{"an unknown style", query("{name: n, in: query, style: wavy, example: 1}"), "?n=1\n", `has no style "wavy"`},
		{"a path parameter that the path does not name", query("{name: other, in: path, required: true, example: 1}"), "GET /things/t7\n", "the parameter other is in the path, but /things/{id} does not name it"},
		{"an empty value in the path", strings.Replace(query(""), "example: t7", "default: ''", 1), "GET /things/text\n", "id of GET /things/{id}"},
		{"a header", query("{name: X-Shop, in: header, required: true, schema: {type: integer, minimum: 3, maximum: 3}}"), `"X-Shop": "3"`, ""},

		// Schemas.
		{"bounds of 3.1", send("3.1.0", "{type: object, properties: {n: {type: integer, exclusiveMinimum: 8}, m: {type: number, exclusiveMinimum: 0, exclusiveMaximum: 1}}}"), `json: {"m": 0.5, "n": 9}`, ""},
		{"bounds of 3.0", send("3.0.0", "{type: object, properties: {n: {type: integer, minimum: 8, exclusiveMinimum: true}, m: {type: integer, maximum: -4, exclusiveMaximum: true}}}"), `json: {"m": -5, "n": 9}`, ""},
		{"steps", send("3.0.0", "{type: object, properties: {n: {type: integer, minimum: 7, multipleOf: 5}, m: {type: number, multipleOf: 0.1, minimum: 0.25}}}"), `json: {"m": 0.3, "n": 10}`, ""},
		{"bounds that nothing fits", send("3.0.0", "{type: object, properties: {n: {type: integer, minimum: 7, maximum: 3}}}"), `"n": `, "no number is within its bounds"},
		{"const and types with null", send("3.1.0", "{type: object, properties: {k: {const: b}, t: {type: ['null', boolean]}}}"), `json: {"k": "b", "t": true}`, ""},
		{"examples of 3.1", send("3.1.0", "{type: object, properties: {e: {type: string, examples: [uno, due]}}}"), `{"e": "uno"}`, ""},
		{"examples of another type", send("3.0.0", "{type: object, properties: {n: {type: integer, example: many, default: 12}, s: {type: string, example: 12}, q: {type: number, example: '1.5'}}}"), `{"n": 1, "q": 1.5, "s": "12"}`, `the example "many" is no integer`},
		{"oneOf with a discriminator", send("3.0.0", "{oneOf: [{$ref: '#/components/schemas/Cat'}], discriminator: {propertyName: kind, mapping: {cat: '#/components/schemas/Cat'}}}") + "components: {schemas: {Cat: {type: object, properties: {kind: {type: string}, lives: {type: integer, default: 9}}}}}\n",
			`{"kind": "cat", "lives": 9}`, ""},
		{"anyOf with null first", send("3.1.0", "{type: object, properties: {d: {anyOf: [{type: 'null'}, {type: string, format: date}]}}}"), `{"d": "2024-05-17"}`, ""},
		{"allOf", send("3.0.0", "{allOf: [{type: object, properties: {a: {type: string}}}, {properties: {b: {allOf: [{type: integer}, {minimum: 5}]}}}]}"), `{"a": "text", "b": 5}`, ""},
		{"readOnly and writeOnly", send("3.0.0", "{type: object, properties: {id: {type: integer, readOnly: true}, pin: {type: string, writeOnly: true, minLength: 6}}}"), `json: {"pin": "texttt"}`, ""},
		{"a pattern", send("3.0.0", `{type: object, properties: {p: {type: string, pattern: '^[A-Z]{2}-\d{3,}$', minLength: 7}}}`), `{"p": "AA-1111"}`, ""},
		{"a pattern beyond RE2", send("3.0.0", `{type: object, properties: {p: {type: string, pattern: '^(?=x)x$'}}}`), `{"p": "text"}`, "no text was found for the pattern"},
		{"an unknown type", send("3.0.0", "{type: object, properties: {p: {type: guid}}}"), `{"p": "text"}`, `there is no type "guid"`},
		{"a date without quotes", send("3.0.0", "{type: object, properties: {d: {type: string, format: date, example: 2023-01-31}}}"), `{"d": "2023-01-31"}`, ""},
		{"a large number", send("3.0.0", "{type: object, properties: {n: {type: integer, format: int64, example: 9007199254740993}}}"), `{"n": 9007199254740993}`, ""},

		// Servers.
		{"variables of a server", api("3.0.0", "servers: [{url: 'https://{h}/{v}/', variables: {h: {default: a.test}, v: {enum: [v3, v4]}}}]", "    get: {"+ok200+"}\n"), "GET /v3/things/t7\n", ""},
		{"a server without scheme", api("3.0.0", "servers: [{url: 'shop.test/base'}]", "    get: {"+ok200+"}\n"), "GET /base/things/t7\n", ""},
		{"a relative server", api("3.0.0", "servers: [{url: ./v5}]", "    get: {"+ok200+"}\n"), "GET /v5/things/t7\n", ""},
		{"a second server", api("3.0.0", "servers: [{url: /one}, {url: /two}]", "    get: {"+ok200+"}\n"), "GET /one/things/t7\n", `another server has the path "/two"`},
		{"an operation's server", api("3.0.0", "servers: [{url: /one}]", "    get: {servers: [{url: /own}], "+ok200+"}\n"), "GET /own/things/t7\n", ""},

		// Documents that are not quite right.
		{"tabs", strings.ReplaceAll(api("3.0.0", "", "    get: {"+ok200+"}\n"), "  ", "\t"), "GET /things/t7\n", "tabs in the indentation"},
		{"a byte order mark and windows' lines", "\ufeff" + strings.ReplaceAll(api("3.0.0", "", "    get: {"+ok200+"}\n"), "\n", "\r\n"), "GET /things/t7\n", ""},
		{"a class of statuses", api("3.0.0", "", "    get: {responses: {2XX: {description: ok}}}\n"), "status: [200, 201, 202, 204]", ""},
		{"no responses", api("3.0.0", "", "    get: {summary: x}\n"), "GET /things/t7\n", "no answer with 2xx or 3xx is described"},
		{"a path without slash", strings.Replace(query(""), "/things", "things", 1), "GET /things/t7\n", "does not begin with a slash"},
		{"an operation that is none", query("") + "    head: later\n", "GET /things/t7\n", `head is "later" where an operation is expected`},
		{"a parameter without a place", query("{name: a}, {name: b, in: somewhere}"), "GET /things/t7\n", "without name and in"},
		{"references that lead nowhere", query("{$ref: '#/components/parameters/Gone'}"), "GET /things/t7\n", "$ref #/components/parameters/Gone: it points to nothing"},
		{"a reference to itself", query("{$ref: '#/components/parameters/A'}") + "components: {parameters: {A: {$ref: '#/components/parameters/B'}, B: {$ref: '#/components/parameters/A'}}}\n", "GET /things/t7\n", ""},
		{"trace", query("") + "    trace: {" + ok200 + "}\n", "GET /things/t7\n", "TRACE operations"},
		{"a scheme that is not described", api("3.0.0", "security: [{lost: []}]", "    get: {"+ok200+"}\n"), "GET /things/t7\n", `the security scheme "lost" is not described`},
		{"a merge key", "defaults: &d {" + ok200 + "}\n" + api("3.0.0", "", "    get: {<<: *d, summary: x}\n"), "GET /things/t7\n", ""},
		{"JSON with escapes", `{"openapi":"3.0.0","paths":{"\/a":{"get":{"parameters":[{"name":"q","in":"query","example":"\ud83d\ude00"}],"responses":{"200":{"description":"x"}}}}}}`, "GET /a?q=%F0%9F%98%80\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := FromOpenAPI([]byte(c.doc), OpenAPIOptions{Writes: true})
			if err != nil {
				t.Fatalf("%v\n%s", err, c.doc)
			}
			written(t, d)
			want(t, "the scenario", string(d.Scenario()), c.scenario)
			report := strings.Join(append(d.LeftOut, d.Notes...), "\n")
			want(t, "the report", report, c.report)
			if c.report == "" && len(d.LeftOut) > 0 {
				t.Errorf("left out: %s", d.LeftOut)
			}
		})
	}
}

const swagger2 = `
swagger: 2.0
info: {title: Old shop, version: 1}
host: shop.test
basePath: /api
consumes: [application/json]
produces: [application/json]
securityDefinitions: {basic: {type: basic}}
security: [{basic: []}]
definitions:
  Order: {type: object, required: [n], properties: {n: {type: integer, minimum: 2, exclusiveMinimum: true}, note: {type: string, example: gift}}}
parameters:
  limit: {name: limit, in: query, type: integer, default: 25}
paths:
  /orders:
    get:
      parameters:
        - $ref: '#/parameters/limit'
        - {name: state, in: query, type: array, items: {type: string}, collectionFormat: multi, x-example: [new, paid]}
        - {name: ids, in: query, required: true, type: array, items: {type: integer, default: 4}, collectionFormat: pipes}
      responses: {200: {description: ok}}
    post:
      parameters: [{name: order, in: body, schema: {$ref: '#/definitions/Order'}}]
      responses: {201: {description: made}}
  /login:
    post:
      consumes: [application/x-www-form-urlencoded]
      security: []
      parameters: [{name: user, in: formData, required: true, type: string, default: eve}]
      responses: {200: {description: ok}}
  /orders/{n}/scan:
    put:
      consumes: [multipart/form-data]
      parameters:
        - {name: n, in: path, required: true, type: integer, enum: [31]}
        - {name: title, in: formData, required: true, type: string, default: T}
        - {name: scan, in: formData, required: true, type: file}
      responses: {204: {description: ok}}
`

func TestSwagger2(t *testing.T) {
	d, err := FromOpenAPI([]byte(swagger2), OpenAPIOptions{Writes: true})
	if err != nil {
		t.Fatal(err)
	}
	written(t, d)
	want(t, "the scenario", string(d.Scenario()), "GET /api/orders?limit=25&state=new&state=paid&ids=4\n", `json: {"n": 3, "note": "gift"}`, `"Authorization": "Basic FILL-IN"`,
		"POST /api/login", `"user": "eve"`, "PUT /api/orders/31/scan", `"scan": {text: "file", name: "file.bin", type: "application/octet-stream"}`, `"title": "T"`, "status: 204")
	if len(d.LeftOut) > 0 {
		t.Errorf("left out: %s", d.LeftOut)
	}
}

func TestOpenAPIBesideParts(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"parts/a.json": `{"S":{"type":"object","properties":{"m":{"$ref":"b.yml#/M"}}}}`, "parts/b.yml": "M: {type: integer, example: 44}\n"} {
		if err := os.MkdirAll(filepath.Join(dir, "parts"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	doc := send("3.0.0", "{$ref: 'parts/a.json#/S'}") + "  /lost: {get: {parameters: [{$ref: 'gone.yml#/P'}, {$ref: '../../etc/x.yml'}, {$ref: 'https://x.test/p.yml'}], " + ok200 + "}}\n"
	d, err := FromOpenAPI([]byte(doc), OpenAPIOptions{Writes: true, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	want(t, "the scenario", string(d.Scenario()), `json: {"m": 44}`, "GET /lost")
	want(t, "the report", strings.Join(d.LeftOut, "\n"), "line 10: $ref gone.yml#/P: there is no such file", "../../etc/x.yml: it is outside", "https://x.test/p.yml: it is not fetched")
}

// A document with more operations than a scenario can hold: the first are
// taken, the others told.
func TestOpenAPIManyOperations(t *testing.T) {
	doc := "openapi: 3.0.0\npaths:\n"
	for i := range 2500 {
		doc += fmt.Sprintf("  /p%d/{id}: {get: {tags: [t], parameters: [{name: id, in: path, required: true, schema: {type: integer}}], %s}}\n", i, ok200)
	}
	d, err := FromOpenAPI([]byte(doc), OpenAPIOptions{})
	if err != nil {
		t.Fatal(err)
	}
	written(t, d)
	want(t, "the report", strings.Join(d.LeftOut, "\n"), "the scenario is full (256 KiB)")
	if d.Requests < 500 {
		t.Errorf("only %d operations", d.Requests)
	}
}

// Documents made to fill the memory make bounded scenarios, or errors.
func TestOpenAPIHostile(t *testing.T) {
	bomb := "a: &a [x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += string(c) + ": &" + string(c) + " [" + strings.TrimSuffix(strings.Repeat("*"+string(c-1)+", ", 9), ", ") + "]\n"
	}
	for name, doc := range map[string]string{
		"aliases in an example": bomb + query("{name: n, in: query, schema: {type: array}, example: *j}"),
		"an alias in itself":    "x: &x {a: *x}\n" + query("{name: n, in: query, schema: {type: object}, example: *x}"),
		"a schema in itself":    send("3.0.0", "{$ref: '#/components/schemas/A'}") + "components: {schemas: {A: {allOf: [{$ref: '#/components/schemas/A'}, {$ref: '#/components/schemas/A'}], properties: {a: {$ref: '#/components/schemas/A'}, b: {$ref: '#/components/schemas/A'}}}}}\n",
		"a path in itself":      "openapi: 3.0.0\npaths: {/a: {$ref: '#/paths/~1b'}, /b: {$ref: '#/paths/~1a'}}\n",
		"many brackets":         "openapi: 3.0.0\npaths: " + strings.Repeat("[", 20_000),
		"many braces":           `{"openapi":` + strings.Repeat(`{"a":`, 20_000),
		"a long pattern":        send("3.0.0", "{type: object, properties: {p: {type: string, pattern: '((a{100}){100}){100}', minLength: 999999999}}}"),
		"a long text":           send("3.0.0", "{type: object, properties: {p: {type: string, minLength: 2000000000}}}"),
	} {
		t.Run(name, func(t *testing.T) {
			d, err := FromOpenAPI([]byte(doc), OpenAPIOptions{Writes: true})
			if err == nil && len(d.Scenario()) > 200_000 {
				t.Errorf("%d bytes", len(d.Scenario()))
			}
		})
	}
}
