package record

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

var serverVariable = regexp.MustCompile(`\{([^{}]+)\}`)

// basePath is the path that stands before those of the document: of the
// nearest list of servers, or Swagger 2's basePath. Load goes to one host: an
// operation of another one is an error.
func (a *apiDraft) basePath(item, op apiNode) (string, error) {
	if a.swagger {
		base := a.root.get("basePath").text()
		if base != "" && !strings.HasPrefix(base, "/") {
			base = "/" + base
		}
		return strings.TrimSuffix(sendable(base), "/"), nil
	}
	for i, at := range []apiNode{op, item, a.root} {
		list := at.get("servers").items()
		if len(list) == 0 {
			continue
		}
		own := slices.DeleteFunc(slices.Clone(list), func(server apiNode) bool {
			host := a.serverHost(server)
			return host != "" && host != a.host
		})
		if len(own) == 0 && i < 2 {
			return "", fmt.Errorf("it is on another host, %s; load goes to one: make a scenario of its own for it", printable(a.serverHost(list[0])))
		}
		if i < 2 {
			list = own
		}
		return a.serverPath(list), nil
	}
	return "", nil
}

// mainHost is that of the document's first server; without one, that of most
// operations.
func (a *apiDraft) mainHost(paths apiNode) {
	if list := a.root.get("servers").items(); a.swagger || len(list) > 0 {
		if len(list) > 0 {
			a.host = a.serverHost(list[0])
		}
		return
	}
	count := map[string]int{}
	for _, m := range paths.members() {
		for _, o := range m.value.members() {
			if !slices.Contains(order, strings.ToUpper(o.key)) {
				continue
			}
			host := ""
			for _, at := range []apiNode{o.value, m.value} {
				if list := at.get("servers").items(); len(list) > 0 {
					host = a.serverHost(list[0])
					break
				}
			}
			if count[host]++; count[host] > count[a.host] {
				a.host = host
			}
		}
	}
}

// serverHost is the host of a server's address; "" if it is relative.
func (a *apiDraft) serverHost(server apiNode) string {
	u := a.address(server)
	return strings.ToLower(u.Host)
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

// address of a server with its variables; never nil.
func (a *apiDraft) address(server apiNode) *url.URL {
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
		return &url.URL{}
	}
	return u
}

func (a *apiDraft) onePath(server apiNode) string {
	u := a.address(server)
	if !strings.HasPrefix(u.Path, "/") {
		return ""
	}
	return strings.TrimSuffix(sendable(u.EscapedPath()), "/")
}
