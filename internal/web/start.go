package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/net/netutil"
)

// DefaultListen is on loopback, so that nobody else reaches it.
const DefaultListen = "127.0.0.1:7399"

// Time-outs of connections. Pages are made in milliseconds; event streams set
// their own deadline at each write.
const (
	headWithin  = 5 * time.Second
	readWithin  = 15 * time.Second
	pageWithin  = 60 * time.Second // a profile of a large program takes seconds
	idleWithin  = 2 * time.Minute
	mostHead    = 16 << 10
	mostOpen    = 128 // connections: 32 viewers with a few each
	closeWithin = 2 * time.Second
	// lastLook is how long the end of a session that is being looked at waits for
	// its pages to be read once more. A page is told within leastBetween and
	// reads 0.3 s later.
	lastLook = 2 * time.Second
)

// StartOptions of Start.
type StartOptions struct {
	Options
	// Listen is HOST:PORT; "" = DefaultListen, port 0 = any.
	Listen string
	// TokenFile; "" = Dir/web-token.
	TokenFile string
}

// Running is a server that listens.
type Running struct {
	*Server
	// URL without, Login with the token behind a "#", which browsers do not send.
	URL, Login string
	http       *http.Server
	done       chan error
	stop       context.CancelFunc
	patience   time.Duration // lastLook
}

// Start listens and serves until Stop. Every page is behind the token but those
// of an address on loopback that has no other name.
func Start(ctx context.Context, o StartOptions) (*Running, error) {
	if o.Listen == "" {
		o.Listen = DefaultListen
	}
	host, _, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return nil, fmt.Errorf("dashboard: listen on %q: %w; write HOST:PORT, e.g. %s", o.Listen, err, DefaultListen)
	}
	if o.TokenFile == "" {
		o.TokenFile = filepath.Join(o.Dir, TokenFile)
	}
	if o.Token, err = Token(o.TokenFile); err != nil {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", o.Listen)
	if err != nil {
		return nil, fmt.Errorf("dashboard: listen on %s: %w; choose another port with --listen", o.Listen, err)
	}
	at := l.Addr().(*net.TCPAddr)
	o.OpenReading = at.IP.IsLoopback() && len(o.Names) == 0 // a name is for others
	o.Names = append(append([]string{}, o.Names...), strings.ToLower(host))
	shown := at.String()
	if at.IP.IsUnspecified() {
		if name, err := os.Hostname(); err == nil {
			o.Names = append(o.Names, strings.ToLower(name))
			shown = net.JoinHostPort(name, fmt.Sprint(at.Port))
		}
	}
	ctx, stop := context.WithCancel(ctx)
	x := &Running{Server: New(o.Options), URL: "http://" + shown + "/", done: make(chan error, 1), stop: stop, patience: lastLook}
	x.Login = x.URL + "#token=" + o.Token
	x.http = &http.Server{Handler: x.Handler(), ReadHeaderTimeout: headWithin, ReadTimeout: readWithin, WriteTimeout: pageWithin,
		IdleTimeout: idleWithin, MaxHeaderBytes: mostHead}
	go x.watch(ctx)
	go func() { x.done <- x.http.Serve(netutil.LimitListener(l, mostOpen)) }()
	return x, nil
}

// Told says where it is, for the terminal: with the token only where it is of
// use.
func (x *Running) Told() string {
	switch {
	case !x.o.OpenReading:
		return "dashboard: " + x.Login
	case x.o.Undo == nil:
		return "dashboard: " + x.URL
	}
	return "dashboard: " + x.URL + "\n  to put changes back: " + x.Login
}

// Wait until ctx ends or serving fails, then Stop.
func (x *Running) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		x.Stop()
		return nil
	case err := <-x.done:
		x.Stop()
		if errors.Is(err, http.ErrServerClosed) {
			return nil
		}
		return fmt.Errorf("dashboard: %w", err)
	}
}

// Stop ends the streams and the listener; pages under way get two seconds. The
// end of a session that was published reaches who looks at it before.
func (x *Running) Stop() {
	x.awaitLastLook()
	x.Close()
	x.stop()
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	if x.http.Shutdown(ctx) != nil {
		_ = x.http.Close() // what is left is cut off
	}
}

// awaitLastLook waits until every viewer of a session that has ended has read
// its page once more, for its patience at most. Nobody waits for nobody.
func (x *Running) awaitLastLook() {
	if l, ok := x.hub.Latest(); !ok || !l.Ended || l.Session == 0 || !x.fed.Load() {
		return
	}
	for end := time.Now().Add(x.patience); x.reads.Load() < int64(x.hub.Viewers()) && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
}
