package accesslog

import (
	"bytes"
	"strconv"
	"time"
)

// setProduct sets a number that only some programs write so; false if it
// cannot be one. Padding counts for nothing.
func (e *Entry) setProduct(p place, v []byte) bool {
	v = bytes.TrimSpace(v)
	if len(v) == 0 || isAbsent(v) {
		if p.kind == kindTimePart || p.kind == kindUpstreamPart {
			e.partial = true
		}
		return true
	}
	switch p.kind {
	case kindTimePart, kindUpstreamPart:
		d, ok := duration(v, p.unit)
		if !ok {
			return false
		}
		e.Request = max(e.Request, 0) + d
		if p.kind == kindUpstreamPart {
			e.Upstream = max(e.Upstream, 0) + d
		}
		return true
	case kindGoTime:
		d, ok := goDuration(v, p.unit)
		e.Request = d
		return ok
	case kindGoUpstream:
		d, ok := goDuration(v, p.unit)
		e.Upstream = d
		return ok
	case kindWholeTime:
		d, ok := duration(v, p.unit)
		e.Request = d
		return ok && bytes.IndexByte(v, '.') < 0
	case kindCode:
		n, ok := number(v)
		if len(v) == 3 {
			e.Status = int(n)
		}
		return ok && (len(v) == 3 || n == 0)
	case kindHitMiss:
		e.Cache = v
		return varnishStates[string(v)]
	case kindSize:
		n, ok := number(v)
		e.Bytes = n
		return ok
	}
	return false
}

// varnishStates are the words of %{Varnish:hitmiss}x and %{Varnish:handling}x.
var varnishStates = map[string]bool{"hit": true, "miss": true, "pass": true, "pipe": true, "error": true, "synth": true, "hitmiss": true, "hitpass": true, "streaming-hit": true}

// isAbsent: how programs write that they have no value.
func isAbsent(v []byte) bool {
	return string(v) == "-" || string(v) == "-1" || string(v) == "null" || string(v) == "" || string(v) == "-1.000" || string(v) == "-1.000000"
}

// goDuration reads what Go's time.Duration writes (1m2.5s, 45.2ms, 812ns), or
// a number of the unit.
func goDuration(v []byte, unit time.Duration) (time.Duration, bool) {
	if unit > 0 && bytes.ContainsAny(v, "eE") { // 8.5e-05, as JSON may have it
		f, err := strconv.ParseFloat(string(v[:min(len(v), maxMark)]), 64)
		ok := err == nil && f >= 0 && f*unit.Seconds() <= maxDuration.Seconds()
		if !ok {
			return -1, false
		}
		return time.Duration(f * float64(unit)), true
	}
	total := time.Duration(0)
	for first := true; len(v) > 0; first = false {
		end := 0
		for end < len(v) && (v[end] >= '0' && v[end] <= '9' || v[end] == '.') {
			end++
		}
		from := end
		for end < len(v) && v[end] != '.' && (v[end] < '0' || v[end] > '9') {
			end++
		}
		scale, ok := goUnits[string(v[from:end])]
		if from == end { // a number alone
			scale, ok = unit, first && end == len(v) && unit > 0
		}
		if !ok || from == 0 {
			return -1, false
		}
		d, ok := duration(v[:from], scale)
		if !ok || total+d > maxDuration {
			return -1, false
		}
		total, v = total+d, v[end:]
	}
	return total, true
}

var goUnits = map[string]time.Duration{
	"ns": time.Nanosecond, "us": time.Microsecond, "µs": time.Microsecond, "μs": time.Microsecond,
	"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour,
}
