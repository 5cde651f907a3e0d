package accesslog

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// role is what a digest needs of a line, with the names that programs and people have
// for it, besides those of the tables: a label that no table has is read as the role
// whose name it nearly is, if its values can be that and no other label has the role.
type role struct {
	what  string // in a sentence
	place place
	kinds []kind // that have it already
	names []string
	not   []string // words of a name that is something else
	suits func(v []byte) bool
	alone bool // the values alone tell
}

var otherSide = []string{"upstream", "backend", "origin", "header", "headers", "error", "exit", "cache"}

var roles = []role{
	{"the time", place{kind: kindTime}, []kind{kindTime, kindBegin},
		[]string{"time", "timestamp", "time_local", "time_iso8601", "datetime", "date", "date_time", "event_time", "log_time", "start_time", "end_time", "created_at", "logged_at", "ts", "at", "@time", "@timestamp"},
		nil, func(v []byte) bool { _, ok := (&clock{long: true}).read(v); return ok }, false},
	{"the request", place{kind: kindRequest}, []kind{kindRequest, kindMethod},
		[]string{"request", "req", "request_line"}, nil, func(v []byte) bool { return isRequest(v) && bytes.Contains(v, []byte(" HTTP/")) }, true},
	{"the method", place{kind: kindMethod}, []kind{kindMethod, kindRequest},
		[]string{"method", "request_method", "req_method", "http_method", "verb", "http_verb"}, nil, knownMethod, true},
	{"the address asked for", place{kind: kindTarget}, []kind{kindTarget, kindPath, kindRequest},
		[]string{"uri", "request_uri", "req_uri", "url", "request_url", "req_url", "path", "request_path", "req_path", "requested_path", "url_path", "uri_path", "endpoint", "resource"},
		[]string{"referer", "referrer", "redirect", "location", "file", "script"}, isTarget, true},
	{"the status", place{kind: kindStatus, unsure: byValues}, []kind{kindStatus, kindCode},
		[]string{"status", "status_code", "http_status", "http_code", "http_status_code", "response_status", "resp_status", "res_status", "response_code", "resp_code", "res_code", "response_status_code", "code"},
		otherSide, possibleStatus, false},
	{"the size of the answer", place{kind: kindBytes, unsure: byValues}, []kind{kindBytes, kindBytesDash, kindSize},
		[]string{"bytes", "byte", "size", "body_bytes_sent", "body_bytes", "body_size", "bytes_sent", "bytes_out", "bytes_written", "sent_bytes", "out_bytes", "response_size", "resp_size", "res_size", "response_bytes",
			"resp_bytes", "response_length", "resp_length", "response_body_size", "response_body_bytes", "content_length", "content_size", "length"},
		append([]string{"req", "request", "requests", "received", "recv", "read", "in", "upload", "uploaded", "site", "side", "batch", "page"}, otherSide...), isSize, false},
	{"the request's time", place{kind: kindRequestTime}, []kind{kindRequestTime},
		[]string{"resp_duration", "response_duration", "res_time", "dur", "req_ms", "total_duration", "execution_time", "spent"},
		append([]string{"connect", "wait", "queue", "db", "sql", "dns", "tls", "ttfb", "ttl", "timeout", "uptime", "stamp", "first", "start", "end", "cpu", "render", "view"}, otherSide...), isTook, false},
}

func init() {
	r := &roles[len(roles)-1]
	for _, name := range slices.Sorted(maps.Keys(timeNames)) {
		if timeNames[name].kind == kindRequestTime {
			r.names = append(r.names, name)
		}
	}
}

func isTarget(v []byte) bool {
	return len(v) > 0 && v[0] == '/' && bytes.IndexByte(v, ' ') < 0 || bytes.HasPrefix(v, []byte("http://")) || bytes.HasPrefix(v, []byte("https://"))
}

func isSize(v []byte) bool { return isDigits(withoutZeros(v)) || string(v) == "-" }

func isTook(v []byte) bool {
	_, ok := duration(v, seconds)
	return ok || isDecimal(v)
}

// labelled are the labels of a log's lines with their values.
type labelled struct {
	lines  int // of pairs
	values map[string][]string
	places map[string]place // of the lines' form
}

