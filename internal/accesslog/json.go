package accesslog

import (
	"bytes"
	"strings"
	"time"
)

// jsonPlaces are keys as nginx's configurations, Caddy and Traefik write
// them. Nested keys are joined by dots.
var jsonPlaces = map[string]place{
	"time": {kind: kindTime}, "ts": {kind: kindTime}, "timestamp": {kind: kindTime}, "@timestamp": {kind: kindTime}, "@t": {kind: kindTime},
	"time_local": {kind: kindTime}, "time_iso8601": {kind: kindTime}, "msec": {kind: kindTime},
	"StartUTC": {kind: kindBegin},
	"client":   {kind: kindClient}, "client_ip": {kind: kindClient}, "remote_addr": {kind: kindClient}, "remote_ip": {kind: kindClient},
	"remote": {kind: kindClient}, "ClientHost": {kind: kindClient}, "request.remote_ip": {kind: kindClient}, "request.client_ip": {kind: kindClient},
	"http_x_forwarded_for": {kind: kindForwarded}, "x_forwarded_for": {kind: kindForwarded}, "xff": {kind: kindForwarded},
	"request.headers.X-Forwarded-For": {kind: kindForwarded},
	"remote_user":                     {kind: kindUser}, "user": {kind: kindUser}, "user_id": {kind: kindUser}, "ClientUsername": {kind: kindUser},
	"request": {kind: kindRequest}, "req": {kind: kindRequest},
	"method": {kind: kindMethod}, "request_method": {kind: kindMethod}, "RequestMethod": {kind: kindMethod}, "request.method": {kind: kindMethod},
	"request_uri": {kind: kindTarget}, "RequestPath": {kind: kindTarget}, "request.uri": {kind: kindTarget}, "url": {kind: kindTarget},
	"uri": {kind: kindPath}, "path": {kind: kindPath}, "args": {kind: kindQuery}, "query": {kind: kindQuery}, "query_string": {kind: kindQuery},
	"protocol": {kind: kindProtocol}, "server_protocol": {kind: kindProtocol}, "request.proto": {kind: kindProtocol}, "RequestProtocol": {kind: kindProtocol},
	"status": {kind: kindStatus}, "status_code": {kind: kindStatus}, "statusCode": {kind: kindStatus}, "code": {kind: kindStatus}, "DownstreamStatus": {kind: kindStatus},
	"body_bytes_sent": {kind: kindBytes}, "body_bytes": {kind: kindBytes}, "bytes_sent": {kind: kindBytesDash}, "bytes_out": {kind: kindBytes}, "bytes": {kind: kindBytes},
	"size": {kind: kindBytes}, "DownstreamContentSize": {kind: kindBytes},
	"request_time": requestSeconds, "duration": requestUnsure, "latency": requestUnsure,
	"response_time": requestUnsure, "reqtime": requestSeconds, "Duration": {kind: kindRequestTime, unit: time.Nanosecond},
	"upstream_response_time": upstreamSeconds, "apptime": upstreamSeconds, "OriginDuration": {kind: kindUpstreamTime, unit: time.Nanosecond},
	"http_referer": {kind: kindReferer}, "referer": {kind: kindReferer}, "referrer": {kind: kindReferer},
	"request.headers.Referer": {kind: kindReferer}, "request_Referer": {kind: kindReferer},
	"http_user_agent": {kind: kindAgent}, "user_agent": {kind: kindAgent}, "ua": {kind: kindAgent},
	"request.headers.User-Agent": {kind: kindAgent}, "request_User-Agent": {kind: kindAgent},
	"host": {kind: kindHost}, "http_host": {kind: kindHost}, "vhost": {kind: kindHost}, "request.host": {kind: kindHost}, "RequestHost": {kind: kindHost},
	// Elastic Common Schema and OpenTelemetry's semantic conventions.
	"http.request.method": {kind: kindMethod}, "url.original": {kind: kindTarget}, "url.path": {kind: kindPath}, "url.query": {kind: kindQuery},
	"http.response.status_code": {kind: kindStatus}, "http.response.body.bytes": {kind: kindBytes}, "event.duration": {kind: kindRequestTime, unit: time.Nanosecond},
	"http.server.request.duration": {kind: kindRequestTime, unit: seconds}, "user_agent.original": {kind: kindAgent}, "client.address": {kind: kindClient},
	// Names in use: Filebeat's modules, Fastly's and Datadog's, older conventions of OpenTelemetry.
	"response_code": {kind: kindStatus}, "response_status": {kind: kindStatus}, "http_status": {kind: kindStatus}, "httpStatus": {kind: kindStatus}, "http_status_code": {kind: kindStatus},
	"http.status_code": {kind: kindStatus}, "http.method": {kind: kindMethod}, "http_method": {kind: kindMethod}, "httpMethod": {kind: kindMethod}, "verb": {kind: kindMethod},
	"http.target": {kind: kindTarget}, "http.url": {kind: kindTarget}, "http.url_details.path": {kind: kindPath}, "request_url": {kind: kindTarget}, "requestUrl": {kind: kindTarget},
	"response_body_size": {kind: kindBytes}, "body_sent.bytes": {kind: kindBytes}, "response_size": {kind: kindBytes}, "written_bytes": {kind: kindBytes}, "sent_bytes": {kind: kindBytes},
	"requested_uri": {kind: kindTarget}, "remote_host": {kind: kindClient}, "content_length": {kind: kindBytes}, // logback-access
	// Splunk's Common Information Model, as its add-ons for nginx and Apache have them.
	"uri_path": {kind: kindPath}, "uri_query": {kind: kindQuery}, "src": {kind: kindClient, unsure: byValues}, "src_ip": {kind: kindClient, unsure: byValues},
	// Grok's COMBINEDAPACHELOG; W3C's names as JSON has them (NXLog).
	"clientip": {kind: kindClient, unsure: byValues}, "response": {kind: kindStatus, unsure: byValues}, "agent": {kind: kindAgent},
	"c-ip": {kind: kindClient, unsure: byValues}, "cs-method": {kind: kindMethod}, "cs-uri-stem": {kind: kindPath}, "cs-uri-query": {kind: kindQuery},
	"sc-status": {kind: kindStatus, unsure: byValues}, "sc-bytes": {kind: kindBytes, unsure: byValues}, "cs(User-Agent)": {kind: kindAgent}, "cs-host": {kind: kindHost},
	// Objects of requests and answers, and other names in use.
	"http.path": {kind: kindPath}, "http.uri": {kind: kindTarget}, "http.status": {kind: kindStatus, unsure: byValues}, "request.path": {kind: kindPath}, "request.url": {kind: kindTarget},
	"response.status": {kind: kindStatus, unsure: byValues}, "response.status_code": {kind: kindStatus, unsure: byValues}, "response.statusCode": {kind: kindStatus, unsure: byValues},
	"http_code": {kind: kindStatus, unsure: byValues}, "URI": {kind: kindTarget}, "write_bytes": {kind: kindBytes, unsure: byValues}, "log_time": {kind: kindTime, unsure: byValues},
	"date": {kind: kindTime}, "datetime": {kind: kindTime}, "asctime": {kind: kindTime}, "event_datetime": {kind: kindTime, unsure: byValues},
	// gunicorn's formats of JSON, as people share them.
	"url_path": {kind: kindPath}, "remote_address": {kind: kindClient, unsure: byValues}, "response_length": {kind: kindBytes, unsure: byValues},
	"http_request_url": {kind: kindTarget}, "http_verb": {kind: kindMethod}, "http_version": {kind: kindProtocol},
	// Google Cloud Storage's usage logs.
	"time_micros":           {kind: kindTime, unsure: byValues},
	"upstream_cache_status": {kind: kindCache}, "cache": {kind: kindCache},
}

