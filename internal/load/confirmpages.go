package load

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

const (
	// confirmedPages are asked for again, those that took most time, and no
	// longer than confirmBudget in all.
	confirmedPages = 50
	confirmBudget  = 5 * time.Second
	// maxAnswer bytes of one answer are compared.
	maxAnswer = 8 << 20
)

// cacheHeaders bear on whether and how long an answer may be kept.
var cacheHeaders = []string{"Age", "Cache-Control", "Expires", "Pragma", "Set-Cookie", "Surrogate-Control", "Vary", "Via", "Www-Authenticate", "X-Accel-Expires", "X-Varnish"}

// strangers are ways in which clients without a session differ. Whoever
// answers them differently must say so in Vary (RFC 9110, 12.5.5); many do not.
var strangers = []struct{ name, value string }{
	{"User-Agent", "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148"},
	{"Accept-Language", "ja,de;q=0.5"},
	{"Accept", "application/json"},
	{"X-Requested-With", "XMLHttpRequest"},
	{"X-Forwarded-For", "198.51.100.7"}, // TEST-NET-2, RFC 5737
}

// ConfirmPages asks for each sampled page again as several strangers would: as
// it is, by other kinds of client, and as it is again. A page that they do not
// all get with the same bytes is marked Private. It sends only where load may
// go, to at most confirmedPages and for confirmBudget; the rest stays
// unconfirmed, as does what gets no answer, of which unasked says why.
func ConfirmPages(ctx context.Context, opts Options, samples []PageSample) (unasked string, err error) {
	if len(samples) == 0 {
		return "", nil
	}
	client, origin, err := plainClient(ctx, opts)
	if err != nil {
		return "", err
	}
	defer client.CloseIdleConnections()
	var f failures
	end := time.Now().Add(confirmBudget)
	for i := range samples[:min(len(samples), confirmedPages)] {
		if time.Now().After(end) {
			break
		}
		if samples[i].SetsCookie || samples[i].Status != http.StatusOK {
			continue
		}
		s := &samples[i]
		if f.ask(ctx, s.URL, func() error { return confirmPage(ctx, client, origin, s) }) != nil {
			s.Confirmed = false
		}
	}
	return f.text(), ctx.Err()
}

// plainClient sends requests as they are to where load may go, without
// following redirects. origin is what a URL's path is added to.
func plainClient(ctx context.Context, opts Options) (client *http.Client, origin string, err error) {
	t, err := newTarget(ctx, opts.URL, opts.Allow, opts.SkipTLSVerify)
	if err != nil {
		return nil, "", err
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, t.network, t.address)
	}
	return &http.Client{Timeout: confirmTimeout, Transport: &http.Transport{DialContext: dial, TLSClientConfig: t.tls, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, t.origin, nil
}

// page is one answer, as much of it as caches care for.
type page struct {
	status  int
	header  http.Header
	sum     [sha256.Size]byte
	sent    time.Time
	arrived time.Time
}

func (p page) same(o page) bool { return p.status == o.status && p.sum == o.sum }

// getPage sends one GET; headers are name, value, name, value…
func getPage(ctx context.Context, client *http.Client, url string, headers ...string) (page, error) {
	return getMasked(ctx, client, nil, url, headers...)
}

// getMasked is getPage of a body without what the scenario's mask hides; nil
// hides nothing.
func getMasked(ctx context.Context, client *http.Client, s *Scenario, url string, headers ...string) (page, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return page{}, err
	}
	req.Header.Set("User-Agent", "kasoku")
	req.Header.Set("Accept", "*/*")
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
			continue
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	p := page{sent: time.Now()}
	res, err := client.Do(req)
	if err != nil {
		return page{}, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return page{}, err
	}
	p.arrived = time.Now()
	if s != nil {
		body = s.Mask(body)
	}
	p.status, p.header, p.sum = res.StatusCode, res.Header, sha256.Sum256(body)
	return p, nil
}

func confirmPage(ctx context.Context, client *http.Client, origin string, s *PageSample) error {
	first, err := getPage(ctx, client, origin+s.URL)
	if err != nil {
		return err
	}
	s.Confirmed, s.Private, s.Headers = true, "", nil
	for name, values := range first.header {
		if slices.Contains(cacheHeaders, name) {
			for _, v := range values {
				s.Headers = append(s.Headers, name+": "+v)
			}
		}
	}
	sort.Strings(s.Headers)
	if s.Private = unkeepable(first); s.Private != "" {
		return nil
	}
	vary := strings.ToLower(strings.Join(first.header.Values("Vary"), ","))
	for _, o := range strangers {
		other, err := getPage(ctx, client, origin+s.URL, o.name, o.value)
		if err != nil {
			return err
		}
		if !other.same(first) && !hasToken([]byte(vary), strings.ToLower(o.name)) {
			s.Private = "it is another for another " + o.name
			break
		}
	}
	// What differs although nothing else does is made anew for each request (a
	// token, a time): then nothing can be said of who asks.
	again, err := getPage(ctx, client, origin+s.URL)
	if err == nil {
		// Two numbers are the request's and that of the one that fetched it
		// (varnish-faq, "X-Varnish").
		s.Hit = len(strings.Fields(again.header.Get("X-Varnish"))) > 1
	}
	if err == nil && !again.same(first) {
		s.Private = "it is another from one request to the next"
	}
	return err
}

// unkeepable says why an answer may not be kept for others (RFC 9111, 3).
func unkeepable(p page) string {
	control := []byte(strings.ToLower(strings.Join(p.header.Values("Cache-Control"), ",")))
	switch {
	case p.status != http.StatusOK:
		return fmt.Sprintf("a stranger gets status %d", p.status)
	case len(p.header.Values("Set-Cookie")) > 0:
		return "it sets a cookie"
	case slices.Contains(p.header.Values("Vary"), "*"):
		return "it varies by what no cache knows (Vary: *)"
	}
	for _, word := range []string{"private", "no-store", "no-cache"} {
		if hasToken(control, word) {
			return "the application says Cache-Control: " + word
		}
	}
	life, given := Lifetime(p.header.Values("Cache-Control"))
	switch {
	case given && life == 0:
		return "the application says Cache-Control: max-age=0"
	case !given && len(p.header.Values("Expires")) > 0:
		return "the application dates it (Expires)"
	}
	return ""
}

// Lifetime is how long an application lets shared caches keep an answer: its
// s-maxage, else its max-age (RFC 9111, 5.2.2.10); given false if it says
// neither.
func Lifetime(cacheControl []string) (life time.Duration, given bool) {
	shared := false
	for d := range strings.SplitSeq(strings.ToLower(strings.Join(cacheControl, ",")), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(d), "=")
		n, err := strconv.ParseInt(strings.Trim(strings.TrimSpace(value), `"`), 10, 32)
		switch name = strings.TrimSpace(name); {
		case err != nil || name != "s-maxage" && name != "max-age" || shared && name == "max-age":
			continue
		}
		life, given, shared = time.Duration(max(n, 0))*time.Second, true, shared || name == "s-maxage"
	}
	return life, given
}
