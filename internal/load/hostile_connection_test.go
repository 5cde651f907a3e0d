package load

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
)

// Connections that end where they should not, or never.
func TestMisbehaviourConnections(t *testing.T) {
	await.SkipShort(t)
	const noAnswer, inHead = "closed before the answer", "ended in the headers"
	closing := strings.Replace(okAnswer, "\r\n", "\r\nConnection: close\r\n", 1)
	// first answers the first request on each connection, then does what follows.
	first := func(then func(*peer)) func(*peer) {
		return func(p *peer) {
			if p.ask() && p.say(okAnswer) {
				then(p)
			}
		}
	}
	twice := strings.ReplaceAll(okAnswer, "ok", "no")
	misdeeds(t, []misdeed{
		{name: "closes after each answer and says so", play: answersOnce(closing), want: "right", connects: 1, onceEach: true},
		{name: "says that it closes and does not", play: answersSilent(closing), want: "right", connects: 1, onceEach: true},
		{name: "closes after each answer without saying", play: answersOnce(okAnswer), want: "right", connects: 1, onceEach: true},
		{name: "resets after each answer", play: answersReset(okAnswer), want: "right", connects: 1, onceEach: true},
		{name: "half-closes after each answer", play: first(func(p *peer) { p.raw.CloseWrite(); p.wait() }), want: "right", connects: 1, onceEach: true},
		{name: "reads the second request, then closes", play: first(func(p *peer) { p.ask() }), want: "right", connects: 1},
		{name: "reads the second request, then resets", play: first(func(p *peer) { p.ask(); p.reset() }), want: "right", connects: 1},
		{name: "answers every third connection", play: func(p *peer) {
			_ = p.ask() && p.n%3 == 0 && p.say(okAnswer)
		}, want: "error", also: "right", got: noAnswer, connects: -1},
		{name: "closes at once", play: func(p *peer) { p.ask() }, want: "error", got: noAnswer, connects: 1, onceEach: true},
		{name: "resets at once", play: func(p *peer) { p.ask(); p.reset() }, want: "error", got: "reset by peer", connects: 1, onceEach: true},
		{name: "closes without reading", play: func(p *peer) {}, want: "error", connects: 1},
		{name: "half-closes at once", play: func(p *peer) { p.ask(); p.raw.CloseWrite(); p.wait() }, want: "error", got: noAnswer, connects: 1, onceEach: true},
		{name: "answers the first part twice", play: first(func(p *peer) { _ = p.ask() && p.say(okAnswer[:9]) }), want: "error", also: "right", got: inHead, connects: -1, onceEach: true},
		{name: "silent", play: func(p *peer) { p.ask(); p.wait() }, want: "timeout", got: "no complete answer within 150ms", connects: 1, onceEach: true},
		{name: "silent on the kept connection", play: first(func(p *peer) { p.ask(); p.wait() }), want: "timeout", also: "right", connects: -1, onceEach: true, window: 300 * time.Millisecond},
		{name: "never reads", play: func(p *peer) { time.Sleep(400 * time.Millisecond) }, want: "timeout", connects: 1},
		{name: "closes its reading side and is silent", play: func(p *peer) { p.ask(); p.raw.CloseRead(); p.wait() }, want: "error timeout", connects: -1, timeout: 150 * time.Millisecond},
		// What comes before it was asked for may be taken for an answer once.
		{name: "answers before it is asked", play: func(p *peer) { p.say(okAnswer) }, want: "right error mismatch", connects: -1},
		{name: "wrong body", play: answers(twice), want: "mismatch", got: "without it"},
		{name: "error page", play: answers(strings.Replace(okAnswer, "200 OK", "502 Bad Gateway", 1)), want: "mismatch", got: "status 502"},
		{name: "each answer twice, the second later", play: func(p *peer) {
			for p.ask() && p.say(okAnswer) {
				time.Sleep(5 * time.Millisecond) // so that it comes while the user thinks
				p.say(okAnswer)
			}
		}, step: "{request: GET /, expect: {contains: ok}, think: 20ms}", want: "mismatch error", also: "right", connects: -1, window: 200 * time.Millisecond},
	})
}

