package load

import (
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
)

// Heads that are wrong, and some odd ones that are right.
func TestMisbehaviourHeads(t *testing.T) {
	await.SkipShort(t)
	with := func(header string) func(*peer) {
		return answers(okHead + header + "\r\nContent-Length: 2\r\n\r\nok")
	}
	status := func(line string) func(*peer) { return answers(line + "\r\nContent-Length: 2\r\n\r\nok") }
	const notHTTP, badHeader, badEnd, tooLong = "status line", "no valid name", "CR LF", "longer than 64 KiB"
	misdeeds(t, []misdeed{
		{name: "right", play: answers(okAnswer), want: "right"},
		{name: "no reason phrase", play: status("HTTP/1.1 200"), want: "right"},
		{name: "odd reason phrase", play: status("HTTP/1.1 200 \xff: 404"), want: "right"},
		{name: "bytes above ASCII in a value", play: with("X: \xe4\xff"), want: "right"},
		{name: "empty value", play: with("X:"), want: "right"},
		{name: "tabs around a value", play: with("Connection:\t close\t"), want: "right", connects: 1},
		{name: "60 KiB of headers", play: with("X: " + strings.Repeat("y", 60<<10)), want: "right"},
		{name: "1,000 headers", play: with(strings.Repeat("X: y\r\n", 1000) + "Z: z"), want: "right"},

		{name: "endless status line", play: floods("HTTP/1.1 200 ", "OK"), want: "error", got: tooLong, connects: 1, onceEach: true},
		{name: "endless header line", play: floods(okHead+"X: ", "y"), want: "error", got: tooLong, connects: 1, onceEach: true},
		{name: "endless header name", play: floods(okHead, "X"), want: "error", got: tooLong, connects: 1},
		{name: "endless headers", play: floods(okHead, "X: y\r\n"), want: "error", got: tooLong, connects: 1},
		{name: "endless cookies", play: floods(okHead, "Set-Cookie: a=b; Path=/\r\n"), want: "error", got: tooLong, connects: 1},
		{name: "64 KiB and one byte", play: with("X: " + strings.Repeat("y", 64<<10+1)), want: "error", got: tooLong, connects: 1},

		{name: "garbage", play: answers("\x16\x03\x01 hello\r\n\r\n"), want: "error", got: notHTTP, connects: 1, onceEach: true},
		{name: "garbage without an end", play: answersSilent("what?"), want: "error", got: notHTTP, connects: 1},
		{name: "binary zeros", play: floods("", "\x00"), want: "error", got: notHTTP, connects: 1},
		{name: "one zero", play: answersSilent("\x00"), want: "error", got: notHTTP, connects: 1},
		{name: "HTTP/0.9", play: answersOnce("<html>ok</html>\n"), want: "error", got: notHTTP, connects: 1},
		{name: "HTTP/2 preface", play: answersSilent("\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x80\x00\x04\x00\x01\x00\x00\x00\x05\x00\xff\xff\xff"), want: "error", got: notHTTP, connects: 1},
		{name: "TLS alert", play: answersOnce("\x15\x03\x01\x00\x02\x02\x28"), want: "error", got: notHTTP, connects: 1},
		{name: "another protocol", play: answersSilent("220 mail.example ESMTP\r\n"), want: "error", got: notHTTP, connects: 1},
		{name: "an empty line first", play: answers("\r\n" + okAnswer), want: "error", got: notHTTP, connects: 1},
		{name: "HTTP/2 in text", play: status("HTTP/2 200 OK"), want: "error", got: notHTTP, connects: 1},
		{name: "HTTP/2.0 in text", play: status("HTTP/2.0 200 OK"), want: "error", got: notHTTP, connects: 1},
		{name: "HTTP/1.x", play: status("HTTP/1.x 200 OK"), want: "error", got: notHTTP, connects: 1},
		{name: "HTTP/1.10", play: status("HTTP/1.10 200 OK"), want: "error", got: notHTTP, connects: 1},
		{name: "lower-case http", play: status("http/1.1 200 OK"), want: "error", got: notHTTP, connects: 1},
		{name: "two spaces", play: status("HTTP/1.1  200 OK"), want: "error", got: notHTTP, connects: 1},
		{name: "a request", play: answers("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), want: "error", got: notHTTP, connects: 1},
		{name: "status 99", play: status("HTTP/1.1 99 OK"), want: "error", got: notHTTP, connects: 1},
		{name: "status 099", play: status("HTTP/1.1 099 OK"), want: "error", got: notHTTP, connects: 1},
		{name: "status 1000", play: status("HTTP/1.1 1000 OK"), want: "error", got: notHTTP, connects: 1},
		{name: "status abc", play: status("HTTP/1.1 abc OK"), want: "error", got: notHTTP, connects: 1},
		{name: "status -20", play: status("HTTP/1.1 -20 OK"), want: "error", got: notHTTP, connects: 1},
		{name: "status 200OK", play: status("HTTP/1.1 200OK"), want: "error", got: notHTTP, connects: 1},
		{name: "no status", play: status("HTTP/1.1"), want: "error", got: notHTTP, connects: 1},
		{name: "status 999", play: status("HTTP/1.1 999 OK"), want: "mismatch", got: "status 999"},

		{name: "only line feeds", play: answers(strings.ReplaceAll(okAnswer, "\r\n", "\n")), want: "error", got: badEnd, connects: 1},
		{name: "only line feeds, in pieces", play: func(p *peer) {
			for ok := p.ask() && p.say("HTTP/1.1 200 OK"); ok; ok = p.ask() && p.say("HTTP/1.1 200 OK") {
				time.Sleep(2 * time.Millisecond) // so that they are read one by one
				p.say("\nContent-Length: 2\n\nok")
			}
		}, want: "error", got: badEnd, connects: 1, timeout: 400 * time.Millisecond},
		{name: "one bare line feed", play: with("X: y\nZ: z"), want: "error", got: badEnd, connects: 1},
		{name: "only carriage returns", play: answersOnce(strings.ReplaceAll(okAnswer, "\r\n", "\r")), want: "error", connects: 1},
		{name: "a carriage return in a value", play: with("X: y\rZ: z"), want: "error", got: badEnd, connects: 1},
		{name: "two carriage returns", play: with("X: y\r"), want: "error", got: badEnd, connects: 1},
		{name: "NUL in a value", play: with("X: y\x00z"), want: "error", connects: 1},
		{name: "NUL in a name", play: with("X\x00: y"), want: "error", got: badHeader, connects: 1},
		{name: "folded header", play: with("X: y\r\n z"), want: "error", got: badHeader, connects: 1},
		{name: "folded first header", play: with(" X: y"), want: "error", got: badHeader, connects: 1},
		{name: "space before the colon", play: with("X : y"), want: "error", got: badHeader, connects: 1},
		{name: "space in a name", play: with("X Y: z"), want: "error", got: badHeader, connects: 1},
		{name: "no name", play: with(": y"), want: "error", got: badHeader, connects: 1},
		{name: "no colon", play: with("nonsense"), want: "error", got: badHeader, connects: 1},
		{name: "bytes above ASCII in a name", play: with("\xe4: y"), want: "error", got: badHeader, connects: 1},
	})
}

// Answers before, behind and without the answer that was asked for.
func TestMisbehaviourExtraAnswers(t *testing.T) {
	await.SkipShort(t)
	const early = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"
	const surplus = "more bytes came"
	head := "{request: HEAD /, think: 1ms}"
	status := func(n string) string { return "{request: GET /, expect: {status: " + n + "}, think: 1ms}" }
	misdeeds(t, []misdeed{
		{name: "100 unasked", play: answers("HTTP/1.1 100 Continue\r\n\r\n" + okAnswer), want: "right"},
		{name: "16 interim answers", play: answers(strings.Repeat(early, 16) + okAnswer), want: "right"},
		{name: "interim answers of 60 KiB each", play: answers(strings.Repeat("HTTP/1.1 103 Early Hints\r\nX: "+strings.Repeat("y", 60<<10)+"\r\n\r\n", 3) + okAnswer), want: "right"},
		{name: "interim answer with a length", play: answers("HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\n\r\n" + okAnswer), want: "right"},
		{name: "interim answer alone first", play: func(p *peer) {
			for p.ask() && p.say(early) && p.say(okAnswer) {
			}
		}, want: "right"},
		{name: "17 interim answers", play: answers(strings.Repeat(early, 17) + okAnswer), want: "error", got: "interim answers", connects: 1},
		{name: "endless interim answers", play: floods("", early), want: "error", got: "interim answers", connects: 1},
		{name: "slow interim answers", play: func(p *peer) { _ = p.ask(); p.drip("", early, 20*time.Millisecond) }, want: "timeout", got: "no complete answer", connects: 1},
		{name: "cut after an interim answer", play: answersOnce(early), want: "error", got: "ended in the headers", connects: 1, onceEach: true},
		{name: "silent after an interim answer", play: answersSilent(early), want: "timeout", connects: 1},
		{name: "interim answer that is wrong", play: answers("HTTP/1.1 103 x\r\nX y\r\n\r\n" + okAnswer), want: "error", got: "no valid name", connects: 1},
		{name: "101", play: answersSilent("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"), want: "error", got: "switched protocols", connects: 1},

		{name: "204", play: answers("HTTP/1.1 204 No Content\r\n\r\n"), step: status("204"), want: "right"},
		{name: "204 with a length and no body", play: answers("HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\n"), step: status("204"), want: "right"},
		{name: "204 with chunked and no body", play: answers("HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n"), step: status("204"), want: "right"},
		{name: "204 with a body", play: answers("HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok"), step: status("204"), want: "error", got: surplus, connects: 1},
		{name: "304 with the file's length", play: answers("HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n"), step: status("304"), want: "right"},
		{name: "304 with a body", play: answers("HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\nok"), step: status("304"), want: "error", got: surplus, connects: 1},
		{name: "HEAD with a length", play: answers(okHead + "Content-Length: 99\r\n\r\n"), step: head, want: "right"},
		{name: "HEAD with chunked", play: answers(chunkHead), step: head, want: "right"},
		{name: "HEAD without a length", play: answers(okHead + "\r\n"), step: head, want: "right"},
		{name: "HEAD with a body", play: answers(okAnswer), step: head, want: "error", got: surplus, connects: 1},

		{name: "longer than its length", play: answers(okAnswer + "ok"), want: "error", got: surplus, connects: 1},
		{name: "a second answer unasked", play: answers(okAnswer + okAnswer), want: "error", got: surplus, connects: 1},
		{name: "line ends behind the answer", play: answers(okAnswer + "\r\n"), want: "error", got: surplus, connects: 1},
		{name: "bytes behind the last chunk", play: answers(chunkHead + "2\r\nok\r\n0\r\n\r\nok"), want: "error", got: surplus, connects: 1},
		{name: "more bytes a little later", play: func(p *peer) {
			for p.ask() && p.say(okAnswer) {
				p.drip("", "surplus", 10*time.Millisecond)
			}
		}, step: "{request: GET /, expect: {contains: ok}, think: 40ms}", want: "mismatch error", also: "right", connects: -1},
		// The answers differ, so that one taken for another shows.
		{name: "a second answer a little later", play: func(p *peer) {
			for p.ask() && p.say(okAnswer) {
				p.drip("", strings.Replace(okAnswer, "ok", "no", 1), 10*time.Millisecond)
			}
		}, step: "{request: GET /, expect: {contains: ok}, think: 40ms}", want: "mismatch error", also: "right", connects: -1},
		{name: "a second answer to POST", play: func(p *peer) {
			for p.ask() && p.say(strings.Replace(okAnswer, "200", "404", 1)+okAnswer) {
			}
		}, step: "{request: POST /, expect: {status: 404}, think: 1ms}", want: "error", got: surplus, connects: 1},
	})
}
