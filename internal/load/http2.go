package load

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"sort"
	"strconv"
	"time"

	"golang.org/x/net/http2"
)

// http2Client speaks HTTP/2 on one user's connection by golang.org/x/net/http2.
// The request is the one that HTTP/1.1 would send, and the answer is written as
// one, so that the checks are the same; this engine is for being right, not for
// being cheap. Nothing is sent again behind Kasoku's back, as net/http would.
type http2Client struct {
	//lint:ignore SA1019 net/http's transport dials by itself; this one takes the connection that the engine has made and times
	transport http2.Transport
	//lint:ignore SA1019 as above
	conn   *http2.ClientConn
	in     bytes.Reader
	reader *bufio.Reader
	out    bytes.Buffer
}

// errNoHTTP2: the connection is there, but not HTTP/2.
const errNoHTTP2 = brokenError("the server does not speak HTTP/2; leave the engine to Kasoku")

// open begins HTTP/2 on a new connection.
func (c *http2Client) open(conn net.Conn) error {
	if t, ok := conn.(*tls.Conn); ok && t.ConnectionState().NegotiatedProtocol != http2.NextProtoTLS {
		return errNoHTTP2
	}
	//lint:ignore SA1019 as above
	c.transport.DisableCompression, c.transport.AllowHTTP, c.transport.MaxHeaderListSize = true, true, maxHead
	var err error
	//lint:ignore SA1019 as above
	c.conn, err = c.transport.NewClientConn(conn)
	return err
}

// exchangeHTTP2 does one request.
func exchangeHTTP2(b *blocking, deadline time.Time) error {
	u, c := b.user, b.http2
	ctx, cancel := context.WithDeadline(u.run.ctx, deadline)
	defer cancel()
	if c.conn == nil {
		b.conn.SetDeadline(time.Time{}) // the library reads all the time
		if err := c.open(b.conn); err != nil {
			return err
		}
	}
	c.in.Reset(u.request)
	if c.reader == nil {
		c.reader = bufio.NewReader(&c.in)
	}
	c.reader.Reset(&c.in)
	req, err := http.ReadRequest(c.reader)
	if err != nil {
		return fmt.Errorf("build the HTTP/2 request: %w", err)
	}
	req.URL.Scheme, req.URL.Host, req.RequestURI = u.run.target.scheme(), req.Host, ""
	if len(u.body) == 0 {
		req.Body = nil
	}
	res, err := c.conn.RoundTrip(req.WithContext(ctx))
	if err != nil {
		return http2Error(ctx, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	if err != nil {
		return http2Error(ctx, err)
	}
	if len(body) > maxBody {
		return errLongBody
	}
	c.write(res, body, u.method == "HEAD")
	if err := u.wire.put(c.out.Bytes()); err != nil {
		return err
	}
	u.wire.res.close = !c.conn.CanTakeNewRequest()
	return nil
}

// http2Error says what an error of the library means.
func http2Error(ctx context.Context, err error) error {
	if ctx.Err() == context.DeadlineExceeded {
		return context.DeadlineExceeded
	}
	return err
}

func (t *target) scheme() string {
	if t.tls != nil {
		return "https"
	}
	return "http"
}

// write makes an HTTP/1.1 answer of an HTTP/2 one.
func (c *http2Client) write(res *http.Response, body []byte, head bool) {
	c.out.Reset()
	c.out.WriteString("HTTP/1.1 " + strconv.Itoa(res.StatusCode) + " \r\n")
	names := make([]string, 0, len(res.Header))
	for name := range res.Header {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if name == "Content-Length" && !head || name == "Transfer-Encoding" || name == "Connection" {
			continue
		}
		for _, v := range res.Header[name] {
			c.out.WriteString(name + ": " + v + "\r\n")
		}
	}
	if !head && res.StatusCode != 204 && res.StatusCode != 304 {
		c.out.WriteString("Content-Length: " + strconv.Itoa(len(body)) + "\r\n")
	}
	c.out.WriteString("\r\n")
	c.out.Write(body)
}

// put takes a whole answer at once.
func (w *wire) put(answer []byte) error {
	for len(answer) > 0 {
		n := copy(w.room(nil), answer)
		answer = answer[n:]
		done, err := w.took(n)
		if err != nil {
			return err
		}
		if done {
			return nil
		}
		w.park()
	}
	return errNoAnswer
}
