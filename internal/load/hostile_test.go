package load

import (
	"crypto/sha256"
	"encoding/hex"
	"net"
	"strings"
	"testing"
	"time"
)

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// Nobody listens: errors, not a spin and not a hang.
func TestRunRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String()
	l.Close()
	everyLoad(t, func(t *testing.T, e Engine, users int) {
		res := mustRun(t, Options{Scenario: mustParse(t, steps("- request: GET /")), URL: url, Workload: users, Engine: e, Window: 300 * time.Millisecond})
		if res.Errors == 0 || res.Errors > 5*int64(users) || res.Requests != 0 || res.Connects != 0 || !strings.Contains(res.Samples[0].Got, "refused") {
			t.Errorf("%+v", res)
		}
		if res.Latency.P50 != 0 || res.Score >= 0 {
			t.Errorf("a refused connection has latency %s and score %v", res.Latency.P50, res.Score)
		}
	})
}

// A request that was answered in part is not sent a second time.
func TestRunRetriesOnlyUnanswered(t *testing.T) {
	for _, e := range engines(false) {
		s := startPeers(t, "http", func(p *peer) {
			if p.ask() && p.say("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") && p.ask() {
				p.say("HTTP/1.1 ")
			}
		})
		res := mustRun(t, Options{Scenario: mustParse(t, steps("- {request: POST /, think: 5ms}")), URL: s.url, Workload: 1, Engine: e, Window: 300 * time.Millisecond})
		// Sent again, it would be right on the new connection.
		if res.Errors == 0 || res.Errors < res.Succeeded-1 || res.Errors > res.Succeeded+1 {
			t.Errorf("%s: %d right, %d errors, want as many", e, res.Succeeded, res.Errors)
		}
	}
}
