package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"kasoku/internal/accesslog"
	"kasoku/internal/lazyregexp"
)

// An id that an answer gave out is asked for later: of an order that was just made, of the
// first address of who is logged in. For another visitor, and in the next run, it is another
// one. What everybody sees before logging in has ids that stay.

var (
	// idWords end the names of fields that hold an id; vagueWords only behind another word,
	// and where both fields are named alike: order_no, not no.
	idWords    = []string{"id", "uuid", "guid", "sn", "slug"}
	vagueWords = []string{"key", "no", "number", "code", "ref", "hash"}
	// nameWords cuts a name into its words: orderId, order_id, order[id], order-id.
	nameWords = lazyregexp.New(`[A-Z]+[a-z]*|[a-z]+`)
	// idSegment of a path: a number, a UUID or another long hexadecimal one.
	idSegment = lazyregexp.New(`^(?:\d+|[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|[0-9a-f]{16,}|[0-9A-Z]{26})$`)
)

// words of a name in small letters, without plurals.
func words(name string) []string {
	list := nameWords.FindAllString(name, -1)
	for i, w := range list {
		w = strings.ToLower(w)
		if strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && len(w) > 2 {
			w = w[:len(w)-1]
		}
		list[i] = w
	}
	return list
}

// idName splits the name of a field that holds an id: of what it is ("" of "id"), and
// whether it holds one.
func idName(name string) (of []string, ok bool) {
	list := words(name)
	if len(list) == 0 {
		return nil, false
	}
	last, of := list[len(list)-1], list[:len(list)-1]
	switch {
	case slices.Contains(idWords, last):
		return of, true
	case slices.Contains(vagueWords, last) && len(of) > 0:
		return list, true
	}
	return nil, false
}

// identifier refers to an id that an earlier answer of this session gave out: by a step
// that wrote, or by any once somebody has logged in. about are words of the request that has
// it. What a request had before an answer gave it, or anybody was shown, stays as it was.
func (h *harDraft) identifier(name, value string, about []string) (reference string, found bool) {
	of, ok := idName(name)
	if !ok || value == "" || strings.Trim(value, "0") == "" || len(value) > 64 || h.client {
		return "", false
	}
	loggedIn := false
	for _, m := range h.steps {
		mine := loggedIn || isWrite(m.entry)
		loggedIn = loggedIn || logsIn(m.entry)
		if asksFor(m.entry, value) {
			return "", false
		}
		if !strings.HasSuffix(m.entry.answerType(), "json") || !strings.Contains(m.entry.body, value) {
			continue
		}
		path := idPath(m.entry, value, of, append(slices.Clone(about), of...))
		switch {
		case path == "":
			continue
		case !mine:
			return "", false
		}
		return "${" + h.extracted(m, name, path, value) + "}", true
	}
	return "", false
}

// asksFor: a request names this id in its address.
func asksFor(e *harEntry, id string) bool {
	if slices.Contains(strings.Split(accesslog.PathOf(e.target()), "/"), id) {
		return true
	}
	for name, values := range e.url.Query() {
		if _, ok := idName(name); ok && slices.Contains(values, id) {
			return true
		}
	}
	return false
}

// extracted is the variable that a step extracts by a path, as it does already or from now on.
func (h *harDraft) extracted(m *made, name, path, value string) string {
	for _, x := range m.step.extract {
		if x.json == path {
			return x.name
		}
	}
	x := extract{name: h.vars.unique(strings.Join(nameWords.FindAllString(name, -1), "-")), json: path, value: value}
	m.step.extract = append(m.step.extract, x)
	h.ids++
	return x.name
}

func isWrite(e *harEntry) bool { return slices.Contains(writes, e.Request.Method) }

// logsIn: the request has a field for a password.
func logsIn(e *harEntry) bool {
	if !isWrite(e) {
		return false
	}
	for name := range e.fields() {
		if isPassword(name) {
			return true
		}
	}
	return false
}

// idSearch looks through an answer for an id.
type idSearch struct {
	value            string
	of, about, route []string
	any              bool // whatever it is of
}

// idPath finds where an answer has an id in a field that agrees with the one it is sent by:
// named alike (orderId, order_id), or named id within what is named so, or in an answer to a
// request for such things (id of an address in the list of /addresses).
func idPath(e *harEntry, value string, of, about []string) string {
	return (&idSearch{value: value, of: of, about: about, route: words(accesslog.PathOf(e.target()))}).in(e)
}

// in is the path of the first field of an answer that fits; "" if there is none.
func (s *idSearch) in(e *harEntry) string {
	d := json.NewDecoder(bytes.NewReader([]byte(e.body)))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return ""
	}
	return s.find(v, "$", nil, 0)
}

// find looks at v, which stands at a path inside fields of such names.
func (s *idSearch) find(v any, path string, inside []string, depth int) string {
	if depth > maxJSONDepth {
		return ""
	}
	switch v := v.(type) {
	case []any:
		for i, x := range v {
			if p := s.find(x, path+"["+strconv.Itoa(i)+"]", inside, depth+1); p != "" {
				return p
			}
		}
	case map[string]any:
		return s.findField(v, path, inside, depth)
	}
	return ""
}

