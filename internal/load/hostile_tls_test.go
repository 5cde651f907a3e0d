package load

import (
	"crypto/tls"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
)

// TLS that is wrong. On this machine itself certificates are not verified
// (docs/reference/scenario.md), so a wrong one is no failure there.
func TestMisbehaviourTLS(t *testing.T) {
	await.SkipShort(t)
	next := time.Now().Add(24 * time.Hour)
	good := &tls.Config{Certificates: []tls.Certificate{certificate(t, next, "127.0.0.1")}}
	with := func(change func(*tls.Config)) *tls.Config {
		c := good.Clone()
		change(c)
		return c
	}
	secured := func(c *tls.Config, play func(*peer)) func(*peer) {
		return func(p *peer) {
			if p.secure(c) {
				play(p)
				p.Conn.Close() // with close_notify
			}
		}
	}
	// abrupt closes without close_notify.
	abrupt := func(play func(*peer)) func(*peer) {
		return func(p *peer) {
			if p.secure(good) {
				play(p)
			}
		}
	}
	long := okHead + "Content-Length: 20\r\n\r\nok"
	rows := []misdeed{
		{name: "right", play: secured(good, answers(okAnswer)), want: "right"},
		{name: "certificate for another address", play: secured(with(func(c *tls.Config) {
			c.Certificates = []tls.Certificate{certificate(t, next, "192.0.2.1", "example.com")}
		}), answers(okAnswer)), want: "right"},
		{name: "expired certificate", play: secured(with(func(c *tls.Config) {
			c.Certificates = []tls.Certificate{certificate(t, time.Now().Add(-time.Hour), "127.0.0.1")}
		}), answers(okAnswer)), want: "right"},
		{name: "says HTTP/1.1", play: secured(with(func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} }), answers(okAnswer)), want: "right"},
		{name: "closes after each answer", play: secured(good, answersOnce(okAnswer)), want: "right", connects: 1, onceEach: true},
		{name: "closes after each answer without close_notify", play: abrupt(answersOnce(okAnswer)), want: "right", connects: 1, onceEach: true},
		{name: "body until closed", play: secured(good, answersOnce(okHead+"\r\nok")), want: "right", connects: 1},
		{name: "TLS 1.2", play: secured(with(func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }), answers(okAnswer)), want: "right"},

		// Some well-known sites end without close_notify, so Go takes it for an end
		// (crypto/tls, Conn.Read); a body with a length is still known to be cut.
		{name: "body until closed without close_notify", play: abrupt(answersOnce(okHead + "\r\nok")), want: "right", connects: 1},
		{name: "closed within the body", play: secured(good, answersOnce(long)), want: "error", got: "after 2 of 20 bytes", connects: 1},
		{name: "closed within the body without close_notify", play: abrupt(answersOnce(long)), want: "error", got: "after 2 of 20 bytes", connects: 1, onceEach: true},
		{name: "reset within the body", play: abrupt(answersReset(long)), want: "error", connects: 1, onceEach: true},
		{name: "closes at once", play: secured(good, func(p *peer) { p.ask() }), want: "error", got: "closed before the answer", connects: 1, onceEach: true},
		{name: "closes at once without close_notify", play: abrupt(func(p *peer) { p.ask() }), want: "error", connects: 1, onceEach: true},
		{name: "silent after the handshake", play: secured(good, func(p *peer) { p.ask(); p.wait() }), want: "timeout", connects: 1, onceEach: true, timeout: 400 * time.Millisecond},
		{name: "garbage between records", play: abrupt(func(p *peer) {
			p.ask()
			p.say(okHead)
			p.raw.Write([]byte("what is this? no record at all"))
			p.wait()
		}), want: "error", got: "tls", connects: 1, onceEach: true},
		{name: "garbage in a record", play: abrupt(func(p *peer) {
			p.ask()
			p.raw.Write([]byte("\x17\x03\x03\x00\x20" + strings.Repeat("x", 32)))
			p.wait()
		}), want: "error", got: "bad record MAC", connects: 1, onceEach: true},

		{name: "plain HTTP", play: func(p *peer) { p.Read(make([]byte, 9)); p.say("HTTP/1.1 400 Bad Request\r\n\r\n"); p.wait() }, want: "error", got: "does not look like a TLS handshake", connects: -1},
		{name: "handshake of garbage", play: func(p *peer) { p.say("\x16\x03\x03\x00\x05hello"); p.wait() }, want: "error", got: "tls", connects: -1},
		{name: "handshake of zeros", play: func(p *peer) { p.say(strings.Repeat("\x00", 1000)); p.wait() }, want: "error", got: "tls", connects: -1},
		{name: "alert", play: func(p *peer) { p.say("\x15\x03\x03\x00\x02\x02\x28"); p.wait() }, want: "error", got: "handshake failure", connects: -1},
		{name: "closed within the handshake", play: func(p *peer) { p.say("\x16\x03\x03\x00\x40\x02"); p.raw.CloseWrite(); p.wait() }, want: "error", connects: -1},
		{name: "reset within the handshake", play: func(p *peer) { p.Read(make([]byte, 100)); p.reset() }, want: "error", got: "reset by peer", connects: -1},
		{name: "silent in the handshake", play: func(p *peer) { p.wait() }, want: "timeout", connects: -1},
		{name: "handshake record after record", play: func(p *peer) { p.drip("", "\x16\x03\x03\x00\x04\x00\x00\x00\x00", 5*time.Millisecond) }, want: "error timeout", connects: -1, timeout: 150 * time.Millisecond},
		{name: "TLS 1.0 only", play: secured(with(func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS10 }), answers(okAnswer)), want: "error", got: "protocol version", connects: -1},
		{name: "only another protocol", play: secured(with(func(c *tls.Config) { c.NextProtos = []string{"smtp"} }), answers(okAnswer)), want: "error", got: "no application protocol", connects: -1},
		{name: "wants the client's certificate", play: secured(with(func(c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert }), answers(okAnswer)), want: "error", got: "certificate required", connects: -1},
	}
	for i := range rows {
		rows[i].secure = true
		// Eight handshakes at once are slow where tests share the machine.
		rows[i].window = 300 * time.Millisecond
	}
	misdeeds(t, rows)
}

