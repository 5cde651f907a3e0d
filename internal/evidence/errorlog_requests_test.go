package evidence

import (
	"strings"
	"testing"
)

// What an application prints for each request is no error, unless the answer is one.
func TestRequestsAreNoErrors(t *testing.T) {
	for line, want := range map[string]bool{
		`2026/01/05 10:00:00 "GET http://127.0.0.1/api/next HTTP/1.0" from 127.0.0.1:56146 - 204 0B in 41.4ms`: false,
		`2026/01/05 10:00:00 "GET http://127.0.0.1/api/next HTTP/1.0" from 127.0.0.1:500 - 502 0B in 41.4ms`:   true,
		`INFO:     127.0.0.1:54012 - "GET /items/5 HTTP/1.1" 200 OK`:                                           false,
		`INFO:     127.0.0.1:54012 - "GET /items/5 HTTP/1.1" 500 Internal Server Error`:                        true,
		`127.0.0.1 - - [05/Jan/2026 10:00:00] "POST /login HTTP/1.1" 302 -`:                                    false,
		`{"level":"info","method":"GET","uri":"/a","status":200,"latency":12}`:                                 false,
		`{"level":"info","method":"GET","uri":"/a","status":503,"latency":12}`:                                 true,
		`time=2026-01-05T10:00:00Z level=INFO msg=request method=GET path=/a status=404`:                       false,
		`2026-01-05 10:00:00 ERROR GET /a HTTP/1.1 took 200 ms longer than allowed`:                            true,
		`2026-01-05 10:00:00 cannot GET /a HTTP/1.1`:                                                           true,
		`2026-01-05 10:00:00 the method is wrong, status=12`:                                                   true,
	} {
		kinds, _, err := ParseErrorLog(strings.NewReader(line+"\n"), "app")
		if err != nil || len(kinds) == 1 != want {
			t.Errorf("%s\nkept %v, want %v (%v)", line, len(kinds) == 1, want, err)
		}
	}
}

// The level of a line of fields is what it says, not unknown.
func TestLevelsOfFields(t *testing.T) {
	for line, want := range map[string]string{
		`{"time":"2026-01-05T10:00:00Z","level":"DEBUG","prefix":"echo","message":"error: status=401, message=no such user"}`: "notice",
		`{"time":"2026-01-05T10:00:00Z","level":"ERROR","message":"Error 1213: Deadlock found"}`:                              "error",
		`time=2026-01-05T10:00:00Z level=WARN msg="slow"`:                                                                     "warning",
		`{"severity": "critical", "msg": "out of memory"}`:                                                                    "crit",
		`{"message":"the level is high"}`:                                                                                     "",
		`cannot open the file: level: 5`:                                                                                      "",
	} {
		kinds, _, err := ParseErrorLog(strings.NewReader(line+"\n"), "app")
		if err != nil || len(kinds) != 1 || kinds[0].Level != want {
			t.Errorf("%s\n%+v, want %q (%v)", line, kinds, want, err)
		}
	}
}

// A line of JSON is a message of its own, also behind one that names a level.
func TestFieldsBehindFields(t *testing.T) {
	kinds, _, err := ParseErrorLog(strings.NewReader("{\"level\":\"ERROR\",\"message\":\"no connection\"}\n{\"method\":\"GET\",\"uri\":\"/a\",\"status\":500}\n"), "app")
	if err != nil || len(kinds) != 2 {
		t.Errorf("%+v (%v)", kinds, err)
	}
}
