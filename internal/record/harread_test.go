package record

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// entryJSON is one entry of a HAR, with what a case puts besides.
func entryJSON(method, url string, status int, more string) string {
	return fmt.Sprintf(`{"startedDateTime":"2024-03-02T09:00:00.120Z","time":4,"request":{"method":%q,"url":%q,"headers":[]%s},"response":{"status":%d,"headers":[],"content":{"mimeType":"text/html"}}}`,
		method, url, more, status)
}

func harOf(entries ...string) string {
	return `{"log":{"version":"1.2","pages":[],"entries":[` + strings.Join(entries, ",") + `]}}`
}

// Files as browsers and proxies write them; what is in the scenario and what
// the report says.
func TestHARForms(t *testing.T) {
	get := entryJSON("GET", "http://shop.test/first", 200, "")
	for _, c := range []struct{ name, har, scenario, report string }{
		{"a byte order mark", "\ufeff" + harOf(get), "request: GET /first", ""},
		{"members in another order, pages null", `{"version":1,"log":{"entries":[` + get + `],"pages":null,"browser":{"name":"x"}}}`, "request: GET /first", ""},
		{"a method in small letters", harOf(entryJSON("get", "http://shop.test/small", 200, "")), "request: GET /small", ""},
		{"a time without zone", strings.Replace(harOf(get), "09:00:00.120Z", "09:00:00.120", 1), "request: GET /first", ""},
		{"a time that is a number", strings.Replace(harOf(get), `"2024-03-02T09:00:00.120Z"`, "17", 1), "request: GET /first", ""},
		{"a status that is a text", harOf(get, strings.Replace(entryJSON("GET", "http://shop.test/second", 200, ""), `"status":200`, `"status":"200"`, 1)), "request: GET /second", ""},
		{"an entry without request", harOf(get, `{"response":{"status":200}}`, `7`), "request: GET /first", "2 requests: they could not be read, for example entry 2 has no request.url"},
		{"a body in Base64", harOf(entryJSON("POST", "http://shop.test/buy", 200, `,"postData":{"mimeType":"application/json","encoding":"base64","text":"eyJuIjogNDJ9"}`)), `json: {"n": 42}`, ""},
		{"a body without mimeType", harOf(strings.Replace(entryJSON("POST", "http://shop.test/buy", 200, `,"postData":{"text":"n=42"}`), `"headers":[]`, `"headers":[{"name":"content-type","value":"application/x-www-form-urlencoded"}]`, 1)), `"n": "42"`, ""},
		{"WebSockets", harOf(get, entryJSON("GET", "wss://shop.test/live", 101, "")), "request: GET /first", "1 requests: wss: addresses"},
		{"data addresses", harOf(get, entryJSON("GET", "data:image/png;base64,AAAA", 200, "")), "request: GET /first", "1 requests: data: addresses"},
		{"from the cache", harOf(get, strings.Replace(entryJSON("GET", "http://shop.test/logo", 200, ""), `"time":4`, `"time":4,"_fromCache":"disk"`, 1)), "request: GET /first", "1 requests: the browser took them from its cache"},
		{"not modified", harOf(entryJSON("GET", "http://shop.test/kept", 304, "")), "request: GET /kept", ""},
		{"blocked", harOf(get, entryJSON("GET", "http://shop.test/ad", 0, "")), "request: GET /first", "1 requests: they got no answer"},
		{"tunnels", harOf(get, entryJSON("CONNECT", "http://shop.test:443", 200, "")), "request: GET /first", "1 requests: CONNECT"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := FromHAR(strings.NewReader(c.har), HAROptions{})
			if err != nil {
				t.Fatal(err)
			}
			written(t, d)
			want(t, "the scenario", string(d.Scenario()), c.scenario)
			if left := strings.Join(d.LeftOut, "\n"); c.report == "" && left != "" || !strings.Contains(left, c.report) {
				t.Errorf("left out: %s", left)
			}
		})
	}
}

// TestHARRefused: what is wrong, and where.
func TestHARRefused(t *testing.T) {
	whole := harOf(entryJSON("GET", "http://shop.test/first", 200, ""), entryJSON("GET", "http://shop.test/b", 200, ""))
	for _, c := range []struct{ name, har, want string }{
		{"nothing", "", "the file is empty"},
		{"a cut file", whole[:len(whole)-60], "entry 2, byte "},
		{"a cut file, why", whole[:len(whole)-60], "the file ends in the middle"},
		{"a cut file with a byte order mark", "\ufeff" + whole[:40], "the file ends in the middle"},
		{"no entries", harOf(), "its log has no entries"},
		{"no log", `{"entries":[` + entryJSON("GET", "http://shop.test/", 200, "") + `]}`, `it has no "log"`},
		{"entries that are no list", `{"log":{"entries":"none"}}`, "a list is expected"},
		{"no object", `[1,2]`, "an object is expected"},
		{"a page", "<html>", "invalid character"},
		{"UTF-16", "\xff\xfe{\x00}\x00", "UTF-16"},
		{"only broken entries", harOf("{}", "3"), "none of its 2 entries could be read: entry 1 has no request.url"},
		{"only WebSockets", harOf(entryJSON("GET", "ws://shop.test/live", 101, "")), "ws: addresses"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := FromHAR(strings.NewReader(c.har), HAROptions{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want %q; %+v", err, c.want, d)
			}
		})
	}
	if _, err := FromHAR(strings.NewReader(harOf()), HAROptions{}); !errors.Is(err, ErrNothing) {
		t.Errorf("no entries: %v", err)
	}
}
