package record

import (
	"strings"
	"testing"
)

// components of a document with these schemas.
func components(schemas string) string { return "components: {schemas: {" + schemas + "}}\n" }

// body is an operation with a body of this kind.
func body(kind, media string) string {
	return api("3.0.3", "", "    post:\n      requestBody: {content: {"+kind+": {"+media+"}}}\n      "+ok200+"\n")
}

// swagger is a document of version 2 with one POST.
func swagger(consumes, params string) string {
	return "swagger: '2.0'\npaths: {/up: {post: {consumes: [" + consumes + "], parameters: [" + params + "], " + ok200 + "}}}\n"
}

// Values that a request is made of. lacks: what may not stand in the scenario.
func TestOpenAPIValues(t *testing.T) {
	tree := "Node: {type: object, required: [name, kids], properties: {name: {type: string}, up: {$ref: '#/components/schemas/Node'}, kids: {type: array, items: {$ref: '#/components/schemas/Node'}}}}"
	pets := "Pet: {type: object, required: [sort], properties: {sort: {type: string}}, discriminator: {propertyName: sort, mapping: {WOOF: '#/components/schemas/Dog'}}}, " +
		"Dog: {allOf: [{$ref: '#/components/schemas/Pet'}, {type: object, properties: {bark: {type: boolean}}}]}, Fish: {allOf: [{$ref: '#/components/schemas/Pet'}]}"
	for _, c := range []struct{ name, doc, scenario, lacks, report string }{
		{"what stands beside a reference", send("3.1.0", "{$ref: '#/components/schemas/B', required: [y], properties: {y: {type: integer, minimum: 7}}}") + components("B: {type: object, required: [x], properties: {x: {type: string, default: d}}}"), `json: {"x": "d", "y": 7}`, "", ""},
		{"a discriminator on the base", send("3.0.0", "{$ref: '#/components/schemas/Dog'}") + components(pets), `"sort": "WOOF"`, "", ""},
		{"a discriminator without mapping", send("3.0.0", "{$ref: '#/components/schemas/Fish'}") + components(pets), `"sort": "Fish"`, "", ""},
		{"a schema that contains itself", send("3.0.0", "{$ref: '#/components/schemas/Node'}") + components(tree), `json: {"kids": [], "name": "text"}`, "", ""},
		{"alternatives that contain themselves", send("3.0.0", "{$ref: '#/components/schemas/E'}") + components("E: {oneOf: [{$ref: '#/components/schemas/Neg'}, {$ref: '#/components/schemas/Lit'}]}, Neg: {type: object, required: [of], properties: {of: {$ref: '#/components/schemas/E'}}}, Lit: {type: object, properties: {v: {type: integer}}}"), `json: {"of": {"v": 1}}`, "", ""},
		{"bounds beyond a float's", send("3.0.0", "{type: object, properties: {n: {type: integer, minimum: 9007199254740995}, m: {type: integer, minimum: 4000000000000000}}}"), `json: {"m": 4000000000000000, "n": 9007199254740995}`, "", ""},
		{"different elements", send("3.0.0", "{type: object, properties: {a: {type: array, minItems: 3, uniqueItems: true, items: {type: string}}, b: {type: array, minItems: 2, uniqueItems: true, items: {type: string, enum: [p, q]}}, c: {type: array, minItems: 2, uniqueItems: true, items: {type: integer}}}}"), `{"a": ["text", "text1", "text2"], "b": ["p", "q"], "c": [1, 2]}`, "", ""},
		{"counts of properties and elements", send("3.1.0", "{type: object, required: [f], properties: {m: {type: object, minProperties: 2, additionalProperties: {type: integer}}, z: {type: array, maxItems: 0, items: {type: string}}, c: {type: array, minItems: 2, items: {type: integer}, contains: {const: 8}}, f: true, n: {type: 'null'}}}"), `json: {"c": [8, 1], "f": "text", "m": {"key1": 1, "key2": 1}, "n": null, "z": []}`, "", ""},
		{"an example with what only answers have", send("3.0.0", "{type: object, properties: {id: {type: integer, readOnly: true}, a: {type: string}}, example: {id: 55, a: zz}}"), `json: {"a": "zz"}`, "55", ""},
		{"an example that is null", body("application/json", "schema: {type: object, nullable: true}, example: null"), `body: "null"`, "", ""},
		{"an example that is a text of JSON", body("application/json", `schema: {type: object}, example: '{"k": [4]}'`), `json: {"k": [4]}`, "", ""},
		{"a text that reads like JSON", body("application/json", `schema: {type: string}, example: '{"k": 4}'`), `json: "{\"k\": 4}"`, "", ""},
		{"XML of an object", body("application/xml", "schema: {type: object, properties: {a: {type: string}}}, example: '<r><a>v</a><password>hunter2</password></r>'"), `body: "<r><a>v</a><password>FILL-IN</password></r>"`, "hunter2", "Examples of secrets are not taken: fill in password"},
		{"a form as it is sent", body("application/x-www-form-urlencoded", "schema: {type: object}, example: a=1&b=x+y"), `"b": "x y"`, "", ""},
		{"the data of an example (3.2)", strings.Replace(body("application/json", "schema: {type: object}, examples: {e: {dataValue: {d: 6}}}"), "3.0.3", "3.2.0", 1), `json: {"d": 6}`, "", ""},
		{"a list in multipart", body("multipart/form-data", "schema: {type: object, properties: {n: {type: array, items: {type: integer}, example: [41, 42]}, f: {type: array, minItems: 2, items: {type: string, format: binary}}}}"), `"n": ["41", "42"]`, "", ""},

		{"secrets in a body", send("3.0.0", "{type: object, properties: {password: {type: string, example: hunter2}, refresh_token: {type: string, default: s3cret}, max_tokens: {type: integer, example: 77}, token_type: {type: string, enum: [bearer]}, code: {type: string, format: password, example: s3cret}}}"), `json: {"code": "FILL-IN", "max_tokens": 77, "password": "FILL-IN", "refresh_token": "FILL-IN", "token_type": "bearer"}`, "hunter2", "code, password, refresh_token"},
		{"secrets in a whole example", body("application/json", "example: {user: eve, credentials: {password: hunter2, tokens: [s3cret]}}"), `{"credentials": {"password": "FILL-IN", "tokens": ["FILL-IN"]}, "user": "eve"}`, "s3cret", ""},
		{"secrets in parameters", query("{name: api_token, in: query, schema: {type: string}, examples: {a: {value: s3cret}, b: {value: s3cret2}}}, {name: X-API-Key, in: header, required: true, schema: {type: string}, example: s3cret}"), "?api_token=FILL-IN\n", "s3cret", "X-API-Key, api_token"},

		{"fields that are multipart only", swagger("multipart/form-data", "{name: t, in: formData, type: string, default: T}"), "multipart:\n          \"t\": \"T\"", "form:", ""},
		{"optional fields", swagger("multipart/form-data", "{name: note, in: formData, type: string}, {name: pic, in: formData, type: file}"), `"pic": {text: "file"`, "", "note of POST /up"},
		{"the whole query (3.2)", strings.Replace(query("{name: all, in: querystring, content: {application/x-www-form-urlencoded: {schema: {type: object}, examples: {e: {dataValue: {k: 'x y', n: 2}}}}}}, {name: c, in: cookie, style: cookie, example: v}"), "3.0.3", "3.2.0", 1), "GET /things/t7?k=x+y&n=2\n", "", ""},
		{"optional parameters", query("{name: sort, in: query, schema: {type: string}}"), "GET /things/t7\n", "sort=", "Optional parameters without a value are left out: sort of GET /things/{id}"},
		{"methods by their names", api("3.2.0", "", "    get: {"+ok200+"}\n    additionalOperations: {COPY: {"+ok200+"}}\n"), "GET /things/t7", "", "COPY operations, which load does not send"},
		{"an operation on another host", "openapi: 3.0.0\nservers: [{url: 'https://a.test/v1'}]\npaths:\n  /x: {get: {" + ok200 + "}}\n  /y: {get: {servers: [{url: 'https://files.test/v1'}], " + ok200 + "}}\n  /z: {get: {servers: [{url: 'https://b.test/v2'}, {url: 'https://a.test/v3'}], " + ok200 + "}}\n", "GET /v3/z", "/y", "it is on another host, files.test"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := FromOpenAPI([]byte(c.doc), OpenAPIOptions{Writes: true})
			if err != nil {
				t.Fatalf("%v\n%s", err, c.doc)
			}
			written(t, d)
			_, text, _ := strings.Cut(string(d.Scenario()), "version: 1")
			want(t, "the scenario", text, c.scenario)
			if c.lacks != "" && strings.Contains(text, c.lacks) {
				t.Errorf("the scenario has %q:\n%s", c.lacks, text)
			}
			want(t, "the report", strings.Join(append(d.LeftOut, d.Notes...), "\n"), c.report)
		})
	}
}
