package load

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
)

// Lengths that are wrong: too long, too short, no numbers, contradictions.
func TestMisbehaviourLengths(t *testing.T) {
	await.SkipShort(t)
	length := func(text string) string { return okHead + text + "\r\n\r\nok" }
	const wrong, surplus = "Content-Length is wrong", "more bytes came"
	misdeeds(t, []misdeed{
		{name: "too long, then closed", play: answersOnce(length("Content-Length: 20")), want: "error", got: "after 2 of 20 bytes", connects: 1, onceEach: true},
		{name: "too long, then reset", play: answersReset(length("Content-Length: 20")), want: "error", connects: 1, onceEach: true},
		{name: "too long, then silent", play: answersSilent(length("Content-Length: 3")), want: "timeout", got: "no complete answer", connects: 1, onceEach: true},
		{name: "too short", play: answers(length("Content-Length: 1")), want: "error", got: surplus, connects: 1},
		{name: "zero with a body", play: answers(length("Content-Length: 0")), want: "error", got: surplus, connects: 1},
		{name: "none, then closed", play: answersOnce(length("X: y")), want: "right", connects: 1},
		{name: "none, then silent", play: answersSilent(length("X: y")), want: "timeout", connects: 1},
		{name: "none, then reset", play: func(p *peer) {
			if p.ask() && p.say(length("X: y")) {
				time.Sleep(5 * time.Millisecond) // the bytes shall be read before the reset comes
				p.reset()
			}
		}, want: "error", got: "reset by peer", connects: 1},
		{name: "negative", play: answers(length("Content-Length: -2")), want: "error", got: wrong, connects: 1},
		{name: "with a sign", play: answers(length("Content-Length: +2")), want: "error", got: wrong, connects: 1},
		{name: "hexadecimal", play: answers(length("Content-Length: 0x2")), want: "error", got: wrong, connects: 1},
		{name: "a fraction", play: answers(length("Content-Length: 2.0")), want: "error", got: wrong, connects: 1},
		{name: "empty", play: answers(length("Content-Length:")), want: "error", got: wrong, connects: 1},
		{name: "two in one", play: answers(length("Content-Length: 2 3")), want: "error", got: wrong, connects: 1},
		{name: "a list", play: answers(length("Content-Length: 2, 3")), want: "error", got: wrong, connects: 1},
		{name: "digits of another script", play: answers(length("Content-Length: ٢")), want: "error", got: wrong, connects: 1},
		{name: "two that differ", play: answers(length("Content-Length: 2\r\ncontent-length: 3")), want: "error", got: wrong, connects: 1},
		{name: "two that agree", play: answers(length("Content-Length: 2\r\ncontent-length: 2")), want: "right"},
		{name: "spaces around", play: answers(length("Content-Length: \t 2 \t")), want: "right"},
		{name: "20 digits", play: answers(length("Content-Length: 99999999999999999999")), want: "error", got: wrong, connects: 1},
		{name: "above 63 bits", play: answers(length("Content-Length: 9223372036854775808")), want: "error", got: wrong, connects: 1},
		{name: "above 64 bits by two", play: answers(length("Content-Length: 18446744073709551618")), want: "error", got: wrong, connects: 1},
		{name: "above the bound", play: answersSilent(length("Content-Length: 99999999999")), want: "error", got: "larger than 64 MiB", connects: 1},
		{name: "with chunked", play: answers(okHead + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"), want: "error", got: wrong, connects: 1},
		{name: "chunked with it", play: answers(okHead + "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\nok"), want: "error", got: wrong, connects: 1},
		{name: "HTTP/1.0 kept", play: answers(strings.Replace(length("Content-Length: 2\r\nConnection: keep-alive"), "1.1", "1.0", 1)), want: "right"},
		{name: "HTTP/1.0", play: answersOnce(strings.Replace(length("Content-Length: 2"), "1.1", "1.0", 1)), want: "right", connects: 1},
		{name: "HTTP/1.0 until closed", play: answersOnce(strings.Replace(length("X: y"), "1.1", "1.0", 1)), want: "right", connects: 1},
		{name: "HTTP/1.0 not closed by the server", play: answersSilent(strings.Replace(length("Content-Length: 2"), "1.1", "1.0", 1)), want: "right", connects: 1},
	})
}

// The chunked coding: every valid form must be right, every other an error.
func TestMisbehaviourChunks(t *testing.T) {
	await.SkipShort(t)
	const end = "0\r\n\r\n"
	chunked := func(text string) func(*peer) { return answers(chunkHead + text) }
	coding := func(text string) func(*peer) {
		return answers(okHead + "Transfer-Encoding: " + text + "\r\n\r\n2\r\nok\r\n" + end)
	}
	bytewise := func(text string) func(*peer) {
		return func(p *peer) {
			for ok := p.ask(); ok; ok = ok && p.ask() {
				for i := range len(text) {
					ok = ok && p.say(text[i:i+1])
				}
			}
		}
	}
	const cut, wrong, coded = "within a chunked body", "a chunk's size or end is wrong", "Transfer-Encoding is not chunked alone"
	rows := []misdeed{
		{name: "one chunk", play: chunked("2\r\nok\r\n" + end), want: "right"},
		{name: "two chunks", play: chunked("1\r\no\r\n1\r\nk\r\n" + end), want: "right"},
		{name: "byte by byte", play: bytewise(chunkHead + "1;a=b\r\no\r\n01\r\nk\r\n0\r\nX: y\r\n\r\n"), want: "right"},
		{name: "extensions", play: chunked("2;a=b;c=\"d;e\";f\r\nok\r\n0;last\r\n\r\n"), want: "right"},
		{name: "extensions with spaces", play: chunked("2 ; a = b\r\nok\r\n" + end), want: "right"},
		{name: "trailers", play: chunked("2\r\nok\r\n0\r\nX: y\r\nServer-Timing: db;dur=1\r\n\r\n"), want: "right"},
		{name: "a trailer with a length", play: chunked("2\r\nok\r\n0\r\nContent-Length: 99\r\nTransfer-Encoding: gzip\r\n\r\n"), want: "right"},
		{name: "zeros in front", play: chunked("000002\r\nok\r\n000\r\n\r\n"), want: "right"},
		{name: "hexadecimal in both cases", play: chunked("a\r\nok23456789\r\nB\r\n0123456789a\r\n" + end), want: "right"},
		{name: "Chunked in other cases", play: coding("cHUNKED"), want: "right"},
		{name: "10,000 chunks", play: chunked(strings.Repeat("2\r\nok\r\n", 10_000) + end), want: "right"},
		{name: "and Connection: close", play: answersOnce(strings.Replace(chunkHead, "\r\n", "\r\nConnection: close\r\n", 1) + "2\r\nok\r\n" + end), want: "right", connects: 1},

		{name: "size is no number", play: chunked("xyz\r\nok\r\n" + end), want: "error", got: wrong, connects: 1},
		{name: "size with 0x", play: chunked("0x2\r\nok\r\n" + end), want: "error", got: wrong, connects: 1},
		{name: "a space before the size", play: chunked(" 2\r\nok\r\n" + end), want: "error", got: wrong, connects: 1},
		{name: "negative size", play: chunked("-2\r\nok\r\n" + end), want: "error", got: wrong, connects: 1},
		{name: "no size", play: chunked("\r\nok\r\n" + end), want: "error", got: wrong, connects: 1},
		{name: "only an extension", play: chunked(";a=b\r\nok\r\n" + end), want: "error", got: wrong, connects: 1},
		{name: "size of 32 bits", play: chunked("ffffffff\r\nok"), want: "error", got: "larger than 64 MiB", connects: 1},
		{name: "size of 64 bits", play: chunked("ffffffffffffffff\r\nok"), want: "error", connects: 1},
		{name: "size above 64 bits by two", play: chunked("10000000000000002\r\nok\r\n" + end), want: "error", connects: 1},
		{name: "longer than its size", play: chunked("1\r\nok\r\n" + end), want: "error", got: wrong, connects: 1},
		{name: "shorter than its size", play: chunked("3\r\nok\r\n" + end), want: "error", got: wrong, connects: 1},
		{name: "no line end behind the data", play: chunked("2\r\nok" + end), want: "error", got: wrong, connects: 1},
		{name: "line feeds alone", play: chunked("2\nok\n0\n\n"), want: "error", got: "CR LF", connects: 1},
		{name: "a carriage return in an extension", play: chunked("2;a\rb\r\nok\r\n" + end), want: "error", got: "CR LF", connects: 1},
		{name: "wrong trailer", play: chunked("2\r\nok\r\n0\r\nX y\r\n\r\n"), want: "error", got: "no valid name", connects: 1},
		{name: "body without chunks", play: chunked("ok\r\n\r\n"), want: "error", got: wrong, connects: 1},
		{name: "endless extension", play: floods(chunkHead+"2;", "a"), want: "error", got: "longer than 64 KiB", connects: 1},
		{name: "endless size", play: floods(chunkHead, "0"), want: "error", connects: 1},
		{name: "endless trailers", play: floods(chunkHead+"2\r\nok\r\n0\r\n", "X: y\r\n"), want: "error", got: "longer than 64 KiB", connects: 1},
		{name: "endless trailer", play: floods(chunkHead+"2\r\nok\r\n0\r\nX: ", "y"), want: "error", got: "longer than 64 KiB", connects: 1},

		{name: "gzip, chunked", play: coding("gzip, chunked"), want: "error", got: coded, connects: 1},
		{name: "chunked, chunked", play: coding("chunked, chunked"), want: "error", got: coded, connects: 1},
		{name: "chunked twice", play: coding("chunked\r\nTransfer-Encoding: chunked"), want: "error", got: coded, connects: 1},
		{name: "identity", play: coding("identity"), want: "error", got: coded, connects: 1},
		{name: "no coding", play: coding(""), want: "error", got: coded, connects: 1},
		{name: "chunked in quotes", play: coding("\"chunked\""), want: "error", got: coded, connects: 1},
		{name: "chunked with a vertical tab", play: coding("\x0bchunked"), want: "error", connects: 1},
	}
	// Cut anywhere, the same body is an error.
	whole := chunkHead + "1;a=b\r\no\r\n1\r\nk\r\n0\r\nX: y\r\n\r\n"
	for i := len(chunkHead) + 1; i < len(whole); i += 2 {
		rows = append(rows, misdeed{name: fmt.Sprintf("cut after %q", whole[len(chunkHead):i]), play: answersOnce(whole[:i]), want: "error", got: cut, connects: 1, onceEach: true, users: []int{2}})
	}
	misdeeds(t, rows)
}
