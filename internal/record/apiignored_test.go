package record

import (
	"strings"
	"testing"
)

// TestOpenAPIIgnoredKeywords: what no value is made by is told with its line.
func TestOpenAPIIgnoredKeywords(t *testing.T) {
	d, err := FromOpenAPI([]byte(`openapi: 3.1.0
info: {title: a, version: "1"}
paths:
  /a:
    post:
      requestBody:
        content:
          application/json:
            schema:
              type: object
              properties: {n: {type: string}}
              not: {required: [x]}
              if: {required: [y]}
              then: {required: [z]}
              patternProperties: {"^x-": {type: string}}
      responses: {"200": {description: ok}}
`), OpenAPIOptions{Writes: true})
	if err != nil {
		t.Fatal(err)
	}
	want(t, "the report", strings.Join(append(d.LeftOut, d.Notes...), "\n"), "line 12: not of a schema", "line 13: if of a schema", "line 15: patternProperties of a schema")
}
