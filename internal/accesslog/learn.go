package accesslog

import (
	"bytes"
	"strings"
)

// templateLayout makes the short way of a format with literals. ok is false
// if its values cannot be told apart by one byte each.
func templateLayout(f *Format, times bool) (l layout, ok bool) {
	if f.ops == nil || !f.hasRequest() {
		return l, false
	}
	before := string(f.prefix)
	for i := range f.ops {
		o := &f.ops[i]
		p := piece{before: newLiteral(before), place: o.place, width: o.width, fixed: o.width > 0, list: o.list}
		if o.keep || o.spaces > 0 {
			return l, false
		}
		if len(o.until) > 0 {
			p.until = o.until[0]
		}
		l.pieces = append(l.pieces, p)
		before = string(o.until)
	}
	l.ended = newLiteral(before)
	return l.finish(times)
}

// finish decides which pieces a row needs.
func (l layout) finish(times bool) (layout, bool) {
	has := map[kind]bool{}
	counts := -1 // the request time that does
	for i := range l.pieces {
		p := &l.pieces[i]
		if p.kind == kindRequestTime && l.appTime { // by labels
			if counts >= 0 {
				if l.pieces[counts].label() == p.label() {
					return l, false // the last one of that name
				}
				l.rivals = true
			}
			if counts < 0 || p.unsure < l.pieces[counts].unsure { // what is surer, or comes first (Entry.place)
				counts = i
			}
		}
		has[p.kind] = true
	}
	for i := range l.pieces {
		if p := &l.pieces[i]; l.rivals && p.kind == kindRequestTime && i != counts {
			p.kind = kindSkip
		}
	}
	if has[kindHandler] && has[kindFirstByte] { // Upstream depends on both
		return l, false
	}
	apart := has[kindMethod] && (has[kindTarget] || has[kindPath])
	request := 0
	for i := range l.pieces {
		p := &l.pieces[i]
		switch p.kind {
		case kindMethod, kindStatus, kindBytes, kindBytesDash, kindUpstreamTime, kindRequestTime, kindCache, kindTarget:
		case kindTime, kindBegin:
			if p.kind = kindTime; !times {
				p.kind = kindSkip
			}
			times = false // the first one counts
		case kindPath:
			if p.kind = kindTarget; has[kindTarget] || has[kindRequest] {
				p.kind = kindSkip
			}
		case kindRequest:
			if apart {
				p.kind = kindSkip
			}
		default:
			if p.kind >= kindYear && times { // a time in pieces goes the long way
				return l, false
			}
			p.kind = kindSkip
		}
		if p.kind == kindRequest || p.kind == kindTarget {
			request++
		}
		if p.kind != kindSkip {
			l.wanted = i + 1
		}
		p.luck = maxLuck
		if p.after = &l.ended; i+1 < len(l.pieces) {
			p.after = &l.pieces[i+1].before
		}
	}
	return l, request == 1
}

// learnLayout makes the short way from a line of labelled values. Its values
// must not be taken for the labels of others, so lines with escapes or
// repeated labels teach nothing.
func learnLayout(f *Format, line []byte, times bool) (l layout, ok bool) {
	if f.ops != nil || bytes.IndexByte(line, '\\') >= 0 {
		return l, false
	}
	switch f.Name {
	case "ltsv":
		l, ok = learnLTSV(f, line)
	case "json":
		l, ok = learnJSON(f, line)
	}
	if !ok {
		return l, false
	}
	l.appTime = true
	if l, ok = l.finish(times); ok {
		l.wanted = len(l.pieces) // what follows may be other labels
	}
	return l, ok
}

func learnLTSV(f *Format, line []byte) (l layout, ok bool) {
	before := ""
	seen := map[string]bool{}
	for rest := line; len(rest) > 0; {
		pair := rest
		until := byte(0)
		if tab := bytes.IndexByte(rest, '\t'); tab >= 0 {
			pair, rest, until = rest[:tab], rest[tab+1:], '\t'
		} else {
			rest = nil
		}
		at := bytes.IndexByte(pair, ':')
		if at <= 0 || seen[string(pair[:at])] {
			return l, false
		}
		seen[string(pair[:at])] = true
		l.pieces = append(l.pieces, newPiece(before+string(pair[:at+1]), f.labelPlace(ltsvPlaces, string(pair[:at])), until))
		before = "\t"
	}
	if len(l.pieces) < 2 || l.pieces[len(l.pieces)-1].until != 0 {
		return l, false
	}
	l.pieces[len(l.pieces)-1].never = '\t'
	return l, true
}

// labelPlace is where a label's value goes, with its unit, as labelled has it.
func (f *Format) labelPlace(places map[string]place, label string) place {
	var c clock
	c.follow(f)
	p, ok := places[label]
	if !ok {
		p, ok = c.aliases[label]
	}
	if !ok {
		p = c.placeOf([]byte(label))
	}
	if p.kind.isTime() || p.kind == kindOther {
		p = c.decide(p, []byte(label), nil)
	}
	return p
}

// label is the one before the value, with what ends it.
func (p *piece) label() string { return strings.TrimLeft(p.before.text, ",{ \t") }

func newPiece(before string, at place, until byte) piece {
	if at.kind == kindOther {
		at.kind = kindSkip
	}
	return piece{before: newLiteral(before), place: at, until: until}
}

// learnJSON takes the text between scalar values as it stands. Lists go the
// long way.
func learnJSON(f *Format, line []byte) (l layout, ok bool) {
	s := scanner{b: line}
	var path []string
	from := 0 // of the text before the next value
	key := ""
	for s.at < len(line) {
		switch c := line[s.at]; c {
		case '{':
			if key != "" {
				path, key = append(path, key), ""
			}
			s.at++
		case '}':
			if len(path) > 0 {
				path = path[:len(path)-1]
			}
			s.at++
		case ',', ' ', '\t':
			s.at++
		case '"':
			text, ok := s.text()
			if s.spaces(); !ok || s.peek() != ':' {
				return l, false
			}
			s.at++
			s.spaces()
			key = string(text)
			if s.peek() == '{' {
				continue
			}
			end, until := jsonValue(line, s.at)
			if end < 0 {
				return l, false
			}
			if until == '"' {
				s.at++
			}
			to := f.labelPlace(jsonPlaces, string(innerKey([]byte(joinKey(path, key)))))
			if until != '"' && (to.kind == kindMethod || to.kind == kindTarget || to.kind == kindPath || to.kind == kindRequest || to.kind == kindCache) {
				return l, false // no JSON, and a space before the next one would be taken for a part of it
			}
			l.pieces = append(l.pieces, newPiece(string(line[from:s.at]), to, until))
			from, key = end, ""
			if s.at = end; until == '"' {
				s.at++
			}
		default:
			return l, false
		}
	}
	l.ended = newLiteral(string(line[from:]))
	return l, len(l.pieces) > 1
}

func joinKey(path []string, key string) string {
	out := ""
	for _, p := range path {
		out += p + "."
	}
	return out + key
}

// jsonValue finds the end of a scalar and what ends it; -1: it is none.
func jsonValue(b []byte, at int) (end int, until byte) {
	if at >= len(b) || b[at] == '[' || b[at] == 'n' { // null is a text another time
		return -1, 0
	}
	if b[at] == '"' {
		n := bytes.IndexByte(b[at+1:], '"')
		if n < 0 {
			return -1, 0
		}
		return at + 1 + n, '"'
	}
	n := bytes.IndexAny(b[at:], ",} ")
	if n < 0 {
		return -1, 0
	}
	return at + n, b[at+n]
}
