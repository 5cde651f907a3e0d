package stall

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Server answers every request with the same short text, after Plan.Wait. It
// reads no bodies: a GET is all it understands.
type Server struct {
	plan     Plan
	listener net.Listener
	accept   sync.WaitGroup // the accepting goroutine
	conns    sync.WaitGroup // one for each connection

	mu    sync.Mutex
	first time.Time // of the first request; zero: none yet
	open  map[net.Conn]bool
	done  bool
	count int64
}

// answer has a Connection header for tools that speak HTTP/1.0, such as ab.
const answer = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: keep-alive\r\nContent-Length: 3\r\n\r\nok\n"

// acceptPause keeps the server from spinning while it has no files left.
const acceptPause = 5 * time.Millisecond

// Serve starts a server on a free loopback port.
func Serve(p Plan) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the stalling server: %w", err)
	}
	s := &Server{plan: p, listener: l, open: map[net.Conn]bool{}}
	s.accept.Go(s.listen)
	return s, nil
}

// URL to load.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + "/" }

// Restart lets the plan begin anew with the next request.
func (s *Server) Restart() {
	s.mu.Lock()
	s.first, s.count = time.Time{}, 0
	s.mu.Unlock()
}

// Close ends all connections and waits for them.
func (s *Server) Close() error {
	s.mu.Lock()
	s.done = true
	err := s.listener.Close()
	for c := range s.open {
		err = errors.Join(err, c.Close())
	}
	s.mu.Unlock()
	s.accept.Wait()
	s.conns.Wait()
	return err
}

func (s *Server) listen() {
	for {
		c, err := s.listener.Accept()
		s.mu.Lock()
		if s.done || err != nil {
			s.mu.Unlock()
			if err == nil {
				_ = c.Close() // nobody waits for it
				return
			}
			if errors.Is(err, net.ErrClosed) {
				return
			}
			// Out of files, or reset before it was accepted: the tool counts it.
			time.Sleep(acceptPause)
			continue
		}
		s.open[c] = true
		s.conns.Go(func() { s.serve(c) })
		s.mu.Unlock()
	}
}

// serve answers one connection's requests until it ends, however it ends: the
// tool on the other side counts what it did not get.
func (s *Server) serve(c net.Conn) {
	defer func() {
		s.mu.Lock()
		delete(s.open, c)
		if !s.done {
			_ = c.Close()
		}
		s.mu.Unlock()
	}()
	r := bufio.NewReaderSize(c, 2048)
	for {
		if err := skipRequest(r); err != nil {
			return
		}
		if wait := s.plan.Wait(s.since()); wait > 0 {
			time.Sleep(wait)
		}
		if _, err := c.Write([]byte(answer)); err != nil {
			return
		}
	}
}

// since is the time since the first request; this may be it.
func (s *Server) since() time.Duration {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first.IsZero() {
		s.first = now
	}
	s.count++
	return now.Sub(s.first)
}

// skipRequest reads up to and with the empty line.
func skipRequest(r *bufio.Reader) error {
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(line) <= 2 && (len(line) == 1 || line[0] == '\r') {
			return nil
		}
	}
}
