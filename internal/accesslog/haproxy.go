package accesslog

import (
	"bytes"
	"time"
)

// HAProxy are lines of "option httplog" and "option httpslog" (HAProxy's
// configuration manual, 8.2.3), with or without syslog's begin:
//
//	haproxy[14389]: 10.0.1.2:33317 [06/Feb/2009:12:14:14.655] http-in static/srv1
//	10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {captured} {} "GET /index.html HTTP/1.1"
//
// The request's time is Ta (Tt before HAProxy 1.7); the upstream's is Tc+Tr,
// to connect and to get the answer's header. Other are the frontend, the
// backend, the server, the timers and the termination state.
func HAProxy() *Format {
	return &Format{Name: "haproxy", parse: parseHAProxy}
}

const whyHAProxy = "it is not a line of HAProxy's option httplog"

func parseHAProxy(_ *Format, line []byte, e *Entry, c *clock) string {
	open := bytes.Index(line, []byte(" ["))
	if open <= 0 {
		return whyHAProxy
	}
	client := line[bytes.LastIndexByte(line[:open], ' ')+1 : open]
	rest := line[open+2:]
	end := bytes.IndexByte(rest, ']')
	if end < 0 {
		return whyHAProxy
	}
	var ok bool
	if e.Time, ok = c.read(rest[:end]); !ok {
		return whyTime
	}
	e.Client = withoutPort(client)
	rest = bytes.TrimPrefix(rest[end+1:], []byte(" "))
	var fields [9][]byte // frontend, backend/server, timers, status, bytes, cookies, state, connections
	for i := range fields {
		if fields[i], rest, ok = bytes.Cut(rest, []byte(" ")); !ok {
			return whyHAProxy
		}
	}
	if !e.timers(fields[2]) || !e.haproxyNumbers(fields[3], fields[4]) || bytes.Count(fields[8], []byte("/")) != 4 {
		return whyHAProxy
	}
	backend, server, _ := bytes.Cut(fields[1], []byte("/"))
	e.Other = append(e.Other, Field{"frontend", fields[0]}, Field{"backend", backend}, Field{"server", server},
		Field{"timers", fields[2]}, Field{"termination", fields[7]})
	// The request is the last in quotes; with httpslog the TLS values follow.
	begin := bytes.IndexByte(rest, '"')
	if begin < 0 {
		return whyHAProxy
	}
	request := rest[begin+1:]
	last := bytes.LastIndexByte(request, '"')
	if last < 0 {
		return whyShort
	}
	if request = request[:last]; string(request) != "<BADREQ>" {
		e.setRequest(unhash(request))
	}
	e.finish()
	return ""
}

// unhash undoes #22, in place: HAProxy writes quotes, #, and what is not
// printable so.
func unhash(b []byte) []byte {
	to := 0
	for i := 0; i < len(b); i, to = i+1, to+1 {
		b[to] = b[i]
		if b[i] == '#' && i+2 < len(b) {
			if hi, lo := hexValue(b[i+1]), hexValue(b[i+2]); hi >= 0 && lo >= 0 {
				b[to] = byte(hi<<4 | lo)
				i += 2
			}
		}
	}
	return b[:to]
}

// timers reads TR/Tw/Tc/Tr/Ta in milliseconds; -1 where the request did not
// get so far, + before a total that was logged before the end (option logasap).
func (e *Entry) timers(v []byte) bool {
	var ms [5]int64
	for i := range ms {
		one, rest, more := bytes.Cut(v, []byte("/"))
		if more != (i < len(ms)-1) {
			return false
		}
		v = rest
		if string(one) == "-1" {
			ms[i] = -1
			continue
		}
		n, ok := number(bytes.TrimPrefix(one, []byte("+")))
		if !ok || n > int64(maxDuration/time.Millisecond) {
			return false
		}
		ms[i] = n
	}
	if ms[4] >= 0 {
		e.Request = time.Duration(ms[4]) * time.Millisecond
	}
	if ms[2] >= 0 && ms[3] >= 0 {
		e.Upstream = time.Duration(ms[2]+ms[3]) * time.Millisecond
	}
	return true
}

func (e *Entry) haproxyNumbers(status, size []byte) bool {
	if string(status) != "-1" {
		if n, ok := number(status); ok && len(status) == 3 {
			e.Status = int(n)
		} else {
			return false
		}
	}
	n, ok := number(bytes.TrimPrefix(size, []byte("+")))
	e.Bytes = n
	return ok
}
