package web

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

const testToken = "0123456789abcdef0123456789abcdef0123456789abcdef"

// browser keeps cookies and sends what a browser sends.
type browser struct {
	t      testing.TB
	url    string
	client *http.Client
	cookie *http.Cookie
}

// serve starts a dashboard on a real connection.
func serve(t testing.TB, p *sample, more func(*Options)) *browser {
	t.Helper()
	o := Options{Stack: "bookshop", Version: "test", Store: p.store, Dir: p.dir, Token: testToken, OpenReading: true, Undo: p.putBack}
	if more != nil {
		more(&o)
	}
	return serveHandler(t, New(o))
}

func serveHandler(t testing.TB, s *Server) *browser {
	t.Helper()
	h := httptest.NewServer(s.Handler())
	t.Cleanup(func() { s.Close(); h.Close() })
	return &browser{t: t, url: h.URL, client: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

func (b *browser) do(method, path string, form url.Values, change func(*http.Request)) (*http.Response, string) {
	b.t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r, err := http.NewRequest(method, b.url+path, body)
	must(b.t, err)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", b.url)
	}
	if b.cookie != nil {
		r.AddCookie(b.cookie)
	}
	if change != nil {
		change(r)
	}
	res, err := b.client.Do(r)
	must(b.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	must(b.t, err)
	return res, string(text)
}

func (b *browser) get(path string) (int, string) {
	b.t.Helper()
	res, text := b.do("GET", path, nil, nil)
	return res.StatusCode, text
}

func (b *browser) logIn() {
	b.t.Helper()
	res, text := b.do("POST", "/login", url.Values{"token": {testToken}}, nil)
	if res.StatusCode != http.StatusSeeOther || len(res.Cookies()) != 1 {
		b.t.Fatalf("log in: %d %s", res.StatusCode, text)
	}
	b.cookie = res.Cookies()[0]
}

// csrf reads the token of the form on the page of the kept entry.
func (b *browser) csrf(id int64) string {
	b.t.Helper()
	_, page := b.get(fmt.Sprintf("/journal/%d", id))
	_, rest, found := strings.Cut(page, `name="csrf" value="`)
	if !found {
		b.t.Fatalf("no form:\n%s", page)
	}
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// paths of every page of the sample.
func (p *sample) paths() []string {
	return []string{"/", fmt.Sprintf("/sessions/%d", p.session), "/sessions", "/sessions?before=1", "/runs", fmt.Sprintf("/runs?session=%d&kind=scored", p.session), "/runs?before=3",
		fmt.Sprintf("/runs/%d", p.after), fmt.Sprintf("/runs/%d?all=1", p.before), fmt.Sprintf("/runs/%d", p.after+1), fmt.Sprintf("/compare?run=%d&run=%d", p.before, p.after),
		"/journal", fmt.Sprintf("/journal/%d", p.kept), fmt.Sprintf("/journal/%d", p.kept-1), "/login"}
}

// TestPages: every page answers, is well-formed, obeys the policy, and shows
// neither a target's markup nor anything secret.
func TestPages(t *testing.T) {
	p := newSample(t)
	b := serve(t, p, nil)
	for _, login := range []bool{false, true} {
		if login {
			b.logIn()
		}
		for _, path := range p.paths() {
			status, page := b.get(path)
			if status != http.StatusOK {
				t.Errorf("%s: %d\n%s", path, status, page)
				continue
			}
			checkPage(t, path, page)
		}
	}
	for path, want := range map[string][]string{
		"/":                              {"Index orders", "Bottleneck", "Where a request", "SELECT b.title", "4096", "/runs/" + fmt.Sprint(p.after), "Flame graphs", "×9.90", "app/orders.php:120", "it trades durability", "To do in the source code", "40 times per request", "WHERE b.id IN (?"},
		fmt.Sprintf("/runs/%d", p.after): {"the pool has no status page", "access_type", "profile-php-excimer.pb.gz", "Not judged", `class="binds"`, "app/template.php:40"},
		fmt.Sprintf("/compare?run=%d&run=%d", p.before, p.after): {"×23.6", "GET /orders", "differs"},
		fmt.Sprintf("/compare?run=%d&run=%d", p.after, p.before): {"×23.6"}, // the older one first, as always
	} {
		_, page := b.get(path)
		for _, w := range want {
			if !strings.Contains(page, w) {
				t.Errorf("%s does not hold %q", path, w)
			}
		}
	}
}

// checkPage walks through a page as a browser reads it.
func checkPage(t *testing.T, path, page string) {
	t.Helper()
	for _, no := range []string{secretValue, "ZgotmplZ", "<no value>", "%!", "NaN", "\x1b", "\u202e", testToken} {
		if strings.Contains(page, no) {
			t.Errorf("%s holds %q", path, no)
		}
	}
	root, err := html.Parse(strings.NewReader(page))
	must(t, err)
	ids := map[string]bool{}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		for _, a := range n.Attr {
			switch {
			case a.Key == "id" && ids[a.Val]:
				t.Errorf("%s: two elements have the id %s", path, a.Val)
			case a.Key == "id":
				ids[a.Val] = true
			case a.Key == "style", strings.HasPrefix(a.Key, "on"):
				t.Errorf("%s: <%s %s=%q> is not let through by the policy", path, n.Data, a.Key, a.Val)
			case (a.Key == "src" || a.Key == "href") && !strings.HasPrefix(a.Val, "/") && !strings.HasPrefix(a.Val, "#") && !strings.HasPrefix(a.Val, "?"):
				t.Errorf("%s: <%s %s=%q> leads elsewhere", path, n.Data, a.Key, a.Val)
			}
		}
		if n.Data == "style" || n.Data == "img" || n.Data == "script" && n.FirstChild != nil {
			t.Errorf("%s: a <%s> that is not the page's own", path, n.Data)
		}
	}
}

func TestHeaders(t *testing.T) {
	p := newSample(t)
	b := serve(t, p, nil)
	for _, path := range append(p.paths(), "/static/app.js", "/nothing", "/runs/999999") {
		res, _ := b.do("GET", path, nil, nil)
		h := res.Header
		if h.Get("Content-Security-Policy") != policy || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "same-origin" || h.Get("X-Frame-Options") != "DENY" {
			t.Errorf("%s: %v", path, h)
		}
	}
}

func TestNotFound(t *testing.T) {
	p := newSample(t)
	b := serve(t, p, nil)
	for _, path := range []string{"/nothing", "/runs/999999", "/runs/x", "/runs/-1", "/sessions/999999", "/journal/999999", "/runs?before=x", "/static/..%2fserver.go", "/static/frame.html",
		fmt.Sprintf("/runs/%d/artifacts/..%%2f..%%2fkasoku.db", p.after), fmt.Sprintf("/runs/%d/artifacts/%%2fetc%%2fpasswd", p.after), fmt.Sprintf("/runs/%d/profiles/..%%2fkasoku.db/flamegraph", p.after),
		fmt.Sprintf("/runs/%d/profiles/profile-php-excimer.pb.gz/source?f=.", p.after), fmt.Sprintf("/runs/%d/profiles/profile-php-excimer.pb.gz/saveconfig?config=x", p.after)} {
		status, page := b.get(path)
		if status != http.StatusNotFound {
			t.Errorf("%s: %d\n%s", path, status, page)
		}
		if strings.Contains(page, "root:") || strings.Contains(page, "SQLite format") {
			t.Errorf("%s gives a file away", path)
		}
	}
	if status, _ := b.get("/compare?run=1"); status != http.StatusBadRequest {
		t.Errorf("comparing one run: %d", status)
	}
}

func TestArtifact(t *testing.T) {
	p := newSample(t)
	b := serve(t, p, nil)
	res, body := b.do("GET", fmt.Sprintf("/runs/%d/artifacts/profile-php-excimer.pb.gz", p.after), nil, nil)
	if res.StatusCode != 200 || body != string(profileBytes(t)) || res.Header.Get("Content-Type") != "application/octet-stream" || !strings.HasPrefix(res.Header.Get("Content-Disposition"), "attachment") {
		t.Errorf("%d, %d bytes, %v", res.StatusCode, len(body), res.Header)
	}
}

// TestProfiles: pprof's own pages, fenced in.
func TestProfiles(t *testing.T) {
	p := newSample(t)
	b := serve(t, p, nil)
	base := fmt.Sprintf("/runs/%d/profiles/profile-php-excimer.pb.gz/", p.after)
	if res, _ := b.do("GET", base, nil, nil); res.StatusCode != http.StatusSeeOther {
		t.Errorf("%d", res.StatusCode)
	}
	for _, view := range []string{"flamegraph", "top", "peek?f=render"} {
		res, page := b.do("GET", base+view, nil, nil)
		if res.StatusCode != 200 || !strings.Contains(page, "Template::render") {
			t.Errorf("%s: %d\n%.500s", view, res.StatusCode, page)
		}
		if strings.Contains(page, "<script>alert(5)") {
			t.Errorf("%s: a function's name is markup", view)
		}
		if res.Header.Get("Content-Security-Policy") != profilePolicy {
			t.Errorf("%s: %v", view, res.Header)
		}
	}
	res, body := b.do("GET", base+"download", nil, nil)
	if res.StatusCode != 200 || len(body) == 0 {
		t.Errorf("%d", res.StatusCode)
	}
}

// TestToken: elsewhere than on loopback nothing is shown without it.
func TestToken(t *testing.T) {
	p := newSample(t)
	b := serve(t, p, func(o *Options) { o.OpenReading = false })
	for _, path := range append(p.paths(), "/events", fmt.Sprintf("/runs/%d/artifacts/profile-php-excimer.pb.gz", p.after)) {
		status, page := b.get(path)
		if want := http.StatusUnauthorized; path != "/login" && status != want || strings.Contains(page, "Index orders") {
			t.Errorf("%s without a login: %d", path, status)
		}
	}
	if status, _ := b.get("/static/app.css"); status != 200 {
		t.Errorf("the login page has no style: %d", status)
	}
	for _, wrong := range []string{"", "x", testToken[:len(testToken)-1], testToken + "0"} {
		if res, _ := b.do("POST", "/login", url.Values{"token": {wrong}}, nil); res.StatusCode != http.StatusForbidden || len(res.Cookies()) != 0 {
			t.Errorf("token %q: %d", wrong, res.StatusCode)
		}
	}
	b.logIn()
	if c := b.cookie; !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || strings.Contains(c.Value, testToken) {
		t.Errorf("%+v", c)
	}
	if status, page := b.get("/"); status != 200 || !strings.Contains(page, "Index orders") {
		t.Errorf("logged in: %d", status)
	}
	b.cookie = &http.Cookie{Name: b.cookie.Name, Value: "made up"}
	if status, _ := b.get("/"); status != http.StatusUnauthorized {
		t.Errorf("with a made-up cookie: %d", status)
	}
}

// TestEmptyToken: a server without a token lets nobody in.
func TestEmptyToken(t *testing.T) {
	b := serve(t, newSample(t), func(o *Options) { o.Token = "" })
	if res, _ := b.do("POST", "/login", url.Values{"token": {""}}, nil); res.StatusCode != http.StatusForbidden {
		t.Errorf("%d", res.StatusCode)
	}
}

// TestHosts: names that somebody's DNS may lead here are refused.
func TestHosts(t *testing.T) {
	p := newSample(t)
	for _, c := range []struct {
		open bool
		host string
		want int
	}{
		{true, "127.0.0.1:7399", 200}, {true, "localhost:8000", 200}, {true, "[::1]:7399", 200}, {true, "evil.example.com", 421}, {true, "evil.example.com:7399", 421},
		{true, "192.0.2.7:7399", 421}, {true, "kasoku.example", 200}, {true, "KASOKU.example:1", 200}, {true, "127.0.0.1.evil.example", 421},
		{false, "192.0.2.7:7399", 401}, {false, "evil.example.com:7399", 421},
	} {
		b := serve(t, p, func(o *Options) { o.OpenReading, o.Names = c.open, []string{"kasoku.example"} })
		res, page := b.do("GET", "/", nil, func(r *http.Request) { r.Host = c.host })
		if res.StatusCode != c.want || c.want != 200 && strings.Contains(page, "Index orders") {
			t.Errorf("%+v: %d", c, res.StatusCode)
		}
	}
}

// TestUndo: only with login, form token and origin; then the file is back.
func TestUndo(t *testing.T) {
	p := newSample(t)
	b := serve(t, p, nil)
	path := fmt.Sprintf("/journal/%d/undo", p.kept)
	changed := func() bool {
		text, err := os.ReadFile(p.file)
		must(t, err)
		return strings.Contains(string(text), "4096")
	}
	refused := func(what string, want int, form url.Values, change func(*http.Request)) {
		t.Helper()
		res, page := b.do("POST", path, form, change)
		if res.StatusCode != want || !changed() {
			t.Errorf("%s: %d, the change is there: %v\n%s", what, res.StatusCode, changed(), page)
		}
	}
	refused("without login", http.StatusUnauthorized, url.Values{"csrf": {"x"}}, nil)
	if _, page := b.get(fmt.Sprintf("/journal/%d", p.kept)); strings.Contains(page, "<form") || !strings.Contains(page, "Log in with the token") {
		t.Error("a button without a login")
	}
	b.logIn()
	form := url.Values{"csrf": {b.csrf(p.kept)}}
	refused("without the form's token", http.StatusForbidden, url.Values{}, nil)
	refused("with a wrong one", http.StatusForbidden, url.Values{"csrf": {strings.Repeat("0", 64)}}, nil)
	refused("without an origin", http.StatusForbidden, form, func(r *http.Request) { r.Header.Del("Origin") })
	refused("from another site", http.StatusForbidden, form, func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") })
	refused("from an opaque origin", http.StatusForbidden, form, func(r *http.Request) { r.Header.Set("Origin", "null") })
	refused("from another port of this machine", http.StatusForbidden, form, func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1") })
	refused("cross-site by Sec-Fetch-Site", http.StatusForbidden, form, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") })
	if res, _ := b.do("GET", path, nil, nil); res.StatusCode == http.StatusSeeOther || !changed() {
		t.Errorf("by GET: %d", res.StatusCode)
	}
	other := &browser{t: t, url: b.url, client: b.client}
	other.logIn()
	if theirs := other.csrf(p.kept); theirs == form.Get("csrf") {
		t.Error("two logins have one form token")
	}
	res, page := b.do("POST", path, form, nil)
	if res.StatusCode != http.StatusSeeOther || changed() {
		t.Fatalf("undo: %d, the change is there: %v\n%s", res.StatusCode, changed(), page)
	}
	if _, page = b.get(fmt.Sprintf("/journal/%d", p.kept)); !strings.Contains(page, "undone") || strings.Contains(page, "<form") {
		t.Error("the page does not say that it is undone")
	}
	if res, _ = b.do("POST", path, form, nil); res.StatusCode != http.StatusNotFound {
		t.Errorf("a second time: %d", res.StatusCode)
	}
}
