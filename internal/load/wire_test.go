package load

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

func TestWire(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	tests := []struct {
		name, in string
		head     bool
		status   int
		body     string
		close    bool
		err      error
	}{
		{name: "length", in: ok + "Content-Length: 5\r\n\r\nhello", status: 200, body: "hello"},
		{name: "no reason phrase", in: "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", status: 200},
		{name: "same length twice", in: ok + "Content-Length: 1\r\ncontent-length: 1\r\n\r\nx", status: 200, body: "x"},
		{name: "chunked", in: ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;ext=1\r\n world\r\n0\r\n\r\n", status: 200, body: "hello world"},
		{name: "chunked with trailers", in: ok + "Transfer-Encoding: Chunked\r\n\r\nA\r\n0123456789\r\n0\r\nX-Sum: 1\r\nY: 2\r\n\r\n", status: 200, body: "0123456789"},
		{name: "interim answers", in: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + ok + "Content-Length: 1\r\n\r\nx", status: 200, body: "x"},
		{name: "204 without length", in: "HTTP/1.1 204 No Content\r\n\r\n", status: 204},
		{name: "304 with a length of the file", in: "HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n", status: 304},
		{name: "HEAD with a length", in: ok + "Content-Length: 99\r\n\r\n", head: true, status: 200},
		{name: "until close", in: ok + "\r\nall of it", status: 200, body: "all of it", close: true},
		{name: "connection close", in: ok + "Connection: Keep-Alive, Close\r\nContent-Length: 1\r\n\r\nx", status: 200, body: "x", close: true},
		{name: "HTTP/1.0", in: "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", status: 200, body: "x", close: true},
		{name: "HTTP/1.0 kept", in: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx", status: 200, body: "x"},

		{name: "nothing", in: "", err: io.EOF},
		{name: "cut in the headers", in: "HTTP/1.1 200 OK\r\nContent-Le", err: errCutHead},
		{name: "cut in a chunk", in: ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhel", err: errCutChunk},
		{name: "cut before the last chunk", in: ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", err: errCutChunk},
		{name: "garbage", in: "\x00\x01\x02", err: errStatus},
		{name: "another protocol", in: "SSH-2.0-OpenSSH_9.2\r\n", err: errStatus},
		{name: "HTTP/2", in: "HTTP/2 200\r\n\r\n", err: errStatus},
		{name: "status of two digits", in: "HTTP/1.1 20 OK\r\n\r\n", err: errStatus},
		{name: "status 099", in: "HTTP/1.1 099 OK\r\n\r\n", err: errStatus},
		{name: "bare LF", in: "HTTP/1.1 200 OK\nA: b\n\r\n\r\n", err: errLineEnd},
		{name: "folded header", in: ok + "A: b\r\n c\r\nContent-Length: 0\r\n\r\n", err: errHeader},
		{name: "space before colon", in: ok + "Content-Length : 0\r\n\r\n", err: errHeader},
		{name: "no colon", in: ok + "nonsense\r\n\r\n", err: errHeader},
		{name: "two lengths", in: ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx", err: errLengths},
		{name: "negative length", in: ok + "Content-Length: -1\r\n\r\n", err: errLengths},
		{name: "huge length", in: ok + "Content-Length: 99999999999999999999\r\n\r\n", err: errLengths},
		{name: "length above the bound", in: ok + "Content-Length: 99999999999\r\n\r\n", err: errLongBody},
		{name: "length and chunked", in: ok + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", err: errLengths},
		{name: "gzip transfer", in: ok + "Transfer-Encoding: gzip, chunked\r\n\r\n", err: errEncoding},
		{name: "chunk size", in: ok + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", err: errChunk},
		{name: "chunk longer than said", in: ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n", err: errChunk},
		{name: "huge chunk", in: ok + "Transfer-Encoding: chunked\r\n\r\nFFFFFFFF\r\n", err: errLongBody},
		{name: "body longer than said", in: ok + "Content-Length: 1\r\n\r\nxyz", err: errSurplus},
		{name: "body of HEAD", in: ok + "Content-Length: 1\r\n\r\nx", head: true, err: errSurplus},
		{name: "upgrade", in: "HTTP/1.1 101 Switching Protocols\r\n\r\n", err: errUpgrade},
		{name: "endless interim", in: strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", 20), err: errInterim},
		{name: "endless header", in: ok + "A: " + strings.Repeat("x", maxHead), err: errLongHead},
		{name: "endless headers", in: ok + strings.Repeat("A: b\r\n", maxHead), err: errLongHead},
		{name: "endless trailers", in: ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n" + strings.Repeat("A: b\r\n", maxHead), err: errLongHead},
	}
	for _, tt := range tests {
		readers := map[string]io.Reader{"at once": strings.NewReader(tt.in)}
		if len(tt.in) < 1000 {
			readers["byte by byte"] = iotest.OneByteReader(strings.NewReader(tt.in))
			readers["with the end"] = iotest.DataErrReader(strings.NewReader(tt.in))
		}
		for how, r := range readers {
			t.Run(tt.name+" "+how, func(t *testing.T) {
				var w wire
				w.begin(tt.head)
				err := w.readFrom(r, make([]byte, minRead))
				if tt.err == errSurplus && how == "byte by byte" {
					return // what comes later is seen with the next answer
				}
				if !errors.Is(err, tt.err) {
					t.Fatalf("error %v, want %v", err, tt.err)
				}
				if err == nil && (w.res.status != tt.status || string(w.res.body) != tt.body || w.res.close != tt.close) {
					t.Errorf("%d %q close=%v", w.res.status, w.res.body, w.res.close)
				}
			})
		}
	}
}

func TestWireTruncated(t *testing.T) {
	var w wire
	w.begin(false)
	if err := w.readFrom(strings.NewReader("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), make([]byte, minRead)); err == nil || err.Error() != "the connection ended after 3 of 10 bytes of the body" {
		t.Errorf("got %v", err)
	}
}

// What net/http reads, the wire reads the same, however the bytes arrive.
func TestWireAgreesWithNetHTTP(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.SliceOfN(rapid.Byte(), 0, 20_000).Draw(t, "body")
		var raw bytes.Buffer
		res := &http.Response{StatusCode: rapid.SampledFrom([]int{200, 302, 404, 500}).Draw(t, "status"), ProtoMajor: 1, ProtoMinor: 1,
			Header: http.Header{"X-A": {rapid.StringMatching(`[ -~]{0,20}`).Draw(t, "value")}, "Location": {"/x"}}, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body))}
		if rapid.Bool().Draw(t, "chunked") {
			res.ContentLength, res.TransferEncoding = -1, []string{"chunked"}
		}
		if err := res.Write(&raw); err != nil {
			t.Fatal(err)
		}
		want, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(raw.Bytes())), nil)
		if err != nil {
			t.Fatal(err)
		}
		var w wire
		w.begin(false)
		if err := w.readFrom(&pieces{data: raw.Bytes(), size: rapid.IntRange(1, 5000).Draw(t, "piece")}, make([]byte, minRead)); err != nil {
			t.Fatal(err)
		}
		if w.res.status != want.StatusCode || !bytes.Equal(w.res.body, body) || string(w.res.location) != "/x" ||
			string(w.res.lookup("x-a")) != want.Header.Get("X-A") {
			t.Fatalf("%+v\nwant %+v", w.res, want)
		}
	})
}

// pieces gives data size bytes at a time.
type pieces struct {
	data []byte
	size int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.data) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), p.size)], p.data)
	p.data = p.data[n:]
	return n, nil
}

func FuzzWire(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nSet-Cookie: a=b; path=/\r\n\r\n3\r\nabc\r\n0\r\nT: 1\r\n\r\n"), false, 3)
	f.Add([]byte("HTTP/1.0 100 x\r\n\r\nHTTP/1.1 302 x\r\nLocation: /\r\nContent-Length: 0\r\n\r\n"), true, 1000)
	f.Fuzz(func(t *testing.T, in []byte, head bool, size int) {
		var w wire
		w.begin(head)
		if err := w.readFrom(&pieces{data: in, size: max(1, size&0xfff)}, make([]byte, minRead)); err != nil {
			return
		}
		if w.res.status < 200 || w.res.status > 999 || len(w.res.body) > len(in) {
			t.Errorf("%+v", w.res)
		}
		w.res.lookup("a")
		var j jar
		for _, c := range w.res.cookies {
			j.set(c, []byte("/a/b?c"), fixedTime)
		}
		j.append(nil, []byte("/a/b"))
	})
}
