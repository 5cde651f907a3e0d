package load

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// engines are all that HTTP/1.1 goes through; over TLS only those that can.
func engines(secure bool) []Engine {
	if secure {
		return []Engine{EngineNet}
	}
	return []Engine{EngineEpoll, EngineNet}
}

// peers is a server whose every connection is played by a function.
type peers struct {
	url      string
	play     func(*peer)
	accepted atomic.Int64
	asked    atomic.Int64 // requests that peers read

	mu    sync.Mutex
	times map[string]int // that each path was requested
	open  map[net.Conn]bool
	from  []net.Listener
	ended bool
	group sync.WaitGroup
}

// peer is the server's end of one connection.
type peer struct {
	net.Conn
	raw    *net.TCPConn // nil: a unix socket
	in     *bufio.Reader
	n      int64 // number of the connection, from 0
	all    *peers
	method string // of the last request
	path   string
}

// startPeers listens on loopback; everything ends with the test.
func startPeers(t *testing.T, scheme string, play func(*peer)) *peers {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &peers{url: scheme + "://" + l.Addr().String(), play: play, open: map[net.Conn]bool{}, times: map[string]int{}}
	s.serve(l)
	t.Cleanup(s.end)
	return s
}

// serve takes connections until the listener is closed.
func (s *peers) serve(l net.Listener) {
	s.mu.Lock()
	s.from = append(s.from, l)
	s.mu.Unlock()
	s.group.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if !s.keep(c) {
				c.Close()
				return
			}
			p := &peer{Conn: c, in: bufio.NewReader(c), n: s.accepted.Add(1) - 1, all: s}
			p.raw, _ = c.(*net.TCPConn)
			s.group.Go(func() {
				defer s.drop(c)
				s.play(p)
			})
		}
	})
}

func (s *peers) keep(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.open[c] = true
	}
	return !s.ended
}

func (s *peers) drop(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
	c.Close()
}

// cut closes all connections that are open.
func (s *peers) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.open {
		c.Close()
	}
}

// mostOften is how often one path was requested at most.
func (s *peers) mostOften() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	most := 0
	for _, n := range s.times {
		most = max(most, n)
	}
	return most
}

func (s *peers) end() {
	s.mu.Lock()
	s.ended = true
	for _, l := range s.from {
		l.Close()
	}
	s.mu.Unlock()
	s.cut()
	s.group.Wait()
}

// ask reads one request with its body; false when there is none any more.
func (p *peer) ask() bool {
	req, err := http.ReadRequest(p.in)
	if err != nil {
		return false
	}
	p.method, p.path = req.Method, req.URL.Path
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return false
	}
	p.all.asked.Add(1)
	p.all.mu.Lock()
	p.all.times[p.path]++
	p.all.mu.Unlock()
	return true
}

// say sends text; false if the connection is gone.
func (p *peer) say(text string) bool {
	_, err := io.WriteString(p.Conn, text)
	return err == nil
}

// wait until the client closes.
func (p *peer) wait() { _, _ = io.Copy(io.Discard, p.in) }

// reset makes the close that follows a reset.
func (p *peer) reset() { _ = p.raw.SetLinger(0) }

// drip sends text and then the piece again and again, slowly.
func (p *peer) drip(text, piece string, every time.Duration) {
	for ok := p.say(text); ok; ok = p.say(piece) {
		time.Sleep(every) // the server's slowness, not a wait for something
	}
}

// secure puts TLS on the connection; false if the handshake failed.
func (p *peer) secure(config *tls.Config) bool {
	c := tls.Server(p.Conn, config)
	p.Conn, p.in = c, bufio.NewReader(c)
	return c.Handshake() == nil
}

// certificate is self-signed for the given names until notAfter.
func certificate(t testing.TB, notAfter time.Time, names ...string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: names[0]}, NotBefore: notAfter.Add(-48 * time.Hour), NotAfter: notAfter}
	for _, n := range names {
		if ip := net.ParseIP(n); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, n)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// writeCertificate puts cert.pem and key.pem into dir.
func writeCertificate(t testing.TB, dir string, c tls.Certificate) {
	t.Helper()
	key, err := x509.MarshalECPrivateKey(c.PrivateKey.(*ecdsa.PrivateKey))
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: c.Certificate[0]}, "key.pem": {Type: "EC PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