// aliases are the places of labels that no table has, of a log whose lines are pairs;
// the notes tell what was taken for what. nil: all is there, or nothing fits.
func aliases(lines [][]byte) (found map[string]place, notes []string) {
	var all labelled
	for _, line := range lines {
		all.add(line)
	}
	if 2*all.lines < len(lines) || all.lines == 0 {
		return nil, nil
	}
	labels := slices.Sorted(maps.Keys(all.values))
	whole := false // a request line was found
	for i := range roles {
		r := &roles[i]
		label, sameName := all.lacks(r, labels)
		if label == "" || whole && slices.Contains(r.kinds, kindRequest) {
			continue
		}
		whole = whole || r.place.kind == kindRequest
		if found == nil {
			found = map[string]place{}
		}
		p := r.place
		if p.kind == kindRequestTime {
			p = tookPlace(label)
		}
		found[label] = p
		if !sameName {
			notes = append(notes, fmt.Sprintf("%q is read as %s, by its name and values", label, r.what))
		}
	}
	return found, notes
}

// add notes a line's pairs.
func (a *labelled) add(line []byte) {
	if a.values == nil {
		a.values = map[string][]string{}
	}
	pairs, places := pairsOf(line)
	if len(pairs) < leastPairs {
		return
	}
	a.lines++
	a.places = places
	for label, value := range pairs {
		label = string(innerKey([]byte(label)))
		if len(a.values) < maxLabels || a.values[label] != nil {
			a.values[label] = append(a.values[label], value)
		}
	}
}

// pairsOf are a line's labels with their values, and the places of its form: JSON, LTSV, or
// names with values.
func pairsOf(line []byte) (pairs map[string]string, places map[string]place) {
	pairs = map[string]string{}
	s := scanner{b: bytes.Clone(line), e: &Entry{}, c: &clock{}, marks: pairs}
	if s.opens(); s.peek() == '{' && s.value(0) {
		return pairs, jsonPlaces
	}
	if pairs = ltsvPairs(line); len(pairs) >= leastPairs {
		return pairs, ltsvPlaces
	}
	return namedPairs(line), lineKeys
}

// ltsvPairs are the labels and values that a colon joins, between tabs.
func ltsvPairs(line []byte) map[string]string {
	pairs := map[string]string{}
	for pair := range bytes.SplitSeq(line, []byte("\t")) {
		if label, value, ok := bytes.Cut(pair, []byte(":")); ok && isKey(label) {
			pairs[string(label)] = string(value)
		}
	}
	return pairs
}

// namedPairs are the values of a line that have a name.
func namedPairs(line []byte) map[string]string {
	pairs := map[string]string{}
	tokens, _ := split(line, nil)
	for i := range tokens {
		if t := &tokens[i]; t.key != nil {
			pairs[string(t.key)] = string(t.value)
		}
	}
	return pairs
}

// leastPairs of a line of labelled values.
const leastPairs = 3

// lacks is the label that has a role which no label of the tables has; "": none.
// sameName: it is one of the role's names, written otherwise.
func (a *labelled) lacks(r *role, labels []string) (found string, sameName bool) {
	best, several, byValue := maxDistance+1, false, []string{}
	for _, label := range labels {
		p := a.place(label)
		if slices.Contains(r.kinds, p.kind) && a.suit(label, r, true) {
			return "", false
		}
		if p.kind != kindOther && p.kind != kindSkip || !a.suit(label, r, false) {
			continue
		}
		byValue = append(byValue, label)
		d := r.distance(label)
		if d == best {
			several = true
		}
		if d < best {
			best, found, several = d, label, false
		}
	}
	switch {
	case best <= maxDistance && !several:
		return found, best == 0
	case r.alone && len(byValue) == 1 && best > maxDistance:
		return byValue[0], false
	}
	return "", false
}

func (a *labelled) place(label string) place {
	key := label
	if _, ok := a.places["useragent"]; !ok && len(a.places) == len(lineKeys) {
		key = snake([]byte(label))
	}
	if p, ok := a.places[key]; ok {
		return p
	}
	return (&clock{}).placeOf([]byte(label))
}

