package load

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// judge checks the answer to a step's request. u.why says what is wrong.
func (u *user) judge(s *session, st *step, hop, asset int) bool {
	if hop == 0 && !u.check(&st.expect) {
		return false
	}
	if asset >= 0 {
		u.print = u.run.statics.print(u.text)
		if !u.run.statics.sameAsset(asset, u.print) {
			return u.wrong("the same bytes as at the first fetch of this run", fmt.Sprintf("%d other bytes", len(u.text)))
		}
	}
	if st.follow {
		if res := &u.wire.res; isRedirect(res.status) {
			if hop == maxHops {
				return u.wrong(fmt.Sprintf("at most %d redirects", maxHops), "one more, to "+quoteShort(res.location))
			}
			if !u.redirect(res.location) {
				return u.wrong("a redirect within the target", "Location "+quoteShort(res.location))
			}
			return true
		}
		if !u.check(st.then) {
			return false
		}
	}
	return u.extract(st)
}

// wrong notes a failure; it is always false.
func (u *user) wrong(expected, got string) bool {
	u.why = failure{expected, got}
	return false
}

// check compares the answer with an expectation. It allocates only when
// something is wrong.
func (u *user) check(e *expectation) bool {
	res := &u.wire.res
	if !e.wants(res.status) {
		return u.wrong("status "+e.statusText(), u.statusText())
	}
	if e.typ != nil {
		if want := u.render(e.typ); len(want) > len(res.contentType) || !foldEqual(res.contentType[:len(want)], want) {
			return u.wrong("Content-Type "+string(want), "Content-Type "+quoteShort(res.contentType))
		}
	}
	for i := range e.headers {
		h := &e.headers[i]
		want, got := u.render(&h.value), res.lookup(h.name)
		if bytes.Equal(want, got) || foldEqual(h.name, "location") && u.samePlace(want, got) {
			continue
		}
		if got == nil {
			return u.wrong(h.name+": "+string(want), "no header "+h.name)
		}
		return u.wrong(h.name+": "+string(want), h.name+": "+string(got))
	}
	if u.opaque != "" && e.needBody {
		return u.wrong("a readable body", u.opaque)
	}
	return !e.needBody || u.checkText(e) && u.checkJSON(e)
}

// samePlace: /mypage and http://this-host/mypage are one place.
func (u *user) samePlace(want, got []byte) bool {
	path, ok := u.run.target.inside(got)
	return ok && bytes.Equal(want, path)
}

func (u *user) checkText(e *expectation) bool {
	for i := range e.contains {
		if want := u.render(&e.contains[i]); !bytes.Contains(u.text, want) {
			return u.wrong("contains "+quoteShort(want), u.statusText()+", without it")
		}
	}
	for i := range e.lacks {
		if want := u.render(&e.lacks[i]); bytes.Contains(u.text, want) {
			return u.wrong("does not contain "+quoteShort(want), u.statusText()+", with it")
		}
	}
	for _, re := range e.regexps {
		if !re.Match(u.text) {
			return u.wrong("matches "+re.String(), u.statusText()+", without a match")
		}
	}
	if e.size >= 0 && int64(len(u.text)) != e.size {
		return u.wrong(fmt.Sprintf("%d bytes", e.size), fmt.Sprintf("%d bytes", len(u.text)))
	}
	if e.sha256 != "" {
		sum := sha256.Sum256(u.text)
		if got := hex.EncodeToString(sum[:]); got != e.sha256 {
			return u.wrong("SHA-256 "+e.sha256, "SHA-256 "+got)
		}
	}
	if e.golden != nil && !u.checkGolden(e.golden) {
		return false
	}
	return e.time == nil || u.checkTime(e.time)
}

// checkTime compares a time in the answer with when a step was done. The text
// may be cut to whole seconds, so the earliest right time is that far earlier.
func (u *user) checkTime(e *timeExpectation) bool {
	groups := e.re.FindSubmatch(u.text)
	if groups == nil {
		return u.wrong("a time that matches "+e.re.String(), u.statusText()+", without a match")
	}
	got, err := time.ParseInLocation(e.layout, string(groups[1]), e.zone)
	if err != nil {
		return u.wrong("a time like "+e.layout, quoteShort(groups[1]))
	}
	at, base := u.spans[e.near], u.run.meter.base.Round(0)
	from, to := base.Add(at.sent-e.within).Truncate(time.Second), base.Add(at.done+e.within)
	if got.Before(from) || got.After(to) {
		return u.wrong(fmt.Sprintf("a time within %s of %q, which was done at %s", e.within, e.nearName,
			base.Add(at.done).In(got.Location()).Format(time.RFC3339)), string(groups[1]))
	}
	return true
}