// Names of W3C's columns are written with _, too, where a - is none of a name's (Google
// Cloud Storage, columns of databases).
func init() {
	for _, name := range []string{"c-ip", "cs-method", "cs-uri", "cs-uri-stem", "cs-uri-query", "cs-host", "cs-referer", "cs-user-agent", "sc-status", "sc-bytes"} {
		p, ok := jsonPlaces[name]
		if !ok {
			p = w3cPlaces[strings.NewReplacer("cs-referer", "cs(referer)", "cs-user-agent", "cs(user-agent)").Replace(name)]
		}
		jsonPlaces[strings.ReplaceAll(name, "-", "_")] = p
	}
}

// JSON are lines that are one object each.
func JSON() *Format {
	return &Format{Name: "json", parse: parseJSON, ended: true}
}

const whyJSON = "it is not one JSON object"

func parseJSON(f *Format, line []byte, e *Entry, c *clock) string {
	e.Ended = f.ended
	c.follow(f)
	s := scanner{b: line, e: e, c: c}
	if why := s.line(); why != "" {
		return why
	}
	if e.Target == nil {
		return whyNoPairs
	}
	return ""
}

// line reads an object and nothing behind it.
func (s *scanner) line() string {
	s.opens()
	if s.peek() != '{' || !s.value(0) {
		if s.why != "" {
			return s.why
		}
		return whyJSON
	}
	if s.closes(); s.at < len(s.b) {
		return whyLong
	}
	if s.e.Target == nil && s.e.path == nil {
		s.e.requestByForm()
	}
	s.e.finish(s.c)
	s.e.appTime()
	return ""
}

