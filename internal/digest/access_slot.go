package digest

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"kasoku/internal/accesslog"
)

// slot sums the requests whose method and path's shape are one.
type slot struct {
	hash  uint64
	key   string // method, space, shape; or a pattern's text
	count int64
	// at is where the first one is, in the order of the inputs; the example is
	// that one's target.
	at      position
	example string

	bytes    int64
	sized    bool // a line had a size
	status   [6]int64
	codes    *[200]int64 // 400–599
	time     histogram
	upstream histogram
	cache    []counted

	method string
	path   string // the shape, without the method; "" if route is fixed
	route  string // given by a pattern, or for what has no path
	// asked is what a query asked the path for; dispatch counts, of a slot that has
	// none, what queries hold, plain the requests before there was one, and operations
	// the slots of the same path that have one.
	asked      string
	dispatch   *accesslog.Dispatch
	plain      int64
	operations int
	// timeSquares and byteSquares sum up squares, of seconds and bytes.
	timeSquares, byteSquares float64

	numbers []number
	varies  bool // no number has one value only
}

// number is a place of the shape with a number or a date.
type number struct {
	place int
	value string // the only one so far
	many  bool
}

// counted is a cache state and how often it was.
type counted struct {
	name  string
	count int64
}

// maxStates of a cache that are told apart; Varnish has five, nginx eight.
const maxStates = 16

// position of a line: the input's index above, the offset below.
type position uint64

// offsetBits: an input may have 2⁴⁸ bytes.
const offsetBits = 48

func positionOf(input int, offset int64) position {
	return position(uint64(input)<<offsetBits | uint64(offset))
}

func (s *slot) add(r *accesslog.Row) {
	s.count++
	if r.Bytes >= 0 {
		s.bytes = addSizes(s.bytes, r.Bytes)
		s.byteSquares += float64(r.Bytes) * float64(r.Bytes)
		s.sized = true
	}
	if class := r.Status / 100; class < len(s.status) {
		s.status[class]++
	} else {
		s.status[0]++
	}
	if r.Status >= 400 && r.Status < 600 {
		if s.codes == nil {
			s.codes = new([200]int64)
		}
		s.codes[r.Status-400]++
	}
	if r.Request >= 0 {
		s.time.add(r.Request)
		s.timeSquares += r.Request.Seconds() * r.Request.Seconds()
	}
	if r.Cache != nil {
		s.state(string(r.Cache), 1)
		if string(r.Cache) == "hit" { // Varnish logs its own time to the first byte
			return
		}
	}
	if r.Upstream >= 0 {
		s.upstream.add(r.Upstream)
	}
}

func (s *slot) state(name string, n int64) {
	for i := range s.cache {
		if s.cache[i].name == name {
			s.cache[i].count += n
			return
		}
	}
	if len(s.cache) >= maxStates-1 {
		name = othersRoute
		if last := len(s.cache) - 1; s.cache[last].name == name {
			s.cache[last].count += n
			return
		}
	}
	s.cache = append(s.cache, counted{strings.Clone(name), n})
}

// note compares the numbers of one more target.
func (s *slot) note(shape string, target []byte) {
	i := 0
	s.varies = true
	accesslog.Counted(shape, target, func(place int, value []byte) {
		if i == len(s.numbers) {
			s.numbers = append(s.numbers, number{place: place, value: string(value)})
		}
		n := &s.numbers[i]
		n.many = n.many || n.value != string(value)
		s.varies = s.varies && n.many
		i++
	})
}

// learnt is the shape, with numbers that never varied in their place.
func (s *slot) learnt() string {
	if len(s.numbers) == 0 {
		return s.path
	}
	parts := strings.Split(s.path[1:], "/")
	for _, n := range s.numbers {
		if !n.many && n.place < len(parts) {
			parts[n.place] = n.value
		}
	}
	return "/" + strings.Join(parts, "/")
}

// merge adds o's requests, which may be of another shape of one route.
func (s *slot) merge(o *slot) {
	s.count += o.count
	s.bytes = addSizes(s.bytes, o.bytes)
	s.sized = s.sized || o.sized
	s.timeSquares, s.byteSquares = s.timeSquares+o.timeSquares, s.byteSquares+o.byteSquares
	for i, n := range o.status {
		s.status[i] += n
	}
	if o.codes != nil {
		if s.codes == nil {
			s.codes = new([200]int64)
		}
		for i, n := range o.codes {
			s.codes[i] += n
		}
	}
	s.time.merge(&o.time)
	s.upstream.merge(&o.upstream)
	for _, c := range o.cache {
		s.state(c.name, c.count)
	}
	if o.count > 0 && (o.at < s.at || s.example == "") {
		s.at, s.example = o.at, o.example
	}
}

// row gives the sums out.
func (s *slot) row(service, method, route string) Route {
	r := Route{Service: service, Method: method, Route: route, Count: s.count, Status: s.status, Bytes: s.bytes,
		Time: s.time.times(), Upstream: s.upstream.times(), Example: s.example}
	if s.codes != nil {
		r.Codes = map[int]int64{}
		for i, n := range s.codes {
			if n > 0 {
				r.Codes[400+i] = n
			}
		}
	}
	for _, c := range s.cache {
		if r.Cache == nil {
			r.Cache = map[string]int64{}
		}
		r.Cache[printable([]byte(c.name), maxExample)] += c.count
	}
	return r
}

// addSizes adds sizes, which are not negative; the most there is, if they are more.
func addSizes(a, b int64) int64 {
	if b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}

// maxExample bytes of a target, or of a line that is not understood, are shown.
const maxExample = 200

// exampleOf a target: what a query's values and long random segments hold may
// be secret, so it is not shown.
func exampleOf(target []byte) string {
	path, query, found := bytes.Cut(target, []byte("?"))
	var out []byte
	for i, part := range bytes.Split(path, []byte("/")) {
		if i > 0 {
			out = append(out, '/')
		}
		if accesslog.IsSecretLike(part) {
			part = append(append([]byte{}, part[:6]...), "…"...)
		}
		out = append(out, part...)
	}
	if found {
		out = append(append(out, '?'), maskValues(query)...)
	}
	return printable(out, maxExample)
}

// maskValues puts * in place of the values of name=value pairs.
func maskValues(query []byte) []byte {
	var out []byte
	for i, pair := range bytes.Split(query, []byte("&")) {
		if i > 0 {
			out = append(out, '&')
		}
		name, value, found := bytes.Cut(pair, []byte("="))
		switch {
		case found && len(value) > 0:
			out = append(append(out, name...), "=*"...)
		case found:
			out = append(out, pair...)
		default: // a query that is one value
			out = append(out, '*')
		}
	}
	return out
}

// printable cuts a text and replaces what a terminal might take as a command.
func printable(b []byte, n int) string {
	cut := len(b) > n
	if cut {
		b = b[:n]
	}
	q := strconv.Quote(strings.ToValidUTF8(string(b), "�"))
	q = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(q[1 : len(q)-1])
	if cut {
		q += "…"
	}
	return q
}
