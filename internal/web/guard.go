package web

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// policy lets a page load only what this server has, run no inline script and
// style nothing inline (CSP level 3).
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guard stands before every page: headers, who may ask under which name, who is
// logged in, and what may be posted.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		// "no-referrer" would make browsers send "Origin: null" with forms (Fetch
		// standard, 3.2, "append a request Origin header").
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if !s.knownHost(r.Host) {
			s.fail(w, r, http.StatusMisdirectedRequest, "This server is not called "+r.Host+".",
				"Use the address that `kasoku serve` printed; --name adds another name.")
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, mostPosted)
		public := strings.HasPrefix(r.URL.Path, "/static/") || r.URL.Path == "/login"
		login := s.loginOf(r)
		if !public && login == nil && (!s.o.OpenReading || proxied(r) || r.Method != http.MethodGet && r.Method != http.MethodHead) {
			s.loginPage(w, r, http.StatusUnauthorized, "")
			return
		}
		if r.Method == http.MethodPost {
			if !sameOrigin(r) {
				s.fail(w, r, http.StatusForbidden, "This came from another page than Kasoku's.", "Open the dashboard itself and press the button there.")
				return
			}
			if r.URL.Path != "/login" && !login.csrfFits(r.PostFormValue("csrf")) {
				s.fail(w, r, http.StatusForbidden, "The form is not of this login.", "Load the page again and press the button once more.")
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// proxied: a proxy has passed the request on, so who asks is not on this machine
// only because the connection is (RFC 9110, 7.6.3; RFC 7239; the X- headers are
// what came before). A program here that sends one itself locks itself out.
func proxied(r *http.Request) bool {
	for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Forwarded", "Via"} {
		if len(r.Header.Values(name)) > 0 {
			return true
		}
	}
	return false
}

// encrypted: the browser's own connection is, as far as is told. Whoever lies
// only gets a cookie that is sent less often.
func encrypted(r *http.Request) bool {
	first, _, _ := strings.Cut(r.Header.Get("X-Forwarded-Proto"), ",")
	return r.TLS != nil || strings.EqualFold(strings.TrimSpace(first), "https")
}

// mostPosted bytes: forms here have a token and a number.
const mostPosted = 4096

// knownHost tells our names from one that somebody else's DNS leads here (DNS
// rebinding). An address cannot be such a name.
func (s *Server) knownHost(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	if ip := net.ParseIP(name); ip != nil {
		return !s.o.OpenReading || ip.IsLoopback()
	}
	return name == "localhost" || slices.Contains(s.o.Names, name)
}

// sameOrigin: browsers name the origin of every POST (Fetch standard, 3.2).
func sameOrigin(r *http.Request) bool {
	u, err := url.Parse(r.Header.Get("Origin"))
	if err != nil || u.Host == "" || u.Host != r.Host {
		return false
	}
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "" || site == "same-origin"
}
