package accesslog

import (
	"strings"
	"time"
)

// timeNames are what servers, libraries and handbooks call the time that a
// request took, in lower case without its unit: nginx's request_time, ltsv.org's
// reqtime, echo's latency, the Rails community's duration, Heroku's service.
var timeNames = map[string]place{
	"request_time": requestSeconds, "reqtime": requestSeconds, "req_time": requestSeconds, "rt": requestSeconds,
	"request_duration": requestUnsure, "duration": requestUnsure, "latency": requestUnsure, "elapsed": requestUnsure, "elapsed_time": requestUnsure,
	"time_elapsed": requestUnsure, "response_time": requestUnsure, "resp_time": requestUnsure, "time_taken": requestUnsure, "taken": requestUnsure, "took": requestUnsure,
	"total_time": requestUnsure, "exec_time": requestUnsure, "processing_time": requestUnsure, "process_time": requestUnsure, "handler_time": requestUnsure,
	"service": requestUnsure, "service_time": requestUnsure, "req_duration": requestUnsure, "http_duration": requestUnsure, "event_duration": requestUnsure,
	"cost": requestUnsure, "cost_time": requestUnsure, "time_cost": requestUnsure,
	"upstream_response_time": upstreamSeconds, "urt": upstreamSeconds, "ut": upstreamSeconds, "upstime": upstreamSeconds, "upstream_time": upstreamSeconds,
	"up_resp_time": upstreamSeconds, "upstream_resp_time": upstreamSeconds, "apptime": upstreamSeconds, "runtime": upstreamSeconds,
}

// joinedNames are timeNames without their underscores: responsetime, upstreamtime.
var joinedNames = func() map[string]place {
	out := map[string]place{}
	for name, p := range timeNames {
		out[strings.ReplaceAll(name, "_", "")] = p
	}
	return out
}()

// Of a time that names no unit: requestSeconds and upstreamSeconds are seconds
// by their definition if they have a fraction (nginx, ltsv.org), requestUnsure
// may be anything.
var (
	requestSeconds  = place{kind: kindRequestTime, unit: seconds, unsure: bySeconds}
	requestUnsure   = place{kind: kindRequestTime, unit: seconds, unsure: byValues}
	upstreamSeconds = place{kind: kindUpstreamTime, unit: seconds, unsure: bySeconds}
)

// doubt says how sure the unit of a time is that names none.
type doubt uint8

const (
	sure      doubt = iota
	bySeconds       // seconds, if the values have fractions
	byValues        // the values tell
)

// unitNames end a name: duration_ms, latencyMs, elapsed-us, response_time_seconds.
var unitNames = map[string]time.Duration{
	"s": seconds, "sec": seconds, "secs": seconds, "second": seconds, "seconds": seconds,
	"ms": time.Millisecond, "msec": time.Millisecond, "msecs": time.Millisecond, "milli": time.Millisecond, "millis": time.Millisecond, "milliseconds": time.Millisecond,
	"us": time.Microsecond, "usec": time.Microsecond, "usecs": time.Microsecond, "micro": time.Microsecond, "micros": time.Microsecond, "microsec": time.Microsecond, "microseconds": time.Microsecond,
	"ns": time.Nanosecond, "nsec": time.Nanosecond, "nano": time.Nanosecond, "nanos": time.Nanosecond, "nanosec": time.Nanosecond, "nanoseconds": time.Nanosecond,
}

// timeName is the place of a time by its name, which may name its unit; kind
// kindOther if it is none.
func timeName(label []byte) place {
	name := snake(label)
	if p, ok := timeNames[name]; ok {
		return p
	}
	if p, ok := joinedNames[name]; ok {
		return p
	}
	if at := strings.LastIndexByte(name, '_'); at > 0 {
		if p, ok := timeNamed(strings.TrimSuffix(name[:at], "_in")); ok { // response_time_in_millis
			if unit, ok := unitNames[name[at+1:]]; ok {
				return place{kind: p.kind, unit: unit}
			}
		}
	}
	if at := strings.LastIndexByte(name, '.'); at > 0 { // http.request_time, attributes.duration
		return timeWithin(name[:at], timeName([]byte(name[at+1:])))
	}
	return place{}
}

// timeWithin is the place of a time in an object: db.duration_ms is a part of the request's
// time, and upstream.duration_ms the upstream's.
func timeWithin(object string, p place) place {
	for word := range strings.FieldsFuncSeq(object, func(r rune) bool { return r == '.' || r == '_' }) {
		switch {
		case p.kind == kindRequestTime && (word == "upstream" || word == "backend" || word == "origin"):
			p.kind = kindUpstreamTime
		case partNames[word]:
			return place{}
		}
	}
	return p
}

// partNames are objects of what a request waits for or consists of.
var partNames = func() map[string]bool {
	out := map[string]bool{}
	for _, name := range strings.Fields(`db database sql mysql mariadb postgres postgresql pg sqlite mongo mongodb redis memcache memcached cache query queries queue kafka
		elasticsearch dns tcp tls ssl handshake connect connection render rendering view views template gc cpu lock locks auth ldap external session job jobs middleware header headers
		error errors previous`) {
		out[name] = true
	}
	return out
}()

// timeNamed is the place of a time by its name without its unit; total is one if it has
// one: total_ms.
func timeNamed(name string) (place, bool) {
	if name == "total" {
		return requestUnsure, true
	}
	p, ok := timeNames[name]
	return p, ok
}

// snake writes requestTime, Request-Time and REQUEST_TIME as request_time.
func snake(label []byte) string {
	if len(label) > maxKey {
		return ""
	}
	var b []byte
	for i, c := range label {
		switch {
		case c == '-' || c == ' ':
			c = '_'
		case c >= 'A' && c <= 'Z':
			if i > 0 && label[i-1] >= 'a' && label[i-1] <= 'z' {
				b = append(b, '_')
			}
			c |= 0x20
		}
		b = append(b, c)
	}
	return string(b)
}

// placeOf a label that is in no table of its form: nginx's variables, which
// people use as labels, and times by their names. It is remembered, as labels
// come again in each line.
func (c *clock) placeOf(label []byte) place {
	if p, ok := c.places[string(label)]; ok {
		return p
	}
	p, ok := nginxPlaces[string(label)]
	if !ok || p.kind == kindRequestTime || p.kind == kindUpstreamTime {
		p = timeName(label)
	}
	if c.places == nil {
		c.places = map[string]place{}
	}
	if len(c.places) < maxLabels {
		c.places[string(label)] = p
	}
	return p
}
