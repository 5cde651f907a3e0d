package load

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// maxUpload of one file in bytes: it is held in memory, once in the scenario
// and once for each user that sends it.
const maxUpload = 64 << 20

// upload is one part of a multipart body (RFC 7578).
type upload struct {
	field, name, contentType string
	isFile                   bool
	content                  template
}

// readMultipart reads multipart: fields with a text each, or with a file or
// text, a name and a type; a list repeats a field.
func (c *compiler) readMultipart(st *step, n ast.Node, sc *scope) {
	var parts []upload
	for _, p := range c.document.pairs(n, st.name+": multipart") {
		values := []ast.Node{p.value}
		if _, several := c.resolve(p.value).(*ast.SequenceNode); several {
			values = c.list(p.value, st.name+": multipart: "+p.key)
		}
		for _, v := range values {
			parts = append(parts, c.readPart(st, p, v, sc))
		}
	}
	if len(parts) == 0 {
		c.fail(n, "%s: multipart has no parts; write for example multipart: {picture: {file: cat.png, type: image/png}}", st.name)
		return
	}
	boundary := boundaryOf(parts)
	st.bodyType = "multipart/form-data; boundary=" + boundary
	for _, u := range parts {
		head := "--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + u.field + "\""
		if u.isFile {
			head += "; filename=\"" + u.name + "\""
		}
		if u.contentType != "" {
			head += "\r\nContent-Type: " + u.contentType
		}
		st.body.addLiteral([]byte(head + "\r\n\r\n"))
		st.body.addTemplate(u.content)
		st.body.addLiteral([]byte("\r\n"))
	}
	st.body.addLiteral([]byte("--" + boundary + "--\r\n"))
}

// readPart reads one part of the field p.
func (c *compiler) readPart(st *step, p pair, n ast.Node, sc *scope) upload {
	what := st.name + ": multipart: " + p.key
	u := upload{field: p.key}
	switch c.resolve(n).(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		c.readUpload(&u, n, what, sc)
	default:
		u.content = c.textTemplate(n, what, rawText, sc)
	}
	for _, s := range []string{u.field, u.name, u.contentType} {
		if strings.ContainsAny(s, "\r\n\"") {
			c.fail(p.at, "%s: names and types of parts hold no quotes and line breaks", what)
		}
	}
	return u
}

func (c *compiler) readUpload(u *upload, n ast.Node, what string, sc *scope) {
	o := c.object(n, what, "file", "text", "name", "type")
	if o["name"] != nil {
		u.name, _ = c.text(o["name"], what+": name")
		u.isFile = true
	}
	if o["type"] != nil {
		u.contentType, _ = c.text(o["type"], what+": type")
	}
	switch {
	case o["file"] != nil && o["text"] == nil:
		path, ok := c.text(o["file"], what+": file")
		if !ok {
			return
		}
		data, full, ok := c.readBeside(o["file"], what+": file", path, maxUpload)
		if !ok {
			return
		}
		u.isFile = true
		if u.name == "" {
			u.name = filepath.Base(full)
		}
		if u.contentType == "" {
			u.contentType = "application/octet-stream" // RFC 7578, 4.4
		}
		u.content.addLiteral(data)
	case o["text"] != nil && o["file"] == nil:
		u.content = c.textTemplate(o["text"], what+": text", rawText, sc)
	default:
		c.fail(n, "%s needs one of file and text", what)
	}
}

// readBeside reads a file whose path is relative to the scenario's folder.
func (c *compiler) readBeside(n ast.Node, what, path string, most int64) (data []byte, full string, ok bool) {
	if full = path; !filepath.IsAbs(path) {
		full = filepath.Join(filepath.Dir(c.name), path)
	}
	c.reads(full)
	f, err := os.Open(full)
	if err != nil {
		hint := "check its permissions"
		if errors.Is(err, fs.ErrNotExist) {
			hint = "its path is relative to the scenario's folder"
		}
		c.fail(n, "%s: %v; %s", what, err, hint)
		return nil, full, false
	}
	defer f.Close()
	if data, err = io.ReadAll(io.LimitReader(f, most+1)); err != nil {
		c.fail(n, "%s: %v; write the path of a file", what, err)
		return nil, full, false
	}
	if int64(len(data)) > most {
		c.fail(n, "%s: %s is larger than %d MiB; use a smaller file", what, full, most>>20)
		return nil, full, false
	}
	return data, full, true
}

// boundaryOf parts does not occur in what is known of them; it is the same for
// the same parts, so that requests are.
func boundaryOf(parts []upload) string {
	sum := sha256.New()
	for _, u := range parts {
		for _, p := range u.content.parts {
			sum.Write(p.literal)
		}
		sum.Write([]byte(u.field + "\x00" + u.name + "\x00"))
	}
	for {
		boundary := "kasoku-" + hex.EncodeToString(sum.Sum(nil)[:16])
		clash := false
		for _, u := range parts {
			for _, p := range u.content.parts {
				clash = clash || bytes.Contains(p.literal, []byte(boundary))
			}
		}
		if !clash {
			return boundary
		}
		sum.Write([]byte{1})
	}
}