// requestByForm takes the first value that is a whole request line for the request,
// whatever it is called.
func (e *Entry) requestByForm() {
	for i := range e.Other {
		if v := e.Other[i].Value; isRequest(v) && bytes.Contains(v, []byte(" HTTP/")) {
			e.setRequest(v)
			return
		}
	}
}

// opens walks over what stands before an object where each line has one of an
// array's.
func (s *scanner) opens() {
	s.spaces()
	if c := s.peek(); c == '[' || c == ',' {
		s.at++
		s.spaces()
	}
}

// closes is opens behind the object.
func (s *scanner) closes() {
	for s.spaces(); s.peek() == ',' || s.peek() == ']'; s.spaces() {
		s.at++
	}
}

// maxDepth of nested values; Caddy's lines have four.
const maxDepth = 16

// scanner walks over one line's object and sets what it knows. key is the
// way to the present value; it lives in the clock's buffer.
type scanner struct {
	b   []byte
	at  int
	e   *Entry
	c   *clock
	why string
	// skip says that values are walked over; inArray, that they are an array's.
	skip, inArray bool
	// dialect says what keys mean before jsonPlaces do; nil: none.
	dialect *dialect
	marks   map[string]string // if not nil: the keys found, with the begins of their values
}

func (s *scanner) peek() byte {
	if s.at < len(s.b) {
		return s.b[s.at]
	}
	return 0
}

func (s *scanner) spaces() {
	for s.at < len(s.b) && (s.b[s.at] == ' ' || s.b[s.at] == '\t') {
		s.at++
	}
}

func (s *scanner) value(depth int) bool {
	switch c := s.peek(); {
	case depth > maxDepth:
		return false
	case c == '{':
		return s.object(depth)
	case c == '[':
		return s.array(depth)
	case c == '"':
		text, ok := s.text()
		return ok && s.set(decode(text))
	default:
		begin := s.at
		for s.at < len(s.b) && s.b[s.at] != ',' && s.b[s.at] != '}' && s.b[s.at] != ']' && s.b[s.at] != ' ' {
			s.at++
		}
		s.bareList()
		v := s.b[begin:s.at]
		if len(v) == 0 && (s.inArray || s.peek() != ',' && s.peek() != '}') {
			return false
		}
		if len(v) == 0 || string(v) == "null" { // nginx writes nothing for a variable without a value
			v = nil
		}
		return s.set(v)
	}
}

// bareList goes on over 0.040, 0.050 : 0.001, which nginx writes of several upstreams,
// where a log_format has no quotes around it; that is no JSON.
func (s *scanner) bareList() {
	for !s.inArray && s.at+2 < len(s.b) {
		next := s.at + 2
		if s.b[s.at] == ' ' {
			next++
		}
		if next >= len(s.b) || s.b[next-1] != ' ' || s.b[next-2] != ',' && s.b[next-2] != ':' || s.b[next] != '-' && (s.b[next] < '0' || s.b[next] > '9') {
			return
		}
		for s.at = next; s.at < len(s.b) && (s.b[s.at] == '.' || s.b[s.at] == '-' || s.b[s.at] >= '0' && s.b[s.at] <= '9'); s.at++ {
		}
	}
}

