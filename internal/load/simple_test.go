package load

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestSimpleURLs(t *testing.T) {
	for text, want := range map[string][2]string{
		"http://127.0.0.1:8080":            {"http://127.0.0.1:8080", "GET /"},
		"http://127.0.0.1:8080/a/b?c=d&e=": {"http://127.0.0.1:8080", "GET /a/b?c=d&e="},
		"HTTP://localhost?q=1":             {"http://localhost", "GET /?q=1"},
		"https://[::1]:8443/x":             {"https://[::1]:8443", "GET /x"},
		"http+unix:///run/x.sock:/path?q":  {"http+unix:///run/x.sock", "GET /path?q"},
		"http+unix:///run/x.sock":          {"http+unix:///run/x.sock", "GET /"},
		"http+unix:///run/x.sock:":         {"http+unix:///run/x.sock", "GET /"},
		"http://127.0.0.1/käse/${x}":       {"http://127.0.0.1", "GET /k%C3%A4se/$%7Bx}"},
	} {
		s := Simple{URL: text, Size: -1}
		base, err := s.Base()
		if err != nil || base != want[0] {
			t.Errorf("%s: base %q, %v, want %q", text, base, err, want[0])
		}
		sc, err := s.Scenario()
		if err != nil || sc.Name != want[1] {
			t.Errorf("%s: %+v, %v, want %q", text, sc, err, want[1])
		}
	}
	for text, want := range map[string]string{
		"localhost:8080/":            "no scheme",
		"ftp://localhost/":           "no scheme",
		"http://":                    "names no host",
		"http:///path":               "names no host",
		"http://a b/":                "cannot be read",
		"http://user:pw@127.0.0.1/":  "user name",
		"http://127.0.0.1/a b":       "%20",
		"http://127.0.0.1/#part":     "fragment",
		"http://127.0.0.1/%zz":       "%25",
		"http+unix://relative.sock":  "absolute path",
		"http+unix://":               "absolute path",
		"http+unix:///run/x:/a\nb":   "control character",
		"http://127.0.0.1:99999999/": "",
	} {
		s := Simple{URL: text, Size: -1}
		if _, err := s.Base(); want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := (&Simple{URL: "http://user:secret@127.0.0.1/"}).Base(); strings.Contains(err.Error(), "secret") {
		t.Errorf("the password is shown: %v", err)
	}
}

func TestSimpleRefusesWhatCannotBeSent(t *testing.T) {
	for want, s := range map[string]Simple{
		"write 'Name: value'":  {Headers: []string{"nothing"}},
		"'Name: value'":        {Headers: []string{"a b: c"}},
		"given twice":          {Headers: []string{"A: 1", "a: 2"}},
		"is Kasoku's own":      {Headers: []string{"Content-Length: 7"}},
		"line break":           {Headers: []string{"A: b\r\nC: d"}},
		"header A: the value":  {Headers: []string{"A: \xff"}},
		"content type":         {Headers: []string{"Content-Type: a/b"}, Body: []byte("x"), Type: "c/d"},
		"not one of GET":       {Method: "FETCH"},
		"have no body":         {Method: "get", Body: []byte("x")},
		"is not UTF-8; choose": {Contains: []string{"\xff"}},
		"status":               {Statuses: []int{99}},
		"timeout":              {Timeout: time.Hour},
	} {
		s.URL, s.Size = "http://127.0.0.1/", -1
		if _, err := s.Scenario(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "command line:") {
			t.Errorf("%+v: %v, want %q", s, err, want)
		}
	}
}

// echo answers with what it was sent.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	fmt.Fprintf(w, "%s %s %s %s %s %q", r.Method, r.URL, r.Header.Get("X-A"), r.Header.Get("Content-Type"), r.Host, body)
}

// The request before the load and those of the load are the same.
func TestSimpleSendsWhatItSays(t *testing.T) {
	for name, c := range map[string]struct {
		s    Simple
		want []string
	}{
		"plain":   {Simple{URL: "/a?b=c"}, []string{"GET /a?b=c"}},
		"headers": {Simple{URL: "/", Headers: []string{"X-A: ${b} $${c}", "Host: example.org"}}, []string{"${b} $${c}", "example.org"}},
		"form":    {Simple{URL: "/", Body: []byte("a=b&c=${d}")}, []string{"POST /", "application/x-www-form-urlencoded", `"a=b&c=${d}"`}},
		"JSON":    {Simple{URL: "/", Method: "put", Body: []byte(`{"a": 1}`)}, []string{"PUT /", "application/json"}},
		"binary":  {Simple{URL: "/", Body: []byte("\x00\xff\n"), Type: "a/b"}, []string{"a/b", `"\x00\xff\n"`}},
		"empty":   {Simple{URL: "/", Body: []byte{}}, []string{"POST /", `""`}},
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(echo))
			defer srv.Close()
			s := c.s
			s.URL, s.Size, s.Contains = srv.URL+s.URL, -1, c.want
			if err := s.Probe(t.Context(), Options{Engine: EngineAuto}); err != nil {
				t.Fatal(err)
			}
			wantRight(t, runSimple(t, &s))
			if s.Size < 0 || !strings.Contains(s.Checked(), "as the first answer had") {
				t.Errorf("no size was learned: %s", s.Checked())
			}
		})
	}
}

