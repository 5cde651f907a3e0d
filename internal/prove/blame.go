package prove

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/load"
	"kasoku/internal/stack"
)

// Blamer tells which server gives a wrong answer, by asking those behind the
// front door for the same.
type Blamer struct {
	Stack *stack.Stack
	Opts  load.Options // URL and Allow of the load, and the scenario
}

// server is one that may be asked by HTTP, and how far behind the front door
// it stands.
type server struct {
	name string // "app on web2"
	url  string
	deep int
}

// answer of a server.
type answer struct {
	server
	right, answered bool
	head            string
}

// blame asks every server. ask tells whether the server at a URL gives the
// right answer; request is what was asked, for asking past caches.
func (b *Blamer) blame(ctx context.Context, request []byte, ask func(url string) (right, answered bool, head string)) string {
	var all []answer
	for _, s := range b.servers() {
		a := answer{server: s}
		a.right, a.answered, a.head = ask(s.url)
		all = append(all, a)
		if ctx.Err() != nil {
			return ""
		}
	}
	wrong := deepest(all)
	if wrong == nil {
		if slices.ContainsFunc(all, func(a answer) bool { return a.right }) {
			return "nobody any more: asked again at once, every server gives the right answer"
		}
		return ""
	}
	text := wrong.name + hit(wrong.head)
	var rights []string
	for _, a := range all {
		if a.right && a.deep >= wrong.deep {
			rights = append(rights, a.name)
		}
	}
	if len(rights) > 0 {
		return fmt.Sprintf("%s: asked directly, %s gives the right answer", text, strings.Join(rights, ", "))
	}
	if how := b.cached(ctx, wrong.url, request); how != "" {
		return text + ": a cache in it, which gives another answer " + how
	}
	return text + ", or the application behind it: no other server could be asked, and past caches it answers the same"
}

// deepest is the server farthest from the front door that answers wrongly.
func deepest(all []answer) *answer {
	var out *answer
	for i := range all {
		if a := &all[i]; a.answered && !a.right && (out == nil || a.deep > out.deep) {
			out = a
		}
	}
	return out
}

// forwarded tells a server behind the front door that the visitor came by HTTPS,
// as the front door does: an application that wants HTTPS would only send there.
const forwarded = "X-Forwarded-Proto"

// behindTLS reports whether HTTPS ends in front of the server at a URL.
func (b *Blamer) behindTLS(url string) bool {
	return strings.HasPrefix(b.Opts.URL, "https:") && !strings.HasPrefix(url, "https:")
}

// replay asks the server at a URL what the front door was asked.
func (b *Blamer) replay(ctx context.Context, url string, request []byte, change func(*http.Request)) (load.Visit, load.Answer, error) {
	opts := b.Opts
	opts.URL = url
	return load.Replay(ctx, opts, request, func(r *http.Request) {
		if b.behindTLS(url) {
			r.Header.Set(forwarded, "https")
		}
		if change != nil {
			change(r)
		}
	})
}

// toHTTPS reports whether an answer only sends whoever asks to the same page by
// HTTPS, which says nothing of the page.
func toHTTPS(status int, location string, request []byte) bool {
	if !slices.Contains([]int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect}, status) {
		return false
	}
	to, err := url.Parse(location)
	if err != nil || to.Scheme != "https" {
		return false
	}
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(request)))
	if err != nil {
		return false
	}
	asked := url.URL{Host: r.Host}
	return to.Hostname() == asked.Hostname() && to.RequestURI() == r.RequestURI
}

// unlikeAsks is how often a page is asked for again before another answer past a
// cache is the cache's.
const unlikeAsks = 3

// cached asks a server as everybody does and past its caches: by a request that
// no shared cache may answer from what others got (RFC 9111, 3.5), and by a URL
// that nobody asked for. How it was asked when the answer was another one, "" if
// it was the same.
func (b *Blamer) cached(ctx context.Context, url string, request []byte) string {
	_, plain, err := b.replay(ctx, url, request, nil)
	if err != nil {
		return ""
	}
	for range unlikeAsks { // what varies by itself tells nothing of a cache
		_, same, err := b.replay(ctx, url, request, nil)
		if now := time.Now(); err != nil || !bytes.Equal(maskTimes(same.Body, now), maskTimes(plain.Body, now)) {
			return ""
		}
	}
	for _, past := range []struct {
		text   string
		change func(*http.Request)
	}{
		{"to a request with Authorization", func(r *http.Request) { r.Header.Set("Authorization", "Kasoku origin") }},
		{"to a URL that nobody asked for", func(r *http.Request) {
			sign := "?"
			if r.URL.RawQuery != "" {
				sign = "&"
			}
			r.URL.RawQuery = strings.TrimPrefix(r.URL.RawQuery+sign, "?") + "kasoku=" + strconv.FormatInt(time.Now().UnixNano(), 36)
		}},
	} {
		_, again, err := b.replay(ctx, url, request, past.change)
		now := time.Now()
		if err == nil && !bytes.Equal(maskTimes(again.Body, now), maskTimes(plain.Body, now)) {
			return past.text
		}
	}
	return ""
}

