package load

import (
	"bytes"
	"strings"

	"github.com/andybalholm/cascadia"
	"github.com/goccy/go-yaml/ast"
	"golang.org/x/net/html"
)

// cssQuery finds a value in an HTML page: an attribute of the first element
// that matches, or its text. Parsing a page allocates; only steps that use it
// pay for that.
type cssQuery struct {
	text string
	sel  cascadia.Sel
	attr string // "": the text
}

func (c *compiler) readCSS(selector, attr ast.Node, what string) *cssQuery {
	text, ok := c.text(selector, what+": css")
	if !ok {
		return nil
	}
	q := &cssQuery{text: text}
	var err error
	if q.sel, err = cascadia.Parse(text); err != nil {
		c.fail(selector, "%s: css: %q is no selector (%v); write for example form#login input[name=csrf]", what, shorten(text, 80), err)
		return nil
	}
	if attr != nil {
		q.attr, _ = c.text(attr, what+": attr")
	}
	return q
}

// maxPage that is searched, in bytes: parsing takes some ten nanoseconds for
// each, and the other users wait meanwhile.
const maxPage = 4 << 20

// page parses the answer once, however many queries there are; nil if it is
// too large or nested too deep for the parser (512 elements).
func (u *user) page() *html.Node {
	if u.dom == nil && len(u.text) <= maxPage {
		if dom, err := html.Parse(bytes.NewReader(u.text)); err == nil {
			u.dom = dom
		}
	}
	return u.dom
}

func (q *cssQuery) find(u *user) (value []byte, ok bool) {
	page := u.page()
	if page == nil {
		return nil, false
	}
	n := cascadia.Query(page, q.sel)
	if n == nil {
		return nil, false
	}
	if q.attr != "" {
		for _, a := range n.Attr {
			if strings.EqualFold(a.Key, q.attr) {
				return []byte(a.Val), true
			}
		}
		return nil, false
	}
	var b bytes.Buffer
	appendText(&b, n, 0)
	return bytes.TrimSpace(b.Bytes()), true
}

// appendText of an element and all within it.
func appendText(b *bytes.Buffer, n *html.Node, depth int) {
	if n.Type == html.TextNode {
		b.WriteString(n.Data)
	}
	if depth > 512 { // the parser's own bound on nesting
		return
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		appendText(b, c, depth+1)
	}
}

// cookie is a cookie's value by its name, as the session has it now.
func (j *jar) value(name string) ([]byte, bool) {
	for i := range j.cookies {
		if string(j.cookies[i].name) == name {
			return j.cookies[i].value, true
		}
	}
	return nil, false
}
