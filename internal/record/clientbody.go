package record

import (
	"cmp"
	"net/url"
	"path"
	"strings"
)

// leaveBody takes the body away from a request whose method has none.
func (c *client) leaveBody(q *clientRequest, line int) {
	if (q.post != nil || len(q.parts) > 0) && (q.method == "GET" || q.method == "HEAD") {
		c.leave(line, "%s with a body, which load does not send: the body is left out", q.method)
		q.post, q.parts = nil, nil
	}
}

// urlencode: content, =content, name=content, @file, name@file (curl(1)).
func (cmd *curlCommand) urlencode(v word) {
	at := strings.IndexAny(v.text, "=@")
	if at < 0 {
		cmd.data = append(cmd.data, url.QueryEscape(v.text))
		return
	}
	name, value := v.text[:at], v.text[at+1:]
	if v.text[at] == '@' {
		value, _ = cmd.file(value, v.line)
	}
	text := url.QueryEscape(value)
	if name != "" {
		text = name + "=" + text
	}
	cmd.data = append(cmd.data, text)
}

// form is a part: name=value, name=@file;type=…, name=<file.
func (cmd *curlCommand) form(v word, special bool) {
	name, value, ok := strings.Cut(v.text, "=")
	if !ok {
		cmd.leave(v.line, "a part of -F that has no name")
		return
	}
	p := part{name: name, text: value}
	if special {
		fields := strings.Split(value, ";")
		p.text = fields[0]
		for _, f := range fields[1:] {
			if k, val, ok := strings.Cut(strings.TrimSpace(f), "="); ok && k == "type" {
				p.typ = val
			} else if k == "filename" {
				p.file = strings.Trim(val, `"`)
			} else {
				p.text += ";" + f
			}
		}
		switch {
		case strings.HasPrefix(p.text, "@"):
			file := strings.Trim(p.text[1:], `"`)
			p.file = cmp.Or(p.file, path.Base(file))
			if p.text, ok = cmd.file(file, v.line); !ok {
				p.text = "file"
			}
		case strings.HasPrefix(p.text, "<"):
			p.text, _ = cmd.file(p.text[1:], v.line)
		default:
			p.text = strings.Trim(p.text, `"`)
		}
	}
	cmd.q.parts = append(cmd.q.parts, p)
}
