package record

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

var serverVariable = regexp.MustCompile(`\{([^{}]+)\}`)

// basePath is the path that stands before those of the document: of the
// nearest list of servers, or Swagger 2's basePath.
func (a *apiDraft) basePath(item, op apiNode) string {
	if a.swagger {
		base := a.root.get("basePath").text()
		if base != "" && !strings.HasPrefix(base, "/") {
			base = "/" + base
		}
		return strings.TrimSuffix(sendable(base), "/")
	}
	for _, at := range []apiNode{op, item, a.root} {
		if list := at.get("servers").items(); len(list) > 0 {
			return a.serverPath(list)
		}
	}
	return ""
}

// serverPath is the first server's path; that there are others is told.
func (a *apiDraft) serverPath(list []apiNode) string {
	first := a.onePath(list[0])
	for _, other := range list[1:] {
		if p := a.onePath(other); p != first {
			a.files.problem(other, fmt.Sprintf("another server has the path %q; that of the first, %q, is taken", p, first))
		}
	}
	return first
}

func (a *apiDraft) onePath(server apiNode) string {
	at := server.get("url")
	text := serverVariable.ReplaceAllStringFunc(at.text(), func(s string) string {
		name := s[1 : len(s)-1]
		v := server.get("variables").get(name)
		if d := v.get("default").text(); d != "" {
			return d
		}
		if list := v.get("enum").items(); len(list) > 0 {
			return list[0].text()
		}
		a.files.problem(at, fmt.Sprintf("the variable %s of a server has no default; its name is taken", shortText(s, 40)))
		return name
	})
	if scheme := strings.Index(text, "://"); scheme < 0 && text != "" && !strings.HasPrefix(text, "/") {
		// "api.example.com/v1" or "v1"; the standard takes both as relative.
		host, _, _ := strings.Cut(text, "/")
		if strings.ContainsAny(host, ".:") && !strings.HasPrefix(host, ".") || host == "localhost" {
			text = "http://" + text
		} else {
			text = "/" + strings.TrimPrefix(strings.TrimPrefix(text, "./"), "../")
		}
	}
	u, err := url.Parse(text)
	if err != nil {
		a.files.problem(at, fmt.Sprintf("the server's url %q is none: no path is put in front", shortText(text, 60)))
		return ""
	}
	if !strings.HasPrefix(u.Path, "/") {
		return ""
	}
	return strings.TrimSuffix(sendable(u.EscapedPath()), "/")
}