func (s *scanner) object(depth int) bool {
	before := s.inArray
	s.inArray = false
	defer func() { s.inArray = before }()
	s.at++
	for {
		s.spaces()
		switch s.peek() {
		case '}':
			s.at++
			return true
		case ',':
			s.at++
			continue
		case '"':
		default:
			return false
		}
		key, ok := s.text()
		if s.spaces(); !ok || s.peek() != ':' {
			return false
		}
		s.at++
		s.spaces()
		length := len(s.c.key)
		if length > 0 {
			s.c.key = append(s.c.key, '.')
		}
		s.c.key = append(s.c.key, key...)
		ok = s.value(depth + 1)
		s.c.key = s.c.key[:length]
		if !ok {
			return false
		}
	}
}

// array takes the first element, if it is a scalar; objects and the rest are
// walked over.
func (s *scanner) array(depth int) bool {
	s.at++
	before, within := s.skip, s.inArray
	s.inArray = true
	defer func() { s.skip, s.inArray = before, within }()
	for n := 0; ; {
		s.spaces()
		switch s.peek() {
		case ']':
			s.at++
			return true
		case ',':
			s.at++
			continue
		case 0:
			return false
		}
		s.skip = before || n > 0 || s.peek() == '{' || s.peek() == '['
		if n++; !s.value(depth + 1) {
			return false
		}
	}
}

// text returns the inside of a string, still escaped.
func (s *scanner) text() ([]byte, bool) {
	begin := s.at + 1
	for i := begin; i < len(s.b); i++ {
		switch s.b[i] {
		case '\\':
			i++
		case '"':
			s.at = i + 1
			return s.b[begin:i], true
		}
	}
	return nil, false
}

// set the present key's value.
func (s *scanner) set(v []byte) bool {
	if s.skip {
		return true
	}
	if s.marks != nil && len(s.marks) < maxLabels {
		s.marks[string(s.c.key)] = string(v[:min(len(v), maxMark)])
		return true
	}
	if s.dialect != nil {
		if p, ok := s.dialect.places[string(s.c.key)]; ok {
			return s.place(p, v)
		}
	}
	if string(s.c.key) == "code" {
		if _, ok := number(v); !ok || len(v) != 3 { // an error's or an RPC's, not HTTP's
			return true
		}
	}
	key := innerKey(s.c.key)
	if p, ok := jsonPlaces[string(key)]; ok && p.kind == kindClient && bytes.IndexByte(v, ' ') >= 0 { // a text, or no address
		return true
	}
	if string(key) == "response" && (s.e.Status != 0 || !possibleStatus(v)) { // a text, a time, a size
		return true
	}
	s.why = s.e.labelled(jsonPlaces, key, v, s.c)
	return s.why == ""
}

// place sets a value of a dialect.
func (s *scanner) place(p place, v []byte) bool {
	switch {
	case p.kind == kindClient && bytes.IndexByte(v, ' ') >= 0, s.e.set(p, "", v, s.c):
		return true
	case p.kind == kindTime || p.kind == kindBegin:
		s.why = whyTime
	default:
		s.why = whyValue
	}
	return false
}

// outerKeys are what an entry stands in where it was taken out of Elasticsearch,
// Filebeat's modules, Google's or Datadog's exports.
var outerKeys = [][]byte{[]byte("_source."), []byte("nginx.access."), []byte("apache.access."), []byte("apache2.access."), []byte("traefik.access."), []byte("jsonPayload."),
	[]byte("attributes."), []byte("custom.")}

// innerKey is a key without those of what the entry stands in.
func innerKey(key []byte) []byte {
	for i := range outerKeys {
		if rest, ok := bytes.CutPrefix(key, outerKeys[i]); ok {
			key = rest
		}
	}
	return key
}

// maxMark bytes of a value that tells whose a line is.
const maxMark = 40
