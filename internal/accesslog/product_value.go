package accesslog

import "bytes"

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
		if e.Upstream = d; p.positive && d == 0 {
			e.Upstream = -1
		}
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
	case kindScript:
		return v[0] == '/'
	case kindPercent:
		n, percent := bytes.CutSuffix(v, []byte("%"))
		return percent && isDecimal(n)
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

// isDash: how servers write that there is no value.
func isDash(v []byte) bool { return len(v) == 0 || len(v) == 1 && v[0] == '-' }