// findField prefers an object's own fields to what they hold.
func (s *idSearch) findField(object map[string]any, path string, inside []string, depth int) string {
	keys := slices.DeleteFunc(slices.Sorted(maps.Keys(object)), func(k string) bool { return !plainKey.MatchString(k) })
	for _, k := range keys {
		if scalarText(object[k]) == s.value && s.agrees(k, inside) {
			return path + "." + k
		}
	}
	for _, k := range keys {
		if p := s.find(object[k], path+"."+k, append(slices.Clone(inside), words(k)...), depth+1); p != "" {
			return p
		}
	}
	return ""
}

func scalarText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

// agrees: a field named key, inside fields of such names, holds an id of what the request means.
func (s *idSearch) agrees(key string, inside []string) bool {
	its, ok := idName(key)
	of := s.of
	switch {
	case !ok || s.any:
		return ok
	case len(its) > 0 && len(of) > 0:
		return its[len(its)-1] == of[len(of)-1]
	case len(its) > 0: // sent as id alone
		return slices.Contains(s.about, its[len(its)-1])
	case len(of) > 0: // given as id alone
		return slices.Contains(inside, of[len(of)-1]) || slices.Contains(s.route, of[len(of)-1])
	}
	for _, w := range s.about {
		if !slices.Contains(commonWords, w) && (slices.Contains(inside, w) || slices.Contains(s.route, w)) {
			return true
		}
	}
	return false
}

// commonWords of paths say nothing of what is asked for.
var commonWords = []string{"api", "app", "rest", "web", "json", "index", "detail", "list", "get", "show", "view", "data", "item", "php", "do", "action", "v"}

// segments of a path with the ids in it that earlier answers gave out.
func (h *harDraft) segments(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if i == 0 || !idSegment.MatchString(p) {
			if v, found := h.madeName(p); found && i > 0 {
				parts[i] = v
				continue
			}
			parts[i] = literal(p)
			continue
		}
		before := ""
		for _, b := range slices.Backward(parts[:i]) {
			if w := words(b); len(w) > 0 && !strings.Contains(b, "${") {
				before = w[len(w)-1]
				break
			}
		}
		v, found := h.identifier(before+"Id", p, words(path))
		if !found {
			v, found = h.madeLink(strings.Join(parts[:i], "/")+"/", p)
		}
		if found {
			parts[i] = v
		} else {
			parts[i] = literal(p)
		}
	}
	return strings.Join(parts, "/")
}

// slug is a name that a service makes for a new thing, such as of its title.
var slug = lazyregexp.New(`^[\pL\d][\pL\d_.-]{3,99}$`)

// madeName refers to a name that the answer to a write gave in a field for an id or a slug:
// for a second thing of the same title it is another one. What was asked for or shown before
// stays.
func (h *harDraft) madeName(name string) (reference string, found bool) {
	if h.client || !slug.MatchString(name) {
		return "", false
	}
	for _, m := range h.steps {
		if asksFor(m.entry, name) {
			return "", false
		}
		if !strings.Contains(m.entry.body, name) {
			continue
		}
		if !isWrite(m.entry) || logsIn(m.entry) || !strings.HasSuffix(m.entry.answerType(), "json") {
			return "", false
		}
		path := (&idSearch{value: name, any: true}).in(m.entry)
		if path == "" {
			return "", false
		}
		return "${" + h.extracted(m, path[strings.LastIndexByte(path, '.')+1:], path, name) + "}", true
	}
	return "", false
}

// madeLink refers to an id of what a write made: no answer before it has a link with this
// begin and this id, and one after it has.
func (h *harDraft) madeLink(before, id string) (reference string, found bool) {
	if strings.Contains(before, "${") || h.client {
		return "", false
	}
	link := regexp.MustCompile(`["'= ]` + regexp.QuoteMeta(before) + regexp.QuoteMeta(id) + `(?:["'/?# &]|$)`)
	written := false
	for _, m := range h.steps {
		written = written || isWrite(m.entry) && !logsIn(m.entry)
		if at := link.FindString(m.entry.body); at != "" {
			if !written {
				return "", false
			}
			return h.linkOf(m, before, id)
		}
	}
	return "", false
}

// linkOf has a step extract the id of its answer's first link with this begin, which must be this id.
func (h *harDraft) linkOf(m *made, before, id string) (reference string, found bool) {
	pattern := `["'= ]` + regexp.QuoteMeta(before) + `([^"'/?#\s&<>]+)`
	if got := regexp.MustCompile(pattern).FindStringSubmatch(m.entry.body); got == nil || got[1] != id {
		return "", false
	}
	for _, x := range m.step.extract {
		if x.regexp == pattern {
			return "${" + x.name + "}", true
		}
	}
	x := extract{name: h.vars.unique(strings.Join(append(words(before), "id"), "-")), regexp: pattern, value: id}
	m.step.extract = append(m.step.extract, x)
	h.ids++
	return "${" + x.name + "}", true
}

// idsNote tells how many ids come from answers.
func (h *harDraft) idsNote() {
	if h.ids > 0 {
		h.notes = append(h.notes, fmt.Sprintf("%d ids of later requests are taken from earlier answers (extract), since each visitor has others: an account that has none of what is asked for there fails.", h.ids))
	}
}