// Elsewhere than on this machine, a wrong certificate is an error. No load
// leaves the machine in tests, so the verification is switched on by hand.
func TestTLSVerification(t *testing.T) {
	far, err := newTarget(t.Context(), "https://192.0.2.1", []string{"192.0.2.1"}, false)
	if err != nil || far.tls.InsecureSkipVerify || far.tls.ServerName != "192.0.2.1" {
		t.Fatalf("%+v, %v: certificates elsewhere must be verified", far, err)
	}
	far, err = newTarget(t.Context(), "https://192.0.2.1", []string{"192.0.2.1"}, true)
	if err != nil || !far.tls.InsecureSkipVerify {
		t.Fatalf("%+v, %v: any certificate may be taken", far, err)
	}
	for name, c := range map[string]tls.Certificate{
		"self-signed":   certificate(t, time.Now().Add(time.Hour), "127.0.0.1"),
		"other address": certificate(t, time.Now().Add(time.Hour), "192.0.2.1"),
		"expired":       certificate(t, time.Now().Add(-time.Hour), "127.0.0.1"),
	} {
		t.Run(name, func(t *testing.T) {
			s := startPeers(t, "https", func(p *peer) { p.secure(&tls.Config{Certificates: []tls.Certificate{c}}) })
			near, err := newTarget(t.Context(), s.url, nil, false)
			if err != nil {
				t.Fatal(err)
			}
			near.tls.InsecureSkipVerify = false
			conn, err := near.dial(t.Context(), time.Now().Add(5*time.Second), false)
			if err == nil {
				conn.Close()
			}
			if err == nil || !strings.Contains(err.Error(), "certificate") || !strings.Contains(err.Error(), "skip_tls_verify") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// The engine epoll speaks no TLS and says so before it sends anything.
func TestEpollRefusesTLS(t *testing.T) {
	s := startPeers(t, "https", func(p *peer) {})
	_, err := Run(t.Context(), Options{Scenario: hostileScenario(t, okStep, time.Second), URL: s.url, Engine: EngineEpoll})
	if err == nil || !strings.Contains(err.Error(), "TLS") || s.accepted.Load() > 0 {
		t.Errorf("%v, %d connections", err, s.accepted.Load())
	}
}
