package accesslog

import (
	"bytes"
	"time"
)

// Entry is one line. Its bytes are the reader's and valid until the next
// line is read. A field that the log does not have, or has as "-", is nil.
type Entry struct {
	// Time as the log has it, in UTC: the end of the request if Ended, else
	// its begin. Zero if the log has none.
	Time  time.Time
	Ended bool
	// Client is the peer's address without a port; Forwarded the value of
	// X-Forwarded-For.
	Client, Forwarded []byte
	User              []byte
	// Method, Target and Protocol are the request line; Target is path and
	// query as sent. A request line that is none is a Target without Method.
	Method, Target, Protocol []byte
	Host                     []byte
	Status                   int           // 0: not in the log
	Bytes                    int64         // sent; -1: not in the log
	Request                  time.Duration // from first byte read to last byte sent; -1: not in the log
	Upstream                 time.Duration // sum over all upstreams asked; -1: none, or not in the log
	Referer, Agent           []byte
	Cache                    []byte // HIT, MISS, …
	Other                    []Field

	path, query []byte // where the log has them apart
	// handler served the request in Apache, firstByte is how long its answer's
	// begin took; -1: not in the log.
	handler   []byte
	firstByte time.Duration
	partial   bool   // a part of the request's time is not known
	doubt     doubt  // of the request's time
	timeLabel string // its label
	scratch   []byte
	line      []byte // a copy that may be changed
	parts     clockParts
}

// Field is a value that has no place of its own in Entry.
type Field struct {
	Name  string // the variable: "request_length", "X-Trace-Id", a JSON key
	Value []byte
}

// Path is the target without its query.
func (e *Entry) Path() []byte {
	path, _, _ := bytes.Cut(e.Target, []byte("?"))
	return path
}

// Query is what follows the target's first question mark.
func (e *Entry) Query() []byte {
	_, query, _ := bytes.Cut(e.Target, []byte("?"))
	return query
}

// Get returns another field's value; nil if there is none of the name.
func (e *Entry) Get(name string) []byte {
	for i := range e.Other {
		if e.Other[i].Name == name {
			return e.Other[i].Value
		}
	}
	return nil
}

// Begin is when the request began, as well as the log tells.
func (e *Entry) Begin() time.Time {
	if e.Ended && e.Request > 0 {
		return e.Time.Add(-e.Request)
	}
	return e.Time
}

func (e *Entry) reset() {
	*e = Entry{Bytes: -1, Request: -1, Upstream: -1, firstByte: -1, Other: e.Other[:0], scratch: e.scratch[:0], line: e.line}
}

// finish joins what stood apart. A time in pieces without a zone is of the
// clock's.
func (e *Entry) finish(c *clock) {
	e.Target = afterHost(e.Target, e.Method)
	if e.Target == nil && e.path != nil {
		e.Target = e.path
		if len(e.query) > 0 && bytes.IndexByte(e.path, '?') < 0 {
			e.scratch = append(append(append(e.scratch[:0], e.path...), '?'), e.query...)
			e.Target = e.scratch
		}
	}
	// What a proxy handler answers comes from a server behind it ("proxy-server",
	// "proxy:unix:/run/php.sock|fcgi://localhost"); Apache does not log that
	// server's time, but when the first byte came.
	if e.firstByte >= 0 && bytes.HasPrefix(e.handler, []byte("proxy")) {
		e.Upstream = max(e.Upstream, e.firstByte)
	}
	if e.partial {
		e.Request = -1
	}
	if e.Time.IsZero() && e.parts.set {
		e.Time = e.parts.in(c.zone)
	}
}

// afterHost cuts a host's name off that stands before a target's path, as
// "$host$request_uri" writes it. CONNECT has a host alone.
func afterHost(target, method []byte) []byte {
	at := bytes.IndexByte(target, '/')
	if at <= 0 || string(method) == "CONNECT" || !(isHostName(target[:at]) || isAddress(target[:at])) {
		return target
	}
	if at+1 < len(target) && target[at-1] == ':' && target[at+1] == '/' { // a scheme
		return target
	}
	return target[at:]
}

// appTime: where labels tell the application's time alone (ltsv.org's apptime,
// which alp ranks by, or nginx's upstream_response_time), it stands for the
// request's.
func (e *Entry) appTime() {
	if e.Request < 0 {
		e.Request = e.Upstream
	}
}

// setRequest splits "GET /path HTTP/1.1". Spaces within the path stay: some
// clients send them.
func (e *Entry) setRequest(v []byte) {
	e.Target, e.Method, e.Protocol = v, nil, nil
	first := bytes.IndexByte(v, ' ')
	if first <= 0 || !isMethod(v[:first]) {
		return
	}
	e.Method, e.Target = v[:first], v[first+1:]
	if last := bytes.LastIndexByte(e.Target, ' '); last >= 0 && isProtocol(e.Target[last+1:]) {
		e.Target, e.Protocol = e.Target[:last], e.Target[last+1:]
	}
}

// isProtocol: HTTP/1.1, or the version alone, as Hypercorn writes it.
func isProtocol(b []byte) bool {
	switch string(b) {
	case "1.0", "1.1", "2", "2.0", "3":
		return true
	}
	return bytes.HasPrefix(b, []byte("HTTP/"))
}

func isMethod(b []byte) bool {
	for _, c := range b {
		if (c < 'A' || c > 'Z') && c != '-' && c != '_' {
			return false
		}
	}
	return len(b) > 0 && len(b) <= 20
}