func runSimple(t *testing.T, s *Simple) *Result {
	t.Helper()
	sc, err := s.Scenario()
	if err != nil {
		t.Fatal(err)
	}
	base, err := s.Base()
	if err != nil {
		t.Fatal(err)
	}
	res, err := Run(t.Context(), Options{Scenario: sc, URL: base, Workload: 2, Warmup: -1, Window: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestProbeLearnsTheSize(t *testing.T) {
	var asked atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("/same", func(w http.ResponseWriter, r *http.Request) { asked.Add(1); io.WriteString(w, "12345") })
	mux.HandleFunc("/grows", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, strings.Repeat("x", int(asked.Add(1))))
	})
	mux.HandleFunc("/zip", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		io.WriteString(z, strings.Repeat("y", 5000))
		z.Close()
	})
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/same", http.StatusFound) })
	srv := httptest.NewServer(mux)
	defer srv.Close()
	for _, c := range []struct {
		s     Simple
		size  int64
		asked int64
		text  string
	}{
		{Simple{URL: "/same", Size: -1}, 5, 2, "status 200, 5 bytes, as the first answer had"},
		{Simple{URL: "/same", Size: -1, Method: "HEAD"}, 0, 2, "status 200, 0 bytes, as the first answer had"},
		{Simple{URL: "/same", Size: -1, Method: "POST"}, 5, 1, "status 200, 5 bytes, as the first answer had"}, // once: it may change something
		{Simple{URL: "/same", Size: -1, AnySize: true, Contains: []string{"3"}}, -1, 1, `status 200, contains "3"`},
		{Simple{URL: "/same", Size: 7}, 7, 1, "status 200, 7 bytes"},
		{Simple{URL: "/grows", Size: -1}, -1, 2, "status 200; not the size: two answers had 1 and 2 bytes"},
		{Simple{URL: "/zip", Size: -1, Headers: []string{"Accept-Encoding: gzip"}}, 5000, 0, "status 200, 5000 bytes, as the first answer had"},
		{Simple{URL: "/away", Size: -1, Statuses: []int{302}, Method: "POST"}, 0, 0, "status 302, 0 bytes, as the first answer had"},
	} {
		asked.Store(0)
		c.s.URL = srv.URL + c.s.URL
		if err := c.s.Probe(t.Context(), Options{Engine: EngineAuto}); err != nil || c.s.Size != c.size || asked.Load() != c.asked || c.s.Checked() != c.text {
			t.Errorf("%s: %v, size %d, asked %d times, %q; want %+v", c.s.URL, err, c.s.Size, asked.Load(), c.s.Checked(), c)
		}
	}
	s := Simple{URL: srv.URL + "/away", Size: -1}
	var wrong *StatusError
	if err := s.Probe(t.Context(), Options{Engine: EngineAuto}); !errors.As(err, &wrong) || wrong.Location != "/same" || !strings.Contains(err.Error(), "302 Found, expected 200") {
		t.Errorf("a redirect: %v", err)
	}
}

func TestProbeReachesOnlyWhatIsAllowed(t *testing.T) {
	s := Simple{URL: "http://192.0.2.1/", Size: -1}
	if err := s.Probe(t.Context(), Options{Engine: EngineAuto}); !errors.Is(err, ErrNotAllowed) {
		t.Errorf("another machine: %v", err)
	}
	// Nothing follows a Location, nor a proxy of the environment.
	t.Setenv("HTTP_PROXY", "http://192.0.2.1:3128")
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(echo))
	srv.Listener.Close()
	srv.Listener = l
	srv.Start()
	defer srv.Close()
	unix := Simple{URL: "http+unix://" + socket + ":/x?y", Size: -1, Contains: []string{"GET /x?y"}, Close: true}
	if err := unix.Probe(t.Context(), Options{Engine: EngineAuto}); err != nil {
		t.Fatal(err)
	}
	res := runSimple(t, &unix)
	wantRight(t, res)
	if res.Connects < res.Requests/2 {
		t.Errorf("%d connections for %d requests, want one each", res.Connects, res.Requests)
	}
}

// An error page has another length, whatever its status.
func TestSimpleFindsErrorPages(t *testing.T) {
	var n atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) > 10 {
			io.WriteString(w, "sorry, an error")
			return
		}
		io.WriteString(w, "right")
	}))
	defer srv.Close()
	s := Simple{URL: srv.URL + "/", Size: -1}
	if err := s.Probe(t.Context(), Options{Engine: EngineAuto}); err != nil {
		t.Fatal(err)
	}
	if res := runSimple(t, &s); res.Mismatches == 0 || res.Samples[0].Expected != "5 bytes" {
		t.Errorf("%d wrong: %+v", res.Mismatches, res.Samples)
	}
}

func TestProbeSpeaksHTTP2AndTLS(t *testing.T) {
	protos := make(chan string, 10)
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { protos <- r.Proto })
	srv := httptest.NewUnstartedServer(h)
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	for engine, want := range map[Engine]string{EngineAuto: "HTTP/1.1", EngineHTTP2: "HTTP/2.0"} {
		s := Simple{URL: srv.URL + "/", Size: -1, AnySize: true}
		if err := s.Probe(t.Context(), Options{Engine: engine}); err != nil {
			t.Errorf("%q: %v", engine, err)
		} else if got := <-protos; got != want {
			t.Errorf("%q: %s, want %s", engine, got, want)
		}
	}
}

func FuzzSimpleURL(f *testing.F) {
	for _, s := range []string{"http://127.0.0.1:8080/a?b", "http+unix:///run/x.sock:/p", "https://[::1]/", "http://a/${b}$${c}", "http://a/%"} {
		f.Add(s, "X-A: ${b}")
	}
	f.Fuzz(func(t *testing.T, at, header string) {
		s := Simple{URL: at, Headers: []string{header}, Size: -1}
		base, err := s.Base()
		sc, err2 := s.Scenario()
		if err != nil && err2 == nil {
			t.Fatalf("%q has no base (%v), but a scenario", at, err)
		}
		if err2 != nil {
			return
		}
		if base == "" || len(sc.Routes()) != 1 {
			t.Fatalf("%q: base %q, routes %v", at, base, sc.Routes())
		}
	})
}