func (u *user) checkJSON(e *expectation) bool {
	if len(e.json)+len(e.sets) == 0 {
		return true
	}
	if !json.Valid(u.text) {
		return u.wrong("a JSON body", u.statusText()+", with another body")
	}
	for i := range e.json {
		x := &e.json[i]
		want := u.render(&x.value)
		got, ok := findJSON(u.text, x.path)
		if !ok {
			return u.wrong(x.text+" = "+string(want), x.text+" is absent")
		}
		if !sameJSON(want, got) && !(x.oneVariable() && bytes.Equal(want[1:len(want)-1], got)) {
			return u.wrong(x.text+" = "+string(want), x.text+" = "+shorten(string(got[:min(len(got), 300)]), 200))
		}
	}
	for i := range e.sets {
		if !u.checkSet(&e.sets[i]) {
			return false
		}
	}
	return true
}

// checkSet compares an array with what all users recorded.
func (u *user) checkSet(e *setExpectation) bool {
	value, ok := findJSON(u.text, e.path)
	if !ok || value[0] != '[' {
		return u.wrong(e.text+" is an array", e.text+" is no array")
	}
	listed := map[string]bool{}
	eachJSON(value, 0, func(_ int, _ []byte, from, to int) bool {
		listed[string(jsonString(value[from:to]))] = true
		return true
	})
	recorded := u.run.recorded(e.name)
	var bad []string
	for v := range recorded {
		if listed[v] == e.none {
			bad = append(bad, v)
		}
	}
	if len(bad) == 0 {
		return true
	}
	slices.Sort(bad)
	few := strings.Join(bad[:min(len(bad), 10)], ", ")
	if e.none {
		return u.wrong(fmt.Sprintf("%s holds none of the %d in @%s", e.text, len(recorded), e.name), fmt.Sprintf("it holds %d of them: %s", len(bad), few))
	}
	return u.wrong(fmt.Sprintf("%s holds all %d of @%s", e.text, len(recorded), e.name), fmt.Sprintf("it lacks %d of them: %s", len(bad), few))
}

// extract takes values out of the last answer.
func (u *user) extract(st *step) bool {
	if len(st.extract) > 0 {
		u.base = append(u.base[:0], u.target...)
	}
	for i := range st.extract {
		x := &st.extract[i]
		if u.opaque != "" && x.header == "" {
			return u.wrong("a readable body", u.opaque)
		}
		value, ok := x.find(u)
		if !ok {
			return u.wrong("a value for ${"+x.name+"}", u.statusText()+", without one")
		}
		u.vars[x.slot] = append(u.vars[x.slot][:0], value...)
	}
	return true
}

// find is the value, or ok false. With a regexp it is the first group, or the
// whole match if there is none.
func (x *extraction) find(u *user) (value []byte, ok bool) {
	value = u.text
	switch {
	case x.header != "":
		if value = u.wire.res.lookup(x.header); value == nil {
			return nil, false
		}
	case x.cookie != "":
		if value, ok = u.jar.value(x.cookie); !ok {
			return nil, false
		}
		// As scripts of pages read it: a cookie cannot hold each byte as it is.
		if plain, err := url.PathUnescape(string(value)); err == nil && bytes.IndexByte(value, '%') >= 0 {
			value = []byte(plain)
		}
	case x.css != nil:
		if value, ok = x.css.find(u); !ok {
			return nil, false
		}
	case x.asJSON:
		if !json.Valid(u.text) {
			return nil, false
		}
		if value, ok = findJSON(u.text, x.path); !ok {
			return nil, false
		}
		value = jsonString(value)
	}
	if x.re == nil {
		return value, true
	}
	groups := x.re.FindSubmatch(value)
	if groups == nil {
		return nil, false
	}
	return groups[min(1, len(groups)-1)], true
}

// render is a template's text; one without variables is not copied.
func (u *user) render(t *template) []byte {
	if text, ok := t.constant(); ok {
		return text
	}
	u.scratch = t.append(u.scratch[:0], u.vars)
	return u.scratch
}

func (e *expectation) statusText() string {
	if e.redirect {
		return "301, 302, 303, 307 or 308"
	}
	if len(e.statuses) == 0 {
		return "200"
	}
	text := make([]string, len(e.statuses))
	for i, s := range e.statuses {
		text[i] = fmt.Sprint(s)
	}
	return strings.Join(text, " or ")
}

// statusText is the answer in a few words.
func (u *user) statusText() string {
	res := &u.wire.res
	text := fmt.Sprintf("status %d", res.status)
	if len(res.location) > 0 {
		text += ", Location " + string(res.location)
	}
	return text
}
