package load

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// serveRaw answers every request on a connection by calling answer with the
// number of the request on it, until it returns false.
func serveRaw(t *testing.T, answer func(c *net.TCPConn, n int) bool) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				in := bufio.NewReader(c)
				for n := 0; ; n++ {
					req, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					req.Body.Close()
					if !answer(c.(*net.TCPConn), n) {
						return
					}
				}
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

// Every misbehaviour is counted as what it is, and none hangs the run.
func TestRunMisbehavingServers(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	send := func(text string, keep bool) func(*net.TCPConn, int) bool {
		return func(c *net.TCPConn, _ int) bool { c.Write([]byte(text)); return keep }
	}
	tests := []struct {
		name   string
		answer func(c *net.TCPConn, n int) bool
		want   string // right, mismatch, error or timeout: all requests are that
		got    string // in the sample
	}{
		{"right", send(ok, true), "right", ""},
		{"closes after each answer without saying", send(ok, false), "right", ""},
		{"closes after each answer and says so", send(strings.Replace(ok, "\r\n", "\r\nConnection: close\r\n", 1), false), "right", ""},
		{"half-closes after each answer", func(c *net.TCPConn, _ int) bool { c.Write([]byte(ok)); c.CloseWrite(); return true }, "right", ""},
		{"resets the kept connection", func(c *net.TCPConn, n int) bool {
			if n == 0 {
				c.Write([]byte(ok))
				return true
			}
			c.SetLinger(0)
			return false
		}, "right", ""},
		{"chunked with trailers", send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n1\r\no\r\n1\r\nk\r\n0\r\nX: y\r\n\r\n", true), "right", ""},
		{"interim answer first", send("HTTP/1.1 103 Early Hints\r\n\r\n"+ok, true), "right", ""},
		{"body until close", send("HTTP/1.1 200 OK\r\n\r\nok", false), "right", ""},
		{"wrong body", send(strings.Replace(ok, "ok", "no", 1), true), "mismatch", "without it"},
		{"error page", send(strings.Replace(ok, "200 OK", "502 Bad Gateway", 1), true), "mismatch", "status 502"},
		{"truncated body", send("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nok", false), "error", "after 2 of 20 bytes"},
		{"longer than its length", send(ok+"ok", true), "error", "more bytes"},
		{"garbage", send("\x16\x03\x01 hello\r\n\r\n", true), "error", "status line"},
		{"cut in the headers", send("HTTP/1.1 200 OK\r\nContent-", false), "error", "ended in the headers"},
		{"cut in a chunk", send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nok", false), "error", "within a chunked body"},
		{"closes without an answer", func(*net.TCPConn, int) bool { return false }, "error", "closed before the answer"},
		{"resets without an answer", func(c *net.TCPConn, _ int) bool { c.SetLinger(0); return false }, "error", "reset by peer"},
		{"endless headers", func(c *net.TCPConn, _ int) bool {
			c.Write([]byte("HTTP/1.1 200 OK\r\n"))
			line := []byte(strings.Repeat("A: b\r\n", 1000))
			for {
				if _, err := c.Write(line); err != nil {
					return false
				}
			}
		}, "error", "longer than 64 KiB"},
		{"silent", func(*net.TCPConn, int) bool { return true }, "timeout", "no complete answer within 150ms"},
		{"half-closed and silent", func(c *net.TCPConn, _ int) bool { c.CloseRead(); return true }, "error", ""},
		{"one byte at a time", func(c *net.TCPConn, _ int) bool {
			for _, b := range []byte("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("y", 1000)) {
				if _, err := c.Write([]byte{b}); err != nil {
					return false
				}
				time.Sleep(5 * time.Millisecond) // the server's slowness, not a wait for something
			}
			return false
		}, "timeout", "no complete answer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			src := strings.Replace(steps("- {request: GET /, expect: {contains: ok}, think: 1ms}"), "timeout: 1s", "timeout: 150ms", 1)
			begin := time.Now()
			res, err := Run(t.Context(), Options{Scenario: mustParse(t, src), URL: serveRaw(t, tt.answer), Workload: 2})
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begin); took > 5*time.Second {
				t.Errorf("took %s", took)
			}
			counts := map[string]int64{"right": res.Succeeded, "mismatch": res.Mismatches, "error": res.Errors, "timeout": res.Timeouts}
			for kind, n := range counts {
				if (n > 0) != (kind == tt.want) {
					t.Errorf("counts %v, want only %s; %+v", counts, tt.want, res.Samples)
					break
				}
			}
			if tt.want == "right" {
				return
			}
			if len(res.Samples) == 0 || res.Samples[0].Kind != tt.want || !strings.Contains(res.Samples[0].Got, tt.got) {
				t.Errorf("samples %+v, want %s %q", res.Samples, tt.want, tt.got)
			}
		})
	}
}

// Nobody listens: errors, not a spin and not a hang.
func TestRunRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String()
	l.Close()
	res, err := Run(t.Context(), Options{Scenario: mustParse(t, steps("- request: GET /")), URL: url, Workload: 2})
	if err != nil {
		t.Fatal(err)
	}
	if res.Errors == 0 || res.Errors > 10 || res.Requests != 0 || !strings.Contains(res.Samples[0].Got, "refused") {
		t.Errorf("%+v", res)
	}
	if res.Latency.P50 != 0 || res.Score >= 0 {
		t.Errorf("a refused connection has latency %s and score %v", res.Latency.P50, res.Score)
	}
}

// A request that was answered in part is not sent a second time.
func TestRunRetriesOnlyUnanswered(t *testing.T) {
	url := serveRaw(t, func(c *net.TCPConn, n int) bool {
		if n == 0 {
			c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
			return true
		}
		c.Write([]byte("HTTP/1.1 "))
		return false
	})
	res, err := Run(t.Context(), Options{Scenario: mustParse(t, steps("- {request: POST /, think: 5ms}")), URL: url, Workload: 1})
	if err != nil {
		t.Fatal(err)
	}
	// Sent again, it would be right on the new connection.
	if res.Errors == 0 || res.Errors < res.Succeeded-1 || res.Errors > res.Succeeded+1 {
		t.Errorf("%d right, %d errors, want as many", res.Succeeded, res.Errors)
	}
}
