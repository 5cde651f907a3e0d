package evidence

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/confedit/nginx"
	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// parseStubStatus reads nginx's page (nginx manual, ngx_http_stub_status_module).
func parseStubStatus(data []byte) (map[string]string, error) {
	out := map[string]string{}
	lines := strings.Split(string(data), "\n")
	for i, line := range lines {
		if rest, ok := strings.CutPrefix(line, "Active connections:"); ok {
			out["active"] = strings.TrimSpace(rest)
		}
		if strings.HasPrefix(line, "server accepts handled requests") && i+1 < len(lines) {
			if f := strings.Fields(lines[i+1]); len(f) >= 3 {
				out["accepts"], out["handled"], out["requests"] = f[0], f[1], f[2]
			}
		}
		if f := strings.Fields(line); len(f) == 6 && f[0] == "Reading:" {
			out["reading"], out["writing"], out["waiting"] = f[1], f[3], f[5]
		}
	}
	if len(out) != 7 {
		return nil, fmt.Errorf("parse nginx stub_status: %q is not its page", shorten(string(data), 60))
	}
	for name, v := range out {
		if _, err := strconv.ParseUint(v, 10, 63); err != nil {
			return nil, fmt.Errorf("parse nginx stub_status: %s is %q, not a number", name, shorten(v, 30))
		}
	}
	return out, nil
}

func nginxCounts(name string) bool {
	return name == "accepts" || name == "handled" || name == "requests"
}

// statusPage is where a service tells about itself over HTTP.
type statusPage struct {
	h        host.Host
	endpoint string // to connect to; "": the URL's host
	url      string
	client   *http.Client
}

// pageTimeout bounds one status page.
const pageTimeout = 2 * time.Second

// maxPage is more than a status page has: OPcache's of 10,000 scripts is 3 MB.
const maxPage = 8 << 20

func newStatusPage(h host.Host, endpoint, address string) *statusPage {
	p := &statusPage{h: h, endpoint: endpoint, url: address}
	p.client = &http.Client{Timeout: pageTimeout, Transport: &http.Transport{MaxIdleConns: 1,
		DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
			if p.endpoint != "" {
				addr = p.endpoint
			}
			return stack.Dial(ctx, h, addr)
		}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return p
}

// shown is the URL without what may be secret.
func (p *statusPage) shown() string {
	u, err := url.Parse(p.url)
	if err != nil {
		return "the status page"
	}
	return u.Scheme + "://" + u.Host + u.Path
}

func (p *statusPage) get(ctx context.Context) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url, nil)
	if err != nil {
		return nil, fmt.Errorf("read a status page: %s is not a URL", p.shown())
	}
	res, err := p.client.Do(req)
	if err != nil {
		if inner, ok := err.(*url.Error); ok {
			err = inner.Err // it repeats the URL
		}
		return nil, fmt.Errorf("read status page %s: %w", p.shown(), err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("read status page %s: answered %s; does it allow this machine?", p.shown(), res.Status)
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, maxPage))
	if err != nil {
		return nil, fmt.Errorf("read status page %s: %w", p.shown(), err)
	}
	return bytes.TrimPrefix(data, []byte("\ufeff")), nil
}

func (p *statusPage) close() { p.client.CloseIdleConnections() }

// findNginxStatus returns the counters of every nginx that has a status page.
func findNginxStatus(ctx context.Context, s setting) (out []source, health []Health) {
	for _, svc := range s.st.OfKind(stack.Nginx) {
		h := s.hosts[svc.HostName()]
		if h == nil {
			continue
		}
		page, why := nginxPage(ctx, h, svc)
		name := "counters of " + svc.Name
		if page == nil {
			health = append(health, Health{Source: name, OK: true, Text: "not judged: " + why})
			continue
		}
		out = append(out, &counterSource{service: svc.Name, source: name, counts: nginxCounts, shut: page.close,
			// Each reading but the first is a request within the window: its own
			// page counts itself.
			own: map[string]float64{"requests": 1},
			read: func(ctx context.Context) (map[string]string, error) {
				data, err := page.get(ctx)
				if err != nil {
					return nil, err
				}
				return parseStubStatus(data)
			}})
	}
	return out, health
}

// StubPath is the location of the stub_status page that an instrument adds.
const StubPath = "/kasoku-status"

// HasStubStatus: the configuration has a stub_status page that can be asked for.
func HasStubStatus(conf *nginx.Config) bool {
	found := false
	conf.Root.Walk(func(d *nginx.Directive) bool {
		if d.Name == "stub_status" {
			_, address := stubURL(d)
			found = found || address != ""
		}
		return true
	})
	return found
}

// ownServer: an instrument added it for stub_status; nobody else can ask it.
func ownServer(d *nginx.Directive) bool {
	l := d.First("location")
	return d.Name == "server" && l != nil && slices.Contains(l.Args, StubPath)
}

// nginxPage finds the location with stub_status that can be asked for.
func nginxPage(ctx context.Context, h host.Host, svc *stack.Service) (page *statusPage, why string) {
	if svc.Status != "" {
		return newStatusPage(h, "", svc.Status), ""
	}
	r := &fileReader{ctx: ctx, h: h, service: svc.Name, files: map[string]File{}}
	conf, err := nginx.Load(svc.Config, svc.Prefix, r.read, r.glob)
	if err != nil {
		return nil, err.Error()
	}
	why = "its configuration has no stub_status location; write one, or its URL in status"
	conf.Root.Walk(func(d *nginx.Directive) bool {
		if d.Name != "stub_status" || page != nil {
			return true
		}
		if endpoint, address := stubURL(d); address != "" {
			page = newStatusPage(h, endpoint, address)
		} else {
			why = fmt.Sprintf("%s:%d: stub_status stands where no plain address leads; write its URL in status", d.File.Path, d.Line)
		}
		return true
	})
	return page, why
}

// stubURL is the address of a stub_status directive: its location's path (a
// prefix or "="), and the first listen of its server that speaks plain HTTP.
func stubURL(d *nginx.Directive) (endpoint, address string) {
	where, server, name := "/", (*nginx.Directive)(nil), ""
	for at := d.Parent; at != nil; at = at.Parent {
		switch {
		case at.Name == "location" && where == "/":
			where = at.Args[len(at.Args)-1]
			if len(at.Args) == 2 && at.Args[0] != "=" && at.Args[0] != "^~" || !strings.HasPrefix(where, "/") {
				return "", ""
			}
		case at.Name == "server":
			server = at
		}
	}
	if server == nil {
		return "", ""
	}
	if n := server.First("server_name"); n != nil && len(n.Args) > 0 && !strings.ContainsAny(n.Args[0], "*~_$") {
		name = n.Args[0]
	}
	if endpoint = plainEndpoint(server); endpoint == "" {
		return "", ""
	}
	if name == "" {
		name = "localhost"
	}
	return endpoint, (&url.URL{Scheme: "http", Host: name, Path: where}).String()
}

// plainEndpoint is the first at which a server speaks HTTP as it is; "" if there is none.
func plainEndpoint(server *nginx.Directive) string {
	listens := server.Find("listen")
	if len(listens) == 0 {
		return "0.0.0.0:80" // nginx manual, "listen"
	}
	for _, l := range listens {
		plain := len(l.Args) > 0 && !nginx.Encrypted(server, l)
		for _, a := range l.Args[min(1, len(l.Args)):] {
			plain = plain && a != "quic" && a != "udp" && a != "proxy_protocol"
		}
		if plain {
			return stack.ListenEndpoint(l.Args[0])
		}
	}
	return ""
}
