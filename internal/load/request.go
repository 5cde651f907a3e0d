package load

import (
	"net/url"
	"strconv"
)

// fixedRequest is a step's request that is the same each time as long as there
// are no cookies: built once, shared by all users, never written to.
type fixedRequest struct{ request, target []byte }

// maxFixed bounds a fixed request; a larger one is built each time.
const maxFixed = 64 << 10

// fixed builds the requests of steps without variables, by the steps' serial
// numbers.
func (r *run) fixRequests() {
	sample := &user{run: r}
	r.opts.Scenario.eachStep(func(st *step) {
		var f *fixedRequest
		path, plain := st.path.constant()
		_, plainHeaders := st.headers.constant()
		body, plainBody := st.body.constant()
		if plain && plainHeaders && plainBody && !st.rawPath && len(body) <= maxFixed {
			sample.target, sample.body, sample.out = path, body, nil
			sample.build(st, st.method)
			f = &fixedRequest{request: sample.out, target: path}
		}
		r.fixed = append(r.fixed, f)
	})
}

// eachStep calls do for every step in the order of their serial numbers.
func (s *Scenario) eachStep(do func(*step)) {
	all := []*session{s.setup}
	for i := range s.sessions {
		all = append(all, &s.sessions[i])
	}
	for _, one := range append(all, s.teardown) {
		for i := range one.steps {
			do(&one.steps[i])
		}
	}
}

// single reports whether every session is one request, so that nothing
// follows from an answer.
func (s *Scenario) single() bool {
	for i := range s.sessions {
		steps := s.sessions[i].steps
		if len(steps) != 1 || steps[0].repeat != 1 || steps[0].follow || len(steps[0].assets) > 0 {
			return false
		}
	}
	return true
}

// number gives the steps their serial numbers and notes whose checks are long.
func (s *Scenario) number() {
	serial := 0
	s.eachStep(func(st *step) {
		st.serial = serial
		serial++
		st.heavy = st.expect.long() || st.then != nil && st.then.long() || len(st.extract) > 0 || st.auto != nil
	})
}

// long reports whether a check may take more than a few microseconds, so that
// the next request's time must not be the answer's.
func (e *expectation) long() bool {
	return len(e.regexps)+len(e.json)+len(e.sets) > 0 || e.time != nil || e.sha256 != "" || e.golden != nil
}

// cleanTarget makes a link that a page gave a request target; one without a slash in front
// is relative to that page.
func (u *user) cleanTarget() bool {
	path, ok := u.run.target.inside(u.target)
	if !ok {
		path, ok = relative(u.base, u.target)
	}
	if ok {
		clean := appendTarget(u.scratch[:0], path)
		u.scratch, u.path = u.path, clean
		u.target = clean
	}
	return ok
}

// appendTarget cuts a fragment off and encodes what cannot stand in a request
// line.
func appendTarget(dst, path []byte) []byte {
	path, _ = cutByte(path, '#')
	for _, c := range path {
		if c <= ' ' || c >= 0x7f {
			dst = append(dst, '%', hexDigits[c>>4], hexDigits[c&15])
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}

// build renders the request.
func (u *user) build(st *step, method string) {
	r := u.run
	b := append(u.out[:0], method...)
	b = append(b, ' ')
	b = append(b, u.target...)
	b = append(b, " HTTP/1.1\r\n"...)
	if !st.own.host {
		b = append(b, r.hostLine...)
	}
	b = append(b, r.added...)
	if !st.own.agent {
		b = append(b, "User-Agent: kasoku\r\n"...)
	}
	if !st.own.accept {
		b = append(b, "Accept: */*\r\n"...)
	}
	b = st.headers.append(b, u.vars)
	b = append(b, u.asking...)
	before := len(b)
	if !st.own.cookie {
		b = u.jar.append(b, u.target)
	}
	u.stranger = len(b) == before && len(st.own.telling) == 0
	switch {
	case st.hasBody && method == st.method:
		if st.bodyType != "" {
			b = append(append(append(b, "Content-Type: "...), st.bodyType...), "\r\n"...)
		}
		b = append(strconv.AppendInt(append(b, "Content-Length: "...), int64(len(u.body)), 10), "\r\n\r\n"...)
		b = append(b, u.body...)
	case method == "POST" || method == "PUT" || method == "PATCH":
		b = append(b, "Content-Length: 0\r\n\r\n"...)
	default:
		b = append(b, "\r\n"...)
	}
	u.out, u.request = b, b
}

// redirect finds where the answer's Location leads and notes it in u.next.
func (u *user) redirect(location []byte) bool {
	if path, ok := u.run.target.inside(location); ok {
		u.next = appendTarget(u.next[:0], path)
		return true
	}
	path, ok := relative(u.target, location)
	if ok {
		u.next = appendTarget(u.next[:0], path)
	}
	return ok
}

// relative resolves a link against the target of the page that it stands in; ok is false
// if it leads elsewhere, or is none (RFC 3986, 5.2).
func relative(page, link []byte) (path []byte, ok bool) {
	base, err := url.Parse(string(page))
	if err != nil || len(page) == 0 || len(link) == 0 {
		return nil, false
	}
	to, err := base.Parse(string(link))
	if err != nil || to.Host != "" || to.Scheme != "" {
		return nil, false
	}
	return []byte(to.RequestURI()), true
}
