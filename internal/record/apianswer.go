package record

import (
	"slices"
	"strconv"
	"strings"
)

// classes of statuses that one entry describes.
var classes = map[string][]int{"2xx": {200, 201, 202, 204}, "3xx": {301, 302, 303, 307, 308}}

// answers sets what is expected: the documented 2xx and 3xx, and the type.
func (a *apiDraft) answers(st *step, method string, op apiNode) {
	types := map[string]bool{}
	empty := false
	for _, m := range op.get("responses").members() {
		code := strings.ToLower(m.key)
		status, err := strconv.Atoi(code)
		switch {
		case classes[code] != nil:
			st.status = append(st.status, classes[code]...)
		case err != nil || status < 200 || status > 399:
			continue
		default:
			st.status = append(st.status, status)
		}
		produced := m.value.get("content").members()
		if len(produced) == 0 {
			empty = true
		}
		for _, t := range produced {
			types[baseType(t.key)] = true
		}
	}
	slices.Sort(st.status)
	st.status = slices.Compact(st.status)
	if len(st.status) == 0 {
		a.hints["no answer with 2xx or 3xx is described, so 200 is expected"]++
	}
	if len(types) == 1 && !empty && method != "HEAD" {
		for t := range types {
			if !strings.Contains(t, "*") && t != "" && isLine(t) {
				st.typ = literal(t)
			}
		}
	}
}
