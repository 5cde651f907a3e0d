package record

import (
	"fmt"
	"strings"
)

// secure writes placeholders for what the operation's first alternative needs.
// No alternative, or an empty one, needs nothing.
func (a *apiDraft) secure(st *step, op apiNode, query *[]string) {
	needs := a.root.get("security")
	if own := op.get("security"); own.ok() {
		needs = own
	}
	list := needs.items()
	for _, alternative := range list {
		if len(alternative.members()) == 0 {
			return
		}
	}
	if len(list) == 0 {
		return
	}
	schemes := a.root.get("components").get("securitySchemes")
	if a.swagger {
		schemes = a.root.get("securityDefinitions")
	}
	for _, m := range list[0].members() {
		s := schemes.get(m.key)
		if !s.ok() {
			a.files.problem(m.at, fmt.Sprintf("the security scheme %q is not described", shortText(m.key, 60)))
			continue
		}
		a.scheme(st, m.key, s, query)
	}
}

func (a *apiDraft) scheme(st *step, name string, s apiNode, query *[]string) {
	header, value := "Authorization", "Bearer "+fillIn
	kind, in, field := s.get("type").text(), s.get("in").text(), s.get("name").text()
	switch {
	case kind == "basic" || kind == "http" && strings.EqualFold(s.get("scheme").text(), "basic"):
		value = "Basic " + fillIn
		a.security["Fill in Authorization (basic): the Base64 of user:password, wherever "+fillIn+" stands."] = true
	case kind == "http" && s.get("scheme").text() != "" && !strings.EqualFold(s.get("scheme").text(), "bearer"):
		value = s.get("scheme").text() + " " + fillIn
		a.security["Fill in Authorization ("+printable(s.get("scheme").text())+") wherever "+fillIn+" stands; a scheme that signs each request cannot be sent."] = true
	case kind == "apiKey" && field == "":
		a.files.problem(s, "an apiKey without name is left out")
		return
	case kind == "apiKey" && in == "query":
		*query = append(*query, literal(queryEscape(field))+"="+fillIn)
		a.security["Fill in the query parameter "+field+" wherever "+fillIn+" stands."] = true
		return
	case kind == "apiKey" && in == "cookie":
		header, value = "Cookie", field+"="+fillIn
		a.security["Fill in the cookie "+field+" wherever "+fillIn+" stands, or add a login step and remove the header."] = true
	case kind == "apiKey":
		header, value = field, fillIn
		a.security["Fill in the header "+field+" wherever "+fillIn+" stands."] = true
	case kind == "mutualTLS":
		a.security["The service wants a client's certificate ("+name+"), which load does not send."] = true
		return
	default:
		a.security["Fill in the bearer token ("+name+") wherever "+fillIn+" stands, or extract it in a setup step: setup: with extract: {token: {json: $.access_token}}, then \"Bearer ${token}\"."] = true
	}
	if plainKey.MatchString(header) && isLine(value) {
		st.headers = append(st.headers, pair{header, literal(value)})
		st.comment = append(st.comment, "Fill in "+header+".")
	}
}
