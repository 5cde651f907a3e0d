package prove

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"kasoku/internal/lazyregexp"
)

// recently is how long before or after an answer a thing was made that counts as made by
// the session that asked for it.
const recently = 10 * time.Minute

// largestSorted bounds the bodies that sortRecent takes apart, in bytes.
const largestSorted = 1 << 20

// reMoment is a moment as JSON has it: seconds or milliseconds since 1970, or RFC 3339, with a
// blank for T and without its zone as databases write it.
var reMoment = lazyregexp.New(`\b(1\d{9}|2\d{9})(?:\d{3})?\b|\b(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.\d+)?(Z|[+-]\d\d:?\d\d)?`)

// sortRecent orders, in each list of a JSON body, neighbouring objects that were all made
// around one of moments by what they say, but for numbers: a list by time has what one
// session made in one second in an order of its own, and whether two things are of
// one second is a matter of how fast the service is. Objects that are older stay where
// they are, and other bodies as they are.
func sortRecent(body []byte, moments ...time.Time) []byte {
	text := bytes.TrimSpace(body)
	if len(text) == 0 || text[0] != '{' && text[0] != '[' || len(body) > largestSorted || !json.Valid(body) {
		return body
	}
	root, ok := jsonTree(body)
	if !ok {
		return body
	}
	return root.sorted(body, moments)
}

// jsonNode is an object or a list in a body: where it begins, where it has ended, and those in it.
type jsonNode struct {
	from, to int
	list     bool
	plain    bool // a list with something in it that is no object
	within   []*jsonNode
}

func jsonTree(body []byte) (*jsonNode, bool) {
	dec := json.NewDecoder(bytes.NewReader(body))
	var open []*jsonNode
	for {
		tok, err := dec.Token()
		if err != nil {
			return nil, false
		}
		at := int(dec.InputOffset())
		switch d, _ := tok.(json.Delim); d {
		case '{', '[':
			open = append(open, &jsonNode{from: at - 1, list: d == '['})
		case '}', ']':
			n := open[len(open)-1]
			n.to, open = at, open[:len(open)-1]
			if len(open) == 0 {
				return n, true
			}
			up := open[len(open)-1]
			up.within, up.plain = append(up.within, n), up.plain || n.list
		default:
			if len(open) == 0 {
				return nil, false
			}
			open[len(open)-1].plain = true
		}
	}
}

// sorted is the text of the node with what is in it sorted.
func (n *jsonNode) sorted(body []byte, moments []time.Time) []byte {
	parts := make([][]byte, len(n.within))
	for i, in := range n.within {
		parts[i] = in.sorted(body, moments)
	}
	if n.list && !n.plain {
		for i := 0; i < len(parts); {
			end := i
			for end < len(parts) && madeAt(parts[end], moments) {
				end++
			}
			slices.SortStableFunc(parts[i:end], func(a, b []byte) int { return strings.Compare(saysOf(a), saysOf(b)) })
			i = max(end, i+1)
		}
	}
	var out []byte
	at := n.from
	for i, in := range n.within {
		out = append(append(out, body[at:in.from]...), parts[i]...)
		at = in.to
	}
	return append(out, body[at:n.to]...)
}

// madeAt reports whether the text names a moment near one of moments.
func madeAt(text []byte, moments []time.Time) bool {
	for _, m := range reMoment.FindAllStringSubmatch(string(text), -1) {
		for _, at := range momentsOf(m) {
			if slices.ContainsFunc(moments, func(m time.Time) bool { return m.Sub(at).Abs() < recently }) {
				return true
			}
		}
	}
	return false
}

// momentsOf are what a match of reMoment may mean: without a zone it is of UTC, or local.
func momentsOf(m []string) (out []time.Time) {
	if m[1] != "" {
		if seconds, err := strconv.ParseInt(m[1], 10, 64); err == nil {
			out = append(out, time.Unix(seconds, 0))
		}
		return out
	}
	zone, zones := strings.ReplaceAll(m[4], ":", ""), []*time.Location{time.UTC, time.Local}
	form := "2006-01-02T15:04:05"
	if zone != "" {
		form, zones = form+"Z0700", zones[:1]
	}
	for _, z := range zones {
		if at, err := time.ParseInLocation(form, m[2]+"T"+m[3]+zone, z); err == nil {
			out = append(out, at)
		}
	}
	return out
}

// saysOf are the strings of an object, without digits.
func saysOf(object []byte) string {
	var out strings.Builder
	dec := json.NewDecoder(bytes.NewReader(object))
	for {
		tok, err := dec.Token()
		if err != nil {
			return out.String()
		}
		if s, ok := tok.(string); ok {
			out.WriteString(strings.Map(func(r rune) rune {
				if unicode.IsDigit(r) {
					return -1
				}
				return r
			}, s))
			out.WriteByte('\n')
		}
	}
}