// hit is what an answer's headers say about a cache (RFC 9111, 5.1; RFC 9211;
// X-Cache and X-Varnish are customs), in brackets.
func hit(head string) string {
	h := headers(head)
	var out []string
	for _, name := range []string{"Age", "Cache-Status", "X-Cache", "X-Cache-Status", "X-Varnish", "Via", "X-Served-By"} {
		if v := h.Get(name); v != "" {
			out = append(out, name+": "+short(v))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return " (" + strings.Join(out, ", ") + ")"
}

// headers reads header lines; what cannot be read has none.
func headers(head string) textproto.MIMEHeader {
	h, err := textproto.NewReader(bufio.NewReader(strings.NewReader(strings.TrimRight(head, "\r\n") + "\r\n\r\n"))).ReadMIMEHeader()
	if err != nil {
		return nil
	}
	return h
}

// servers are the services that may speak HTTP, those nearest to the front door
// first. The front door itself is asked at load.url.
func (b *Blamer) servers() []server {
	depth := b.depths()
	var out []server
	for i := range b.Stack.Services {
		svc := &b.Stack.Services[i]
		deep, reached := depth[svc.Name]
		if !reached || svc.RunsIn != "" || !slices.Contains([]stack.Kind{stack.Nginx, stack.Apache, stack.Varnish, stack.App}, svc.Kind) {
			continue
		}
		name := svc.Name
		if svc.HostName() != stack.LocalHost {
			name += " on " + svc.HostName()
		}
		if deep == 0 {
			out = append(out, server{name, b.Opts.URL, 0})
			continue
		}
		for _, e := range svc.Listen {
			if url := endpointURL(e, svc.HostName() == stack.LocalHost); url != "" {
				out = append(out, server{name, url, deep})
				break
			}
		}
	}
	slices.SortStableFunc(out, func(a, b server) int { return a.deep - b.deep })
	return out
}

// depths of the services behind the front doors: those that nobody talks to.
func (b *Blamer) depths() map[string]int {
	called := map[string]bool{}
	for _, s := range b.Stack.Services {
		for _, to := range s.TalksTo {
			called[to] = true
		}
	}
	depth := map[string]int{}
	var queue []string
	for _, s := range b.Stack.Services {
		if !called[s.Name] && s.RunsIn == "" && !s.IsDatabase() {
			depth[s.Name] = 0
			queue = append(queue, s.Name)
		}
	}
	for len(queue) > 0 {
		svc := b.Stack.Service(queue[0])
		queue = queue[1:]
		if svc == nil {
			continue
		}
		for _, to := range svc.TalksTo {
			if _, known := depth[to]; !known {
				depth[to] = depth[svc.Name] + 1
				queue = append(queue, to)
			}
		}
	}
	return depth
}

// endpointURL is where to ask a service that listens there; "" if that cannot be
// told: of another host an endpoint for all addresses.
func endpointURL(endpoint string, local bool) string {
	if path, ok := strings.CutPrefix(endpoint, "unix:"); ok {
		if !local {
			return ""
		}
		return "http+unix://" + path
	}
	host, port, err := net.SplitHostPort(endpoint)
	if err != nil {
		return ""
	}
	ip, err := netip.ParseAddr(host)
	if host == "" || host == "*" || err == nil && ip.IsUnspecified() {
		if !local {
			return ""
		}
		host = "127.0.0.1"
	} else if !local && err == nil && ip.IsLoopback() {
		return ""
	}
	return "http://" + net.JoinHostPort(host, port)
}

// Stale is StaleOptions.Blame.
func (b *Blamer) Stale(ctx context.Context, d *load.Deed, reader int, s load.Sight) string {
	return b.blame(ctx, s.Request, func(url string) (right, answered bool, head string) {
		var more []string
		if b.behindTLS(url) {
			more = []string{forwarded + ": https"}
		}
		sight, err := d.LookAt(ctx, reader, url, more...)
		answered = err == nil && sight.Answered() && !toHTTPS(sight.Status, headers(sight.Head).Get("Location"), sight.Request)
		return err == nil && sight.Right, answered, sight.Head
	})
}

// Other tells who gives an answer that is not the page's in the book.
func (b *Blamer) Other(ctx context.Context, book *Book, p *Page, request []byte) string {
	return b.blame(ctx, request, func(url string) (right, answered bool, head string) {
		v, a, err := b.replay(ctx, url, request, nil)
		a.Body = hideTimes(a.Body, book.moments...)
		answered = err == nil && v.Status != 0 && !toHTTPS(v.Status, a.Location, a.Request)
		return err == nil && p.differs(v, a) == "", answered, string(a.Head)
	})
}