// A server that is slow at every place of an answer.
func TestMisbehaviourSlow(t *testing.T) {
	await.SkipShort(t)
	const slow = "no complete answer within 150ms"
	slowly := func(text string) func(*peer) {
		return func(p *peer) {
			for ok := p.ask(); ok; ok = ok && p.ask() {
				for i := range len(text) {
					ok = ok && p.say(text[i:i+1])
					time.Sleep(100 * time.Microsecond)
				}
			}
		}
	}
	misdeeds(t, []misdeed{
		{name: "byte by byte", play: slowly(okHead + "Set-Cookie: a=b\r\nContent-Length: 2\r\n\r\nok"), want: "right", window: time.Second},
		{name: "byte by byte until closed", play: func(p *peer) {
			if p.ask() {
				for _, s := range strings.SplitAfter(okHead+"\r\nok and a lot more", "") {
					p.say(s)
				}
			}
		}, want: "right", connects: 1},
		{name: "status line", play: drips("HTTP/1.1 200 ", "O"), want: "timeout", got: slow, connects: 1, onceEach: true},
		{name: "header", play: drips(okHead+"X: ", "y"), want: "timeout", got: slow, connects: 1},
		{name: "headers", play: drips(okHead, "X: y\r\n"), want: "timeout", got: slow, connects: 1},
		{name: "body", play: drips(okHead+"Content-Length: 100000\r\n\r\n", "ok"), want: "timeout", got: slow, connects: 1},
		{name: "body until closed", play: drips(okHead+"\r\n", "ok"), want: "timeout", got: slow, connects: 1},
		{name: "chunks", play: drips(chunkHead, "2\r\nok\r\n"), want: "timeout", got: slow, connects: 1},
		{name: "chunk", play: drips(chunkHead+"ffff\r\n", "ok"), want: "timeout", got: slow, connects: 1},
		{name: "chunk size", play: drips(chunkHead+"2;", "a"), want: "timeout", got: slow, connects: 1},
		{name: "trailers", play: drips(chunkHead+"2\r\nok\r\n0\r\n", "X: y\r\n"), want: "timeout", got: slow, connects: 1},
		{name: "the second answer", play: func(p *peer) {
			if p.ask() && p.say(okAnswer) && p.ask() {
				p.drip(okHead, "X: y\r\n", 5*time.Millisecond)
			}
		}, want: "timeout", also: "right", got: slow, connects: -1, window: 300 * time.Millisecond},
	})
}

