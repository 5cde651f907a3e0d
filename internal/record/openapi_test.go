package record

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/internal/load"
)

const shopAPI = `
openapi: 3.0.3
info: {title: Shop, version: "1"}
servers: [{url: "https://api.example/{v}", variables: {v: {default: v1}}}]
security: [{bearer: []}]
components:
  securitySchemes:
    bearer: {type: http, scheme: bearer}
    key: {type: apiKey, in: header, name: X-Api-Key}
  schemas:
    Item:
      type: object
      required: [name]
      properties:
        id: {type: integer, readOnly: true}
        name: {type: string, minLength: 6}
        price: {type: number, minimum: 0.5}
        kind: {type: string, enum: [book, toy]}
        note: {type: string, example: 'a ${b} "c"'}
        parent: {$ref: '#/components/schemas/Item'}
paths:
  /items:
    parameters:
      - {name: limit, in: query, schema: {type: integer, default: 20}}
    get:
      tags: [items]
      operationId: listItems
      parameters:
        - {name: kind, in: query, required: true, schema: {type: string, enum: [book, "a toy"]}}
        - {name: cursor, in: query, schema: {type: string}}
      responses: {"200": {description: ok, content: {application/json: {schema: {type: array}}}}, "400": {description: bad}}
    post:
      tags: [items]
      operationId: addItem
      security: [{key: []}]
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Item'}}}}
      responses: {"201": {description: made}}
  /items/{id}:
    get:
      tags: [items]
      security: []
      parameters:
        - {name: id, in: path, required: true, examples: {a: {value: 3}, b: {value: "x/y z"}}}
      responses: {default: {description: ok}}
    delete:
      tags: [items]
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses: {"204": {description: gone}}
  /old:
    get: {deprecated: true, responses: {"200": {description: ok}}}
  /users/{user}/mail:
    get:
      parameters: [{name: user, in: path, required: true, schema: {type: string, format: uuid}}]
      responses: {"200": {description: ok, content: {text/plain: {}}}, "302": {description: moved}}
`

