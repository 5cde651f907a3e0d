package load

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/goccy/go-yaml/ast"

	"kasoku/internal/lazyregexp"
)

func (c *compiler) readBody(st *step, o map[string]ast.Node, sc *scope) {
	for _, kind := range []string{"form", "json", "body", "multipart"} {
		n := o[kind]
		if n == nil {
			continue
		}
		if st.hasBody {
			c.fail(n, "%s has more than one of form, json, body and multipart; keep one", st.name)
			return
		}
		st.hasBody = true
		switch kind {
		case "form":
			st.bodyType = "application/x-www-form-urlencoded"
			c.readForm(st, n, sc)
		case "json":
			st.bodyType = "application/json"
			c.jsonTemplate(n, st.name+": json", &st.body, sc, 0)
		case "multipart":
			c.readMultipart(st, n, sc)
		case "body":
			st.body = c.textTemplate(n, st.name+": body", rawText, sc)
		}
		if st.method == "GET" || st.method == "HEAD" {
			c.fail(n, "%s: %s requests have no body; put the values into the path, for example /search?q=${word.w}, or use POST", st.name, st.method)
		}
	}
	if st.own.contentType {
		st.bodyType = ""
	}
}

func (c *compiler) readForm(st *step, n ast.Node, sc *scope) {
	for i, p := range c.document.pairs(n, st.name+": form") {
		for j, v := range c.formValues(st.name+": "+p.key, p.value) {
			if i+j > 0 {
				st.body.addLiteral([]byte("&"))
			}
			st.body.addLiteral(append(appendURL(nil, []byte(p.key), true), '='))
			st.body.addTemplate(c.template(v.at, st.name+": "+p.key, v.key, formText, sc))
		}
	}
}

// formValues of one field: nothing (null) is an empty value.
func (c *compiler) formValues(what string, n ast.Node) []pair {
	if isNull(c.resolve(n)) {
		return []pair{{at: n}}
	}
	return c.texts(n, what)
}

// numberVariable is a text of a JSON body that stands for a number: "${id:number}".
var numberVariable = lazyregexp.New(`^\$\{([A-Za-z_][\w-]*(?:\.[^${}:]+)?):number\}$`)

// jsonTemplate compiles a YAML value to the JSON that it means.
func (c *compiler) jsonTemplate(n ast.Node, what string, t *template, sc *scope, depth int) {
	if depth > maxNesting {
		c.fail(n, "%s is nested deeper than %d", what, maxNesting)
		return
	}
	add := func(s string) { t.addLiteral([]byte(s)) }
	switch v := c.resolve(n).(type) {
	case nil:
	case *ast.NullNode:
		add("null")
	case *ast.BoolNode:
		add(strconv.FormatBool(v.Value))
	case *ast.IntegerNode:
		add(fmt.Sprint(v.Value))
	case *ast.FloatNode:
		add(strconv.FormatFloat(v.Value, 'g', -1, 64))
	case *ast.StringNode, *ast.LiteralNode:
		if text, ok := c.text(n, what); ok && numberVariable.MatchString(text) {
			t.addTemplate(c.template(n, what, numberVariable.ReplaceAllString(text, "$${$1}"), jsonNumber, sc))
			return
		}
		add(`"`)
		t.addTemplate(c.textTemplate(n, what, jsonText, sc))
		add(`"`)
	case *ast.SequenceNode:
		add("[")
		for i, e := range v.Values {
			if i > 0 {
				add(",")
			}
			c.jsonTemplate(e, what, t, sc, depth+1)
		}
		add("]")
	case *ast.MappingNode, *ast.MappingValueNode:
		add("{")
		for i, p := range c.document.pairs(n, what) {
			if i > 0 {
				add(",")
			}
			key, _ := json.Marshal(p.key) // a string always has a JSON form
			add(string(key) + ":")
			c.jsonTemplate(p.value, what, t, sc, depth+1)
		}
		add("}")
	default:
		c.fail(n, "%s: %s has no JSON form", what, kindOf(v))
	}
}