// Bodies that are large, both ways.
func TestMisbehaviourLarge(t *testing.T) {
	await.SkipShort(t)
	post := "{request: POST /, body: \"" + strings.Repeat("${big.kb}", 10<<10) + "\", expect: {contains: ok}, think: 1ms}"
	refused := "{request: POST /, body: \"" + strings.Repeat("${big.kb}", 10<<10) + "\", expect: {status: 413}, think: 1ms}"
	sized := func(n string) string { return "{request: GET /, expect: {size: " + n + "}}" }
	megabyte := strings.Repeat("x", 1<<20)
	length := func(mb int, head string) func(*peer) {
		return func(p *peer) {
			for ok := p.ask() && p.say(okHead+head+"\r\n"); ok; ok = ok && p.ask() && p.say(okHead+head+"\r\n") {
				for i := 0; i < mb && ok; i++ {
					ok = p.say(megabyte)
				}
			}
		}
	}
	chunks := func(mb int) func(*peer) {
		return func(p *peer) {
			for ok := p.ask() && p.say(chunkHead); ok; ok = ok && p.say("0\r\n\r\n") && p.ask() && p.say(chunkHead) {
				for i := 0; i < mb && ok; i++ {
					ok = p.say("100000\r\n") && p.say(megabyte) && p.say("\r\n")
				}
			}
		}
	}
	untilClosed := func(mb int) func(*peer) {
		return func(p *peer) {
			for i, ok := 0, p.ask() && p.say(okHead+"\r\n"); i < mb && ok; i++ {
				ok = p.say(megabyte)
			}
		}
	}
	const long = "larger than 64 MiB"
	// One user: eight need as much memory as the machine may have. A window that is
	// too short for one answer is repeated four times as long (misdeed.run).
	one, few, slow := []int{1}, []int{1, 3}, 20*time.Second
	misdeeds(t, []misdeed{
		{name: "60 MB", play: length(60, "Content-Length: 62914560\r\n"), step: sized("62914560"), want: "right", users: one, window: 300 * time.Millisecond, timeout: slow},
		{name: "60 MB in chunks", play: chunks(60), step: sized("62914560"), want: "right", users: one, window: 300 * time.Millisecond, timeout: slow},
		{name: "60 MB until closed", play: untilClosed(60), step: sized("62914560"), want: "right", connects: 1, users: one, window: time.Second, timeout: slow},
		{name: "8 MB for each", play: length(8, "Content-Length: 8388608\r\n"), step: sized("8388608"), want: "right", users: []int{8}, window: 300 * time.Millisecond, timeout: slow},
		{name: "100 MB", play: length(100, "Content-Length: 104857600\r\n"), want: "error", got: long, connects: 1},
		{name: "100 MB in chunks", play: chunks(100), want: "error", got: long, connects: -1, users: one, window: 300 * time.Millisecond, timeout: slow},
		{name: "100 MB until closed", play: untilClosed(100), want: "error", got: long, connects: -1, users: one, window: 300 * time.Millisecond, timeout: slow},
		{name: "64 MB are said, two bytes come", play: answersOnce(okHead + "Content-Length: 67108864\r\n\r\nok"), want: "error", got: "after 2 of 67108864", connects: 1},
		{name: "gzip bomb", play: answers(gzipAnswer(100 << 20)), want: "mismatch", got: long, users: one, window: 300 * time.Millisecond},
		{name: "60 MB in gzip", play: answers(gzipAnswer(60 << 20)), step: sized("62914560"), want: "right", users: one, window: 300 * time.Millisecond},
		{name: "gzip cut short", play: answers(gzipCut()), want: "mismatch", got: "gzip"},
		{name: "gzip that is none", play: answers(strings.Replace(okAnswer, "\r\n", "\r\nContent-Encoding: gzip\r\n", 1)), want: "mismatch", got: "gzip"},

		// A sender that the scheduler keeps from being done when the answer is there
		// (sentGrace) costs a connection.
		{name: "10 MB to the server", play: answers(okAnswer), step: post, want: "right", connects: -1, users: one, window: 300 * time.Millisecond},
		{name: "10 MB that nobody reads", play: func(p *peer) { time.Sleep(400 * time.Millisecond) }, step: post, want: "timeout", connects: 1, users: few, window: time.Second},
		{name: "10 MB read slowly", play: func(p *peer) { readsSlowly(p) }, step: post, want: "timeout", connects: 1, users: few, window: time.Second},
		{name: "10 MB, closed in between", play: func(p *peer) { readsHead(p) }, step: post, want: "error", connects: 1, users: few, window: time.Second},
		{name: "10 MB, answered early and then read", play: func(p *peer) {
			if readsHead(p) && p.say("HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n") {
				p.raw.CloseWrite()
				p.wait()
			}
		}, step: refused, want: "right", connects: 1, users: few, window: time.Second},
		{name: "10 MB, answered early and kept", play: func(p *peer) {
			for {
				req, err := http.ReadRequest(p.in)
				if err != nil || !p.say("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n") {
					return
				}
				io.Copy(io.Discard, req.Body)
			}
		}, step: refused, want: "right", connects: -1, users: few, window: time.Second},
		{name: "10 MB, answered early and not read", play: func(p *peer) {
			if readsHead(p) && p.say("HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n") {
				time.Sleep(2500 * time.Millisecond)
			}
		}, step: refused, want: "right", connects: 1, timeout: 2 * time.Second, users: few, window: time.Second},
	})
}

// readsHead reads a request's head only.
func readsHead(p *peer) bool {
	_, err := http.ReadRequest(p.in)
	return err == nil
}

func readsSlowly(p *peer) {
	p.raw.SetReadBuffer(4 << 10)
	for b := make([]byte, 1<<10); ; {
		if _, err := p.Read(b); err != nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// gzipAnswer has n zeros as body.
func gzipAnswer(n int) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for zeros := make([]byte, 1<<20); n > 0; n -= len(zeros) {
		z.Write(zeros)
	}
	z.Close()
	return compressed(b.String())
}

func gzipCut() string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(strings.Repeat("ok ", 1000)))
	z.Close()
	return compressed(b.String()[:b.Len()-10])
}

// compressed answers with Content-Encoding: gzip.
func compressed(body string) string {
	return fmt.Sprintf("%sContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", okHead, len(body), body)
}
