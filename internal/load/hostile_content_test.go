package load

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
)

// Answers that are HTTP, but meant to lead the client astray.
func TestMisbehaviourContent(t *testing.T) {
	await.SkipShort(t)
	follow := "{request: GET /, follow: true, then: {contains: ok}}"
	// Answers take a while, so that one run's redirects leave the processors to
	// the runs beside it.
	to := func(location string) func(*peer) {
		return func(p *peer) {
			for p.ask() && p.say("HTTP/1.1 302 Found\r\nLocation: "+location+"\r\nContent-Length: 0\r\n\r\n") {
				time.Sleep(time.Millisecond)
			}
		}
	}
	growing := func(p *peer) {
		for p.ask() && p.say("HTTP/1.1 302 Found\r\nLocation: /x"+p.path+strings.Repeat("/more", 1000)+"\r\nContent-Length: 0\r\n\r\n") {
			time.Sleep(time.Millisecond)
		}
	}
	// flood sends n cookies that nobody has seen before.
	flood := func(n int, format string) func(*peer) {
		return func(p *peer) {
			for serial := p.n << 32; p.ask(); {
				head := okHead
				for range n {
					serial++
					head += fmt.Sprintf("Set-Cookie: "+format+"\r\n", serial)
				}
				if !p.say(head + "Content-Length: 2\r\n\r\nok") {
					return
				}
			}
		}
	}
	misdeeds(t, []misdeed{
		{name: "redirect loop", play: to("/"), step: follow, want: "mismatch", also: "right", got: "one more", window: 600 * time.Millisecond},
		{name: "redirect that grows", play: growing, step: follow, want: "mismatch", also: "right", got: "one more", window: 600 * time.Millisecond},
		{name: "redirect elsewhere", play: to("http://192.0.2.1/"), step: follow, want: "mismatch", got: "192.0.2.1"},
		{name: "redirect elsewhere without a scheme", play: to("//192.0.2.1/"), step: follow, want: "mismatch", got: "192.0.2.1"},
		{name: "redirect to a file", play: to("file:///etc/passwd"), step: follow, want: "mismatch", got: "file:"},
		{name: "redirect to a script", play: to("javascript:alert(1)"), step: follow, want: "mismatch"},
		{name: "redirect nowhere", play: to(""), step: follow, want: "mismatch"},
		{name: "redirect without a place", play: answers("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n"), step: follow, want: "mismatch"},
		{name: "redirect to 50 KiB", play: to("/" + strings.Repeat("x", 50<<10)), step: follow, want: "mismatch", also: "right", got: "one more", window: 600 * time.Millisecond},
		{name: "redirect with spaces", play: to("/a b\tc"), step: follow, want: "mismatch", also: "right", got: "one more", window: 600 * time.Millisecond},
		{name: "300 that is no redirect", play: answers("HTTP/1.1 300 Multiple Choices\r\nContent-Length: 2\r\n\r\nok"), step: follow, want: "mismatch", got: "status 300"},

		{name: "1,000 cookies each time", play: flood(1000, "c%d=v; Path=/"), step: "{request: GET /, expect: {contains: ok}, repeat: 1000}", want: "right mismatch error", connects: -1, window: time.Second, timeout: 2 * time.Second, users: []int{1, 2}},
		{name: "the same cookie 1,000 times", play: flood(1000, "c=v%d"), step: "{request: GET /, expect: {contains: ok}, repeat: 1000}", want: "right", window: time.Second},
		{name: "cookies for other paths", play: flood(100, "c%d=v; Path=/elsewhere"), step: "{request: GET /, expect: {contains: ok}, repeat: 10}", want: "right"},
		{name: "cookies that are none", play: answers(okHead + "Set-Cookie: \r\nSet-Cookie: =\r\nSet-Cookie: ;;;\r\nSet-Cookie: a\r\nSet-Cookie: a=b; Path; Expires=x; Max-Age=y\r\nContent-Length: 2\r\n\r\nok"), want: "right"},
		{name: "cookie with control characters", play: answers(okHead + "Set-Cookie: a=\x01\x7f\xff; Path=/\r\nContent-Length: 2\r\n\r\nok"), step: "{request: GET /, expect: {contains: ok}, repeat: 3}", want: "right mismatch error", connects: -1},

		{name: "JSON 10,000 deep", play: answers(okHead + "Content-Length: 20000\r\n\r\n" + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)), step: "{request: GET /, expect: {json: {\"$.a\": 1}}}", want: "mismatch"},
		{name: "JSON with an endless number", play: answers(okHead + "Content-Length: 60005\r\n\r\n[1" + strings.Repeat("0", 60_000) + "e9]"), step: "{request: GET /, expect: {json: {\"$[0]\": 1}}}", want: "mismatch"},
		{name: "text that is not UTF-8", play: answers(okHead + "Content-Length: 4\r\n\r\n\xff\xfe\x00o"), step: "{request: GET /, expect: {contains: ok}}", want: "mismatch"},
	})
}
