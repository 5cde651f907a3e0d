package load

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// parsed is an answer in memory of its own.
type parsed struct {
	status                      int
	head, body, typ, location   string
	encoding, cookies, lookedUp string
	close                       bool
}

// parseAll reads one answer that comes in these fragments, then the end of the
// connection. What the parser was lent is overwritten between the fragments,
// as other users' answers would do.
func parseAll(fragments [][]byte, head bool) (parsed, error) {
	const fence = 64
	memory := bytes.Repeat([]byte{0xaa}, minRead+fence)
	shared := memory[:minRead:minRead]
	var w wire
	w.begin(head)
	for i, rest := range fragments {
		for len(rest) > 0 {
			n := copy(w.room(shared), rest)
			rest = rest[n:]
			done, err := w.took(n)
			if slices.ContainsFunc(memory[minRead:], func(c byte) bool { return c != 0xaa }) {
				panic("the parser wrote behind the memory it was lent")
			}
			if err != nil {
				return parsed{}, err
			}
			if done {
				if len(rest) > 0 || len(bytes.Join(fragments[i+1:], nil)) > 0 {
					return parsed{}, errSurplus // an engine sees it with its next look
				}
				return copyAnswer(&w.res), nil
			}
		}
		w.park()
		for i := range shared {
			shared[i] = 0xaa
		}
	}
	if done, err := w.closed(); !done {
		return parsed{}, err
	}
	return copyAnswer(&w.res), nil
}

func copyAnswer(r *response) parsed {
	return parsed{r.status, string(r.head), string(r.body), string(r.contentType), string(r.location), string(r.encoding),
		string(bytes.Join(r.cookies, []byte("\n"))), string(r.lookup("x-a")), r.close}
}

// split cuts in at random places.
func split(in []byte, seed uint64) [][]byte {
	rng := rand.New(rand.NewPCG(seed, 0))
	most := 1 + rng.IntN(1<<(rng.IntN(14)))
	var out [][]byte
	for len(in) > 0 {
		n := min(1+rng.IntN(most), len(in))
		out = append(out, in[:n])
		in = in[n:]
	}
	return out
}

// readByNetHTTP is what net/http makes of the same bytes.
func readByNetHTTP(in []byte, head bool) (status int, typ, body string, err error) {
	req := &http.Request{Method: "GET"}
	if head {
		req.Method = "HEAD"
	}
	r := bufio.NewReader(bytes.NewReader(in))
	for {
		res, err := http.ReadResponse(r, req)
		if err != nil {
			return 0, "", "", err
		}
		if res.StatusCode < 200 {
			continue
		}
		b, err := io.ReadAll(res.Body)
		if types := res.Header.Values("Content-Type"); len(types) > 0 {
			typ = types[len(types)-1]
		}
		return res.StatusCode, typ, string(b), err
	}
}

// stricter is what net/http refuses and the engine lets pass. The texts are
// from net/http's errors.
var stricter = []string{
	"malformed MIME header",        // control characters in a value, other than NUL, CR and LF
	"bad trailer key",              // a Trailer that announces Content-Length: trailers are ignored
	"header line too long",         // a chunk extension above 4 KiB: the bound is 64 KiB
	"too much non-data",            // extensions longer than the data
	"invalid byte in chunk length", // a tab between size and extension (RFC 9112, 7.1.1, has it)
}

// The parser never panics and never leaves the memory it was lent; how the
// bytes are cut makes no difference; and where net/http and the parser both
// accept an answer, they agree on it.
func FuzzResponse(f *testing.F) {
	const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	for i, in := range []string{
		"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\nX-A: b\r\n\r\nhello",
		chunked + "5;a=\"b\"\r\nhello\r\n0A\r\n0123456789\r\n0\r\nX: y\r\n\r\n",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 302 Found\r\nLocation: /x\r\nSet-Cookie: a=b; Path=/\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx",
		"HTTP/1.1 200\r\nConnection: close\r\n\r\nuntil the end",
		"HTTP/1.1 204 No Content\r\n\r\n",
		"HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\nETag: \"x\"\r\n\r\n",
		"HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
		"HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
		"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 18446744073709551618\r\n\r\nok",
		"HTTP/1.A 200\r\n\r\n", "HTTP/1.1 200 OK\r\nX: \x01\x00\r\n\r\n", chunked + "1\t;a\r\nx\r\n0\r\n\r\n",
		chunked + "ffffffffffffffff\r\n", chunked + "0\r\nContent-Length: 3\r\n\r\n",
	} {
		f.Add([]byte(in), i%5 == 4, uint64(i))
	}
	f.Fuzz(func(t *testing.T, in []byte, head bool, seed uint64) {
		got, err := parseAll([][]byte{in}, head)
		cut, cutErr := parseAll(split(in, seed), head)
		if got != cut || !sameError(err, cutErr) {
			t.Fatalf("at once: %+v, %v\nin pieces: %+v, %v", got, err, cut, cutErr)
		}
		if err != nil {
			return
		}
		if got.status < 200 || got.status > 999 || len(got.body) > len(in) {
			t.Errorf("%+v", got)
		}
		status, typ, body, err := readByNetHTTP(in, head)
		if err != nil {
			if !slices.ContainsFunc(stricter, func(s string) bool { return strings.Contains(err.Error(), s) }) {
				t.Errorf("net/http refuses what gave %+v: %v", got, err)
			}
			return
		}
		if strings.HasPrefix(string(in), "HTTP/1.0") && strings.Contains(strings.ToLower(got.head), "transfer-encoding") {
			return // net/http takes the coding for the body; RFC 9112, 6.1, calls such framing faulty
		}
		if status != got.status || typ != strings.Trim(got.typ, " \t") || body != got.body {
			t.Errorf("net/http: %d %q %q\nengine: %+v", status, typ, body, got)
		}
	})
}

// sameError: of several things that are wrong, which is found first depends on
// what has come; whether something is wrong does not.
func sameError(a, b error) bool {
	if a == nil || b == nil {
		return a == b
	}
	return asBroken(a) && asBroken(b) || errors.Is(a, b)
}
