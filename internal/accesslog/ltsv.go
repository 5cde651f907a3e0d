package accesslog

import (
	"bytes"
	"time"
)

// ltsvPlaces are the labels that ltsv.org recommends, and usual others.
var ltsvPlaces = map[string]place{
	"time": {kind: kindTime}, "host": {kind: kindClient}, "remote_addr": {kind: kindClient}, "forwardedfor": {kind: kindForwarded},
	"xff": {kind: kindForwarded}, "user": {kind: kindUser}, "req": {kind: kindRequest}, "request": {kind: kindRequest},
	"method": {kind: kindMethod}, "request_method": {kind: kindMethod}, "uri": {kind: kindTarget}, "request_uri": {kind: kindTarget},
	"path": {kind: kindPath}, "query": {kind: kindQuery}, "protocol": {kind: kindProtocol}, "status": {kind: kindStatus},
	"size": {kind: kindBytes}, "body_bytes": {kind: kindBytes}, "reqtime": {kind: kindRequestTime, unit: seconds},
	"request_time": {kind: kindRequestTime, unit: seconds}, "response_time": {kind: kindRequestTime, unit: seconds},
	"reqtime_microsec": {kind: kindRequestTime, unit: time.Microsecond}, "taken_sec": {kind: kindRequestTime, unit: seconds},
	"apptime": {kind: kindUpstreamTime, unit: seconds}, "runtime": {kind: kindUpstreamTime, unit: seconds},
	"handler": {kind: kindHandler}, "ttfb_microsec": {kind: kindFirstByte, unit: time.Microsecond},
	"upstream_response_time": {kind: kindUpstreamTime, unit: seconds}, "upstime": {kind: kindUpstreamTime, unit: seconds},
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
	e.finish()
	if e.Target == nil {
		return whyNoPairs
	}
	return ""
}

// labelled sets a value by its label.
func (e *Entry) labelled(places map[string]place, label, value []byte, c *clock) string {
	p, ok := places[string(label)]
	if !ok {
		e.Other = append(e.Other, Field{c.intern(label), value})
		return ""
	}
	if !e.set(p, "", value, c) {
		if p.kind == kindTime || p.kind == kindBegin {
			return whyTime
		}
		return whyValue
	}
	return ""
}
