package record

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"kasoku/internal/accesslog"
	"kasoku/internal/lazyregexp"
)

// operationFields say what is asked for where one address serves everything
// (backend.php, admin-ajax.php, JSON-RPC, GraphQL), most telling first.
var operationFields = []string{"op", "operationName", "cmd", "do", "act", "action", "method", "function", "func", "service", "controller", "task"}

// operation is what a request asks one address for ("op=rpc method=getAllCounters"), ""
// if nothing says so. more are fields that tell it at this address alone.
func (e *harEntry) operation(more []string) string {
	fields := e.fields()
	var out []string
	for _, name := range append(more[:len(more):len(more)], operationFields...) {
		if value := fields.Get(name); accesslog.IsOperation(value) {
			out = append(out, name+"="+value)
		}
	}
	return strings.Join(out, " ")
}

// fields are the texts of a request's query, form, or JSON object.
func (e *harEntry) fields() url.Values {
	out := e.url.Query()
	post := e.Request.Post
	if post == nil || len(post.Text) > maxRecordedBody {
		return out
	}
	for _, p := range post.Params {
		out.Set(unescape(p.Name), unescape(p.Value))
	}
	switch kind := baseType(post.Type); {
	case kind == formType:
		form, err := url.ParseQuery(post.Text)
		for name := range form {
			if err == nil {
				out.Set(name, form.Get(name))
			}
		}
	case strings.HasSuffix(kind, "json"):
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(post.Text), &object) != nil {
			return out
		}
		for name, raw := range object {
			var text string
			if json.Unmarshal(raw, &text) == nil {
				out.Set(name, text)
			}
		}
	}
	if name := graphQLName(out.Get("query")); name != "" && out.Get("operationName") == "" {
		out.Set("operationName", name)
	}
	return out
}

// graphQLErrors is what an answer to GraphQL has beside status 200 where a request failed
// (GraphQL specification, section 7.1.2).
const graphQLErrors = `"errors":[`

// refusalOfGraphQL is what no right answer of a GraphQL request has; "" for other requests,
// and where the document asks for a field of that name, or the recorded answer has it.
func (e *harEntry) refusalOfGraphQL() string {
	document := e.fields().Get("query")
	if graphQLName(document) == "" || strings.Contains(document, "errors") || strings.Contains(e.Answer.Content.Text, graphQLErrors) {
		return ""
	}
	return graphQLErrors
}

// graphQLHead is the begin of a GraphQL document's first operation: its kind and name, or
// the first field (behind an alias, if there is one) of one without a name.
var graphQLHead = lazyregexp.New(`^(?:\s|,|#[^\n]*\n)*(?:(query|mutation|subscription)\b[\s,]*([A-Za-z_]\w*)?[^{]*)?\{[\s,]*(?:\w+\s*:\s*)?([A-Za-z_]\w*)`)

// graphQLAfterFragments is the first operation of a document that begins with fragments.
var graphQLAfterFragments = lazyregexp.New(`(?s)^[\s,]*fragment\s.*?\}[\s,]*(query|mutation|subscription)\b[\s,]*([A-Za-z_]\w*)?[^{]*\{[\s,]*(?:\w+\s*:\s*)?([A-Za-z_]\w*)`)

// graphQLName is what a GraphQL document asks for where the request does not name it: the
// name of its first operation, else its first field; "" for any other text.
func graphQLName(document string) string {
	m := graphQLHead.FindStringSubmatch(document)
	if m == nil {
		m = graphQLAfterFragments.FindStringSubmatch(document)
	}
	switch {
	case m == nil:
		return ""
	case m[2] != "":
		return m[2]
	}
	return m[3]
}

// leastAsked is how many requests tell that an address serves everything.
const leastAsked = 4

// learnDispatch finds the parameters by which an address that serves at least half of all
// but files tells what is asked for (index.php?route=product/search): those that all of its
// requests have, with plain words, and not always the same.
func (h *harDraft) learnDispatch(groups [][]*harEntry) {
	asked, all := map[string][]*harEntry{}, 0
	for _, g := range groups {
		for _, e := range g {
			if !accesslog.IsAsset(e.target()) {
				at := accesslog.PathOf(e.target())
				asked[at], all = append(asked[at], e), all+1
			}
		}
	}
	h.dispatch = map[string][]string{}
	for at, list := range asked {
		if len(list) < leastAsked || 2*len(list) < all {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(list[0].url.Query())) {
			if !slices.Contains(operationFields, name) && dispatches(list, name) {
				h.dispatch[at] = append(h.dispatch[at], name)
			}
		}
	}
}

// dispatches says whether all requests have a plain word as a parameter, and not the same.
func dispatches(list []*harEntry, name string) bool {
	values := map[string]bool{}
	for _, e := range list {
		value := e.url.Query().Get(name)
		if !accesslog.IsOperation(value) {
			return false
		}
		values[value] = true
	}
	return len(values) > 1
}

// operation of a request at its address.
func (h *harDraft) operation(e *harEntry) string {
	return e.operation(h.dispatch[accesslog.PathOf(e.target())])
}

// learnOperations notes the addresses that were asked for different things.
func (h *harDraft) learnOperations(groups [][]*harEntry) {
	h.learnDispatch(groups)
	first := map[string]string{}
	h.operations = map[string]bool{}
	for _, g := range groups {
		for _, e := range g {
			at := e.Request.Method + " " + accesslog.PathOf(e.target())
			op := h.operation(e)
			if was, ok := first[at]; ok && was != op {
				h.operations[at] = true
			}
			first[at] = op
		}
	}
}

// label is the route of a request, with its operation where its address serves several. A
// version at the begin of a path (/1.0/accounts) is no number that varies.
func (h *harDraft) label(e *harEntry) string {
	path := h.shownPath(e)
	route, parts := strings.Split(h.routes.Route(path), "/"), strings.Split(accesslog.PathOf(path), "/")
	if len(route) == len(parts) && len(parts) > 2 && version.MatchString(parts[1]) {
		route[1] = parts[1]
	}
	out := e.Request.Method + " " + strings.Join(route, "/")
	if op := h.operation(e); op != "" && h.operations[e.Request.Method+" "+accesslog.PathOf(e.target())] {
		out += " " + op
	}
	return out
}

// wholeVariable is a segment that a variable stands for.
var wholeVariable = lazyregexp.New(`^\$\{([\w-]+)\}$`)

// ofVariables is a route in which segments that the request takes from a variable are named
// by it: names of new things are others in each session.
func ofVariables(route, request string) string {
	path, _, _ := strings.Cut(request, "?")
	of, parts := strings.Split(path, "/"), strings.Split(route, "/")
	if len(of) != len(parts) {
		return route
	}
	for i := range parts {
		if m := wholeVariable.FindStringSubmatch(of[i]); m != nil && !strings.HasPrefix(parts[i], ":") {
			parts[i] = ":" + m[1]
		}
	}
	return strings.Join(parts, "/")
}

var version = lazyregexp.New(`^\d{1,2}\.\d{1,2}$`)
