package web

import (
	"io"
	"net"
	"strings"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/remedy"
)

// TestNginxBuffers: long answers of the application go through temporary files,
// and no longer when the buffers hold them: not even where a client takes nothing before
// all of it is there.
func TestNginxBuffers(t *testing.T) {
	x := startSite(t, setup{listen: "sndbuf=64k", steps: "      - {name: long, request: GET /long, expect: {contains: [0123456789abcde]}}\n"})
	if n := x.spilled(t); n == 0 {
		t.Error("an answer that nobody takes went through no file before")
	}
	x.bed.Show(t, func(t *testing.T, _ remedy.Plan) {
		if n := x.spilled(t); n > 0 {
			t.Error("the buffers do not hold an answer that nobody takes")
		}
	}, "nginx.buffers")
}

// spilled asks for a long answer, takes none of it until nginx has got the whole, and tells
// how often nginx then says that it used a file.
func (x site) spilled(t *testing.T) int {
	t.Helper()
	said := func(what string) int { return strings.Count(x.file(t, "nginx-error.log"), what) }
	const file, whole = "is buffered to a temporary file", "all was sent"
	files, wholes := said(file), said(whole)
	c, err := net.Dial("tcp", x.address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, "GET /told HTTP/1.0\r\nHost: a\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	await.For(t, "nginx to have the whole answer", func() bool { return said(whole) > wholes })
	if b, err := io.ReadAll(c); err != nil || len(b) < 24576*16 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	return said(file) - files
}

// TestNginxBodies: forms that go through a file before the application gets them.
func TestNginxBodies(t *testing.T) {
	x := startSite(t, setup{listen: "sndbuf=64k", steps: "      - {name: form, request: POST /long, body: " + strings.Repeat("0123456789abcdef", 6<<10) + ", headers: {Content-Type: text/plain}, expect: {contains: [0123456789abcde]}}\n"})
	x.bed.Show(t, nil, "nginx.body-buffers")
}