func TestOpenAPI(t *testing.T) {
	d, err := FromOpenAPI([]byte(shopAPI), OpenAPIOptions{Source: "shop.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	written(t, d)
	text := string(d.Scenario())
	want(t, "the scenario", text, "name: Shop", "- name: items", "- name: /users", "request: GET /v1/items?kind=${listitems.kind}&limit=20", "route: GET /v1/items",
		`type: "application/json"`, "request: GET /v1/items/${get-items-id.id}", "route: GET /v1/items/:id", `"Authorization": "Bearer FILL-IN"`,
		"/v1/users/3fa85f64-5717-4562-b3fc-2c963f66afa6/mail", "status: [200, 302]")
	for _, f := range d.Files {
		if f.Name == "pools/listitems.csv" && string(f.Data) != "kind\nbook\na toy\n" || f.Name == "pools/get-items-id.csv" && string(f.Data) != "id\n3\nx/y z\n" {
			t.Errorf("%s: %q", f.Name, f.Data)
		}
	}
	want(t, "the report", strings.Join(append(d.LeftOut, d.Notes...), "\n"), "POST operations", "DELETE operations", "deprecated", "user of GET /users/{user}/mail", "bearer token")
	if strings.Contains(text, "cursor=") {
		t.Error("an optional parameter without a value is sent")
	}
}

// The bodies made for operations are what the service reads as JSON.
func TestOpenAPIWritesRun(t *testing.T) {
	d, err := FromOpenAPI([]byte(shopAPI), OpenAPIOptions{Writes: true, ByPath: true})
	if err != nil {
		t.Fatal(err)
	}
	_, s := written(t, d)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == "POST":
			var in map[string]any
			if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in["note"] != `a ${b} "c"` || in["kind"] != "book" || in["price"] != 0.5 || in["id"] != nil ||
				len(in["name"].(string)) < 6 || r.Header.Get("X-Api-Key") != fillIn {
				http.Error(w, "wrong body", http.StatusBadRequest)
				return
			}
			w.WriteHeader(http.StatusCreated)
		case r.Method == "DELETE":
			w.WriteHeader(http.StatusNoContent)
		case strings.HasSuffix(r.URL.Path, "/mail"):
			w.Header().Set("Content-Type", "text/plain")
		default:
			w.Header().Set("Content-Type", "application/json")
		}
	}))
	t.Cleanup(srv.Close)
	res, err := load.Run(t.Context(), load.Options{Scenario: s, URL: srv.URL, Workload: 2, Warmup: -1, Window: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if res.Succeeded < 10 || res.Mismatches+res.Errors > 0 {
		t.Errorf("%d right, %d wrong: %+v\n%s", res.Succeeded, res.Mismatches, res.Samples, d.Scenario())
	}
}

func TestOpenAPIErrors(t *testing.T) {
	for name, text := range map[string]string{"no YAML": "{", "no OpenAPI": "a: b", "Swagger 2": `swagger: "2.0"`,
		"no paths":         `{openapi: 3.0.0, info: {title: a, version: "1"}, paths: {}}`,
		"only POST":        `{openapi: 3.0.0, info: {title: a, version: "1"}, paths: {/a: {post: {responses: {default: {description: x}}}}}}`,
		"a file elsewhere": `{openapi: 3.0.0, info: {title: a, version: "1"}, paths: {/a: {$ref: "../secret.yaml"}}}`,
		"the network":      `{openapi: 3.0.0, info: {title: a, version: "1"}, paths: {/a: {$ref: "http://127.0.0.1:1/x.yaml"}}}`} {
		for _, dir := range []string{"", t.TempDir()} {
			if d, err := FromOpenAPI([]byte(text), OpenAPIOptions{Dir: dir}); err == nil {
				t.Errorf("%s: no error, %+v", name, d)
			}
		}
	}
	_, err := FromOpenAPI([]byte(`{openapi: 3.0.0, info: {title: a, version: "1"}, paths: {}}`), OpenAPIOptions{})
	if !errors.Is(err, ErrNothing) {
		t.Errorf("nothing to take: %v", err)
	}
}

// Schemas that contain themselves many times make bounded bodies.
func TestOpenAPIRecursiveSchemas(t *testing.T) {
	d, err := FromOpenAPI([]byte(`{openapi: 3.0.0, info: {title: a, version: "1"}, components: {schemas: {T: {type: object, properties: {a: {$ref: "#/components/schemas/T"}, b: {$ref: "#/components/schemas/L"}}},
  L: {type: array, minItems: 90, items: {$ref: "#/components/schemas/T"}}}},
paths: {/a: {post: {requestBody: {content: {application/json: {schema: {$ref: "#/components/schemas/T"}}}}, responses: {"200": {description: ok}}}}}}`), OpenAPIOptions{Writes: true})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(d.Scenario()); n > 20_000 {
		t.Errorf("%d bytes", n)
	}
	written(t, d)
}

func TestOpenAPIFilesBeside(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(`{get: {responses: {"200": {description: ok}}}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	d, err := FromOpenAPI([]byte(`{openapi: 3.1.0, info: {title: a, version: "1"}, paths: {/a: {$ref: "a.yaml"}}}`), OpenAPIOptions{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	want(t, "the scenario", string(d.Scenario()), "GET /a")
}

// FuzzOpenAPI: whatever the file, the draft is an error or a right scenario.
func FuzzOpenAPI(f *testing.F) {
	f.Add([]byte(shopAPI))
	f.Add([]byte(swagger2))
	f.Add([]byte(send("3.1.0", "{oneOf: [{type: 'null'}, {$ref: '#/x'}], allOf: [{minimum: 3}], properties: {p: {pattern: '[x-z]+', minLength: 9}}}")))
	f.Add([]byte(query("{name: n, in: query, style: deepObject, schema: {type: object}, example: {k: {l: 1}}}")))
	f.Add([]byte(`{"openapi":"3.0.0","info":{"title":"${","version":"1"},"paths":{"/a/{b}/{c}":{"get":{"operationId":"x: y","tags":["#"],"parameters":[{"name":"b","in":"path","required":true,"example":"${x}"}],"responses":{"2XX":{}}}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := FromOpenAPI(data, OpenAPIOptions{Writes: true})
		if err != nil {
			return
		}
		// Pools are files that are not there: keep what does not need them.
		if _, err := load.Parse("scenario.yaml", d.Scenario()); err != nil && len(d.Files) == 1 && len(d.Scenario()) < 200<<10 {
			t.Errorf("%v\n%s", err, d.Scenario())
		}
	})
}
