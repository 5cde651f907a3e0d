package accesslog

import (
	"bytes"
	"time"
)

// ltsvPlaces are the labels that ltsv.org recommends, and usual others.
var ltsvPlaces = map[string]place{
	"time": {kind: kindTime}, "host": {kind: kindClient}, "remote_addr": {kind: kindPeer}, "forwardedfor": {kind: kindForwarded},
	"xff": {kind: kindForwarded}, "user": {kind: kindUser}, "req": {kind: kindRequest}, "request": {kind: kindRequest},
	"method": {kind: kindMethod}, "request_method": {kind: kindMethod}, "uri": {kind: kindTarget}, "request_uri": {kind: kindTarget},
	"path": {kind: kindPath}, "query": {kind: kindQuery}, "protocol": {kind: kindProtocol}, "status": {kind: kindStatus},
	"size": {kind: kindBytes}, "body_bytes": {kind: kindBytes}, "bytes": {kind: kindBytes}, "url": {kind: kindTarget}, "code": {kind: kindStatus}, "status_code": {kind: kindStatus}, "reqtime": requestSeconds,
	"request_time": requestSeconds, "response_time": requestUnsure,
	"reqtime_microsec": {kind: kindRequestTime, unit: time.Microsecond}, "taken_sec": {kind: kindRequestTime, unit: seconds},
	"apptime": upstreamSeconds, "runtime": upstreamSeconds,
	"handler": {kind: kindHandler}, "ttfb_microsec": {kind: kindFirstByte, unit: time.Microsecond},
	"upstream_response_time": upstreamSeconds, "upstime": upstreamSeconds,
	"referer": {kind: kindReferer}, "ref": {kind: kindReferer}, "ua": {kind: kindAgent}, "useragent": {kind: kindAgent}, "user_agent": {kind: kindAgent},
	"vhost": {kind: kindHost}, "cache": {kind: kindCache}, "cache_status": {kind: kindCache},
}

// LTSV are lines of label:value separated by tabs (ltsv.org).
func LTSV() *Format {
	return &Format{Name: "ltsv", parse: parseLTSV, escapes: true, ended: true}
}

const whyNoPairs = "it has no request"

func parseLTSV(f *Format, line []byte, e *Entry, c *clock) string {
	e.Ended = f.ended
	c.follow(f)
	for len(line) > 0 {
		pair := line
		if tab := bytes.IndexByte(line, '\t'); tab >= 0 {
			pair, line = line[:tab], line[tab+1:]
		} else {
			line = nil
		}
		at := bytes.IndexByte(pair, ':')
		if at <= 0 {
			if len(pair) == 0 {
				continue
			}
			return "a column has no label"
		}
		if why := e.labelled(ltsvPlaces, pair[:at], decode(pair[at+1:]), c); why != "" {
			return why
		}
	}
	e.finish(c)
	e.appTime()
	if e.Target == nil {
		return whyNoPairs
	}
	return ""
}

// labelled sets a value by its label.
func (e *Entry) labelled(places map[string]place, label, value []byte, c *clock) string {
	p, ok := places[string(label)]
	if !ok {
		p, ok = c.aliases[string(label)]
	}
	if !ok {
		p = c.placeOf(label)
	}
	return e.place(p, label, value, c)
}

// place sets a value that has a label. Where only the label's form says that
// it is a time, and it is none, it is another value.
func (e *Entry) place(p place, label, value []byte, c *clock) string {
	if p.kind == kindTime && isShortNumber(value) {
		p = place{}
	}
	if p.kind.isTime() || p.kind == kindOther {
		p = c.decide(p, label, value)
	}
	if p.kind == kindOther {
		e.Other = append(e.Other, Field{c.intern(label), value})
		return ""
	}
	name := ""
	if p.kind == kindClient && string(label) == "host" {
		name = "host"
	}
	before := e.Request
	if p.kind == kindRequestTime && !isDash(value) {
		if before >= 0 && p.unsure >= e.doubt && string(label) != e.timeLabel { // what is surer, or comes first, counts
			e.Other = append(e.Other, Field{c.intern(label), value})
			return ""
		}
		e.doubt, e.timeLabel = p.unsure, c.intern(label)
	}
	if !e.set(p, name, value, c) && !e.set(p, name, tidy(p.kind, value), c) {
		switch {
		case (p.kind == kindTime || p.kind == kindBegin) && p.unsure == sure && !mayBeDate(value):
			return whyTime
		case p.unsure == byValues, p.kind == kindTime, p.kind == kindBegin: // a date of another form is told of (Undated)
			e.Request = before
			e.Other = append(e.Other, Field{c.intern(label), value})
			return ""
		}
		return whyValue
	}
	return ""
}

// mayBeDate: a text with the digits of a date and a time of day.
func mayBeDate(v []byte) bool {
	digits := 0
	for _, c := range v {
		if isDigit(c) {
			digits++
		}
	}
	return digits >= len("150405") && digits < len(v)
}
