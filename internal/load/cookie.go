package load

import (
	"bytes"
	"time"
)

// cookie as a browser keeps it. Domain and Secure do not matter: there is one
// host.
type cookie struct{ name, value, path []byte }

// jar holds a session's cookies. Its memory is kept from session to session.
type jar struct{ cookies []cookie }

// Bounds of browsers: at least 50 cookies for a host and 4096 bytes for one
// (RFC 6265, 6.1); Chrome keeps 180.
const (
	maxCookies = 180
	maxCookie  = 4096
)

func (j *jar) clear() { j.cookies = j.cookies[:0] }

// set takes one Set-Cookie value that answered a request for path (RFC 6265,
// 5.3), and reports whether it was one.
func (j *jar) set(header, path []byte, now time.Time) bool {
	pair, rest := cutByte(header, ';')
	eq := bytes.IndexByte(pair, '=')
	if eq <= 0 {
		return false
	}
	name, value := trim(pair[:eq]), trim(pair[eq+1:])
	scope, gone, aged := defaultPath(path), false, false
	for len(rest) > 0 {
		var attribute []byte
		attribute, rest = cutByte(rest, ';')
		key, val := cutByte(attribute, '=')
		key, val = trim(key), trim(val)
		switch {
		case foldEqual(key, "path") && len(val) > 0 && val[0] == '/':
			scope = val
		case foldEqual(key, "max-age") && len(val) > 0:
			gone, aged = val[0] == '-' || string(val) == "0", true
		case foldEqual(key, "expires") && !aged:
			gone = isPast(val, now)
		}
	}
	j.put(name, value, scope, gone)
	return true
}

func (j *jar) put(name, value, path []byte, gone bool) {
	for i := range j.cookies {
		c := &j.cookies[i]
		if !bytes.Equal(c.name, name) || !bytes.Equal(c.path, path) {
			continue
		}
		if gone {
			last := len(j.cookies) - 1
			j.cookies[i], j.cookies[last] = j.cookies[last], j.cookies[i]
			j.cookies = j.cookies[:last]
			return
		}
		c.value = append(c.value[:0], value...)
		return
	}
	if gone || len(j.cookies) >= maxCookies || len(name)+len(value) > maxCookie {
		return
	}
	if n := len(j.cookies); n < cap(j.cookies) {
		j.cookies = j.cookies[:n+1]
	} else {
		j.cookies = append(j.cookies, cookie{})
	}
	c := &j.cookies[len(j.cookies)-1]
	c.name, c.value, c.path = append(c.name[:0], name...), append(c.value[:0], value...), append(c.path[:0], path...)
}

// append writes the Cookie header for a request path, or nothing.
func (j *jar) append(dst, path []byte) []byte {
	path, _ = cutByte(path, '?')
	first := true
	for i := range j.cookies {
		c := &j.cookies[i]
		if !pathMatches(path, c.path) {
			continue
		}
		if first {
			dst, first = append(dst, "Cookie: "...), false
		} else {
			dst = append(dst, "; "...)
		}
		dst = append(append(append(dst, c.name...), '='), c.value...)
	}
	if !first {
		dst = append(dst, '\r', '\n')
	}
	return dst
}

var rootPath = []byte("/")

// defaultPath: RFC 6265, 5.1.4.
func defaultPath(path []byte) []byte {
	path, _ = cutByte(path, '?')
	if i := bytes.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return rootPath
}

// pathMatches: RFC 6265, 5.1.4.
func pathMatches(path, scope []byte) bool {
	return bytes.HasPrefix(path, scope) &&
		(len(path) == len(scope) || scope[len(scope)-1] == '/' || path[len(scope)] == '/')
}

// isPast reads the date forms that servers send; another form never expires.
func isPast(date []byte, now time.Time) bool {
	for _, layout := range []string{time.RFC1123, "Mon, 02-Jan-2006 15:04:05 MST", time.RFC850, time.ANSIC} {
		if t, err := time.Parse(layout, string(date)); err == nil {
			return !t.After(now)
		}
	}
	return false
}

// cutByte cuts b at the first sep.
func cutByte(b []byte, sep byte) (before, after []byte) {
	if i := bytes.IndexByte(b, sep); i >= 0 {
		return b[:i], b[i+1:]
	}
	return b, nil
}