// mostSuit: so many of a label's values must be what its role has.
const mostSuit = 0.8

// suit: half of the lines have the label, and its values can have the role.
func (a *labelled) suit(label string, r *role, known bool) bool {
	values := a.values[label]
	fits, some := 0, 0
	for _, v := range values {
		if v == "" || v == "-" || v == "null" {
			continue
		}
		if some++; r.suits([]byte(v)) || known && slices.Contains(r.kinds, kindRequest) && isRequest([]byte(v)) {
			fits++
		}
	}
	return 2*len(values) >= a.lines && some > 0 && float64(fits) >= mostSuit*float64(some)
}

// maxDistance of a name to what it was meant to be.
const maxDistance = 2

// parents are objects that a request's values stand in.
var parents = map[string]bool{"req": true, "request": true, "res": true, "resp": true, "response": true, "reply": true, "http": true, "access": true, "log": true, "data": true, "event": true,
	"fields": true, "props": true, "properties": true, "context": true, "ctx": true, "meta": true, "attributes": true, "extra": true, "msg": true, "message": true, "payload": true, "nginx": true, "apache": true, "proxy": true}

// distance of a label to the nearest of the role's names; above maxDistance: it is none.
func (r *role) distance(label string) int {
	name := strings.ReplaceAll(snake([]byte(label)), ".", "_")
	short := name
	if at := strings.LastIndexByte(label, '.'); at > 0 {
		if !withinParents(label[:at]) {
			return maxDistance + 1
		}
		short = snake([]byte(label[at+1:]))
	}
	if r.excludes(name, short) {
		return maxDistance + 1
	}
	if r.place.kind == kindRequestTime {
		if _, ok := unitNames[short]; ok { // {"ms": 12}
			return 1
		}
		short = withoutUnit(short)
	}
	return r.nearest(name, short)
}

// withinParents: each of the objects that a label stands in, joined by dots, is one of
// parents.
func withinParents(objects string) bool {
	for parent := range strings.SplitSeq(objects, ".") {
		if !parents[strings.ToLower(parent)] {
			return false
		}
	}
	return true
}

// excludes: a word of the name says that it is something else. A short name that is one of
// the role's counts more than that, but for sizes: request.size is not the answer's.
func (r *role) excludes(name, short string) bool {
	if r.place.kind != kindBytes && slices.Contains(r.names, short) {
		return false
	}
	for word := range strings.SplitSeq(name, "_") {
		if slices.Contains(r.not, word) {
			return true
		}
	}
	return false
}

// withoutUnit cuts the unit off that a name ends with: duration_ms.
func withoutUnit(name string) string {
	if at := strings.LastIndexByte(name, '_'); at > 0 {
		if _, ok := unitNames[name[at+1:]]; ok {
			return name[:at]
		}
	}
	return name
}

// nearest is the least distance of some spellings to the role's names; above maxDistance:
// none is near.
func (r *role) nearest(spellings ...string) int {
	best := maxDistance + 1
	for _, want := range r.names {
		for _, got := range spellings {
			if strings.ReplaceAll(got, "_", "") == strings.ReplaceAll(want, "_", "") {
				return 0
			}
			d := edits(got, want)
			if n := min(len(got), len(want)); d <= 1 && n >= 3 && len(want) >= 4 || d <= 2 && n >= 8 {
				best = min(best, d)
			}
		}
	}
	return best
}

// edits is how many letters are wrong, missing, too many, or beside their places (optimal
// string alignment).
func edits(a, b string) int {
	if len(a)-len(b) > maxDistance || len(b)-len(a) > maxDistance {
		return maxDistance + 1
	}
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row := rows[0], rows[1], rows[2]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		rows = [3][]int{last, row, before}
	}
	return rows[1][len(b)]
}

// tookPlace is a request time's, with the unit that its name ends with.
func tookPlace(label string) place {
	name := snake([]byte(label))
	if at := strings.LastIndexAny(name, "_."); at > 0 {
		name = name[at+1:]
	}
	if unit, ok := unitNames[name]; ok {
		return place{kind: kindRequestTime, unit: unit}
	}
	return requestUnsure
}
