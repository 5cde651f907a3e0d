package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kasoku/internal/load"
)

// recorder writes a HAR of what a client does, as a browser would.
type recorder struct {
	t      *testing.T
	client *http.Client
	file   harFile
	page   string
	at     time.Time
}

func newRecorder(t *testing.T) *recorder {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &recorder{t: t, at: begin, client: &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

func (r *recorder) do(method, target, contentType, body string, headers ...string) *harEntry {
	r.t.Helper()
	q, err := http.NewRequest(method, target, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	e := harEntry{Page: r.page, Started: harTime{r.at}, Time: 50}
	r.at = r.at.Add(200 * time.Millisecond)
	e.Request = harRequest{Method: method, URL: target, Headers: []harHeader{{Name: "Cookie", Value: "sid=s1"}, {Name: "Authorization", Value: "Bearer s3cret"}, {Name: "Accept", Value: "text/html,*/*;q=0.8"}}}
	for i := 0; i < len(headers); i += 2 {
		q.Header.Set(headers[i], headers[i+1])
		e.Request.Headers = append(e.Request.Headers, harHeader{Name: headers[i], Value: headers[i+1]})
	}
	if contentType != "" {
		q.Header.Set("Content-Type", contentType)
		e.Request.Post = &harPost{Type: contentType, Text: body}
	}
	res, err := r.client.Do(q)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	e.Answer.Status, e.Answer.Redirect = res.StatusCode, res.Header.Get("Location")
	e.Answer.Content.Type, e.Answer.Content.Text = res.Header.Get("Content-Type"), string(data)
	e.body = string(data)
	r.file.Log.Entries = append(r.file.Log.Entries, e)
	return &r.file.Log.Entries[len(r.file.Log.Entries)-1]
}

func (r *recorder) har() *bytes.Reader {
	data, err := json.Marshal(r.file)
	if err != nil {
		r.t.Fatal(err)
	}
	return bytes.NewReader(data)
}

// bank wants the token of its form, of its JSON and of its page's link back,
// which it makes anew each time.
func bank(t *testing.T) *httptest.Server {
	var n atomic.Int64
	token := func() string { return fmt.Sprintf("t0k%013dx", n.Add(1)) }
	valid := func(s string) bool {
		var i int64
		_, err := fmt.Sscanf(s, "t0k%013dx", &i)
		return err == nil && i >= 1 && i <= n.Load() && i > n.Load()-10_000
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: "s1", Path: "/"})
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, "<form><input type=\"hidden\" name=\"csrf_token\" value=\"%s\">\n<input name=\"login\"></form>", token())
	})
	mux.HandleFunc("GET /a.css", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/css") })
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		if c, err := r.Cookie("sid"); err != nil || c.Value != "s1" || !valid(r.FormValue("csrf_token")) || r.FormValue("login") != `b ${b}&"` {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		http.Redirect(w, r, fmt.Sprintf("/orders/%d", n.Add(1)), http.StatusFound)
	})
	mux.HandleFunc("GET /orders/{id}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("id") <= "1" {
			http.Error(w, "gone", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"items": [{"key": %q}]}`, token())
	})
	mux.HandleFunc("POST /api", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Key  string `json:"key"`
			N    int
			Deep []any
		}
		if json.NewDecoder(r.Body).Decode(&in) != nil || !valid(in.Key) || in.N != 3 || len(in.Deep) != 3 || !valid(r.Header.Get("X-Key")) {
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusCreated)
	})
	mux.HandleFunc("POST /upload", func(w http.ResponseWriter, r *http.Request) {
		if !valid(r.FormValue("csrf")) || r.FormValue("note") != "two\r\nlines" {
			http.Error(w, "no", http.StatusBadRequest)
		}
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv
}

func recordBank(t *testing.T, url_ string) *recorder {
	r := newRecorder(t)
	r.page = "page_1"
	form := r.do("GET", url_+"/", "", "")
	token := strings.Split(strings.Split(form.body, `value="`)[1], `"`)[0]
	r.do("GET", url_+"/a.css", "", "")
	to := r.do("POST", url_+"/login", "application/x-www-form-urlencoded",
		url.Values{"csrf_token": {token}, "login": {`b ${b}&"`}, "password": {"s3cret"}}.Encode()).Answer.Redirect
	r.page, r.at = "page_2", r.at.Add(3*time.Second)
	order := r.do("GET", url_+to, "", "")
	key := strings.Split(order.body, `"`)[5]
	r.do("POST", url_+"/api", "application/json", `{"key":"`+key+`","N":3,"Deep":[null,{"a b":1.5},"é\n"],"password":"s3cret"}`, "X-Key", key)
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	if err := errors.Join(w.WriteField("csrf", key), w.WriteField("note", "two\r\nlines"), w.Close()); err != nil {
		t.Fatal(err)
	}
	r.do("POST", url_+"/upload", w.FormDataContentType(), b.String())
	for _, e := range r.file.Log.Entries {
		if e.Answer.Status >= 400 {
			t.Fatalf("%s %s: %d", e.Request.Method, e.Request.URL, e.Answer.Status)
		}
	}
	return r
}

// A visit with tokens in forms, JSON, headers and links is recorded, and runs
// with the tokens that the service gives out then.
func TestHARRuns(t *testing.T) {
	srv := bank(t)
	r := recordBank(t, srv.URL)
	r.file.Log.Entries = append(r.file.Log.Entries, harEntry{Started: harTime{begin}, Request: harRequest{Method: "GET", URL: "https://ads.example/x"}, Answer: harAnswer{Status: 200}})
	d, err := FromHAR(r.har(), HAROptions{Think: true, Source: "bank.har"})
	if err != nil {
		t.Fatal(err)
	}
	text := string(d.Scenario())
	want(t, "the scenario", text, `"csrf_token": "${csrf-token}"`, `csrf-token: {regexp:`, `{json: "$.items[0].key"}`, "- /a.css", "request: GET ${location}", "route: GET /orders/:id",
		`"login": "b $${b}&\""`, "status: 302", "think: 3.15s", "multipart/form-data", "type: \"text/html\"", `"password": "masked"`)
	if strings.Contains(text, "s3cret") {
		t.Errorf("a secret is in the scenario:\n%s", text)
	}
	want(t, "the report", strings.Join(append(d.LeftOut, d.Notes...), "\n"), "https://ads.example", "Authorization", "password")
	// Without the recorded pause it runs quickly.
	if d, err = FromHAR(r.har(), HAROptions{}); err != nil {
		t.Fatal(err)
	}
	_, s := written(t, d)
	var res *load.Result
	for window := 300 * time.Millisecond; window < 20*time.Second && (res == nil || res.Succeeded < 20); window *= 2 { // as long as a busy machine needs
		if res, err = load.Run(t.Context(), load.Options{Scenario: s, URL: srv.URL, Workload: 3, Warmup: -1, Window: window}); err != nil {
			t.Fatal(err)
		}
	}
	if res.Succeeded < 20 || res.Mismatches+res.Errors > 0 {
		t.Errorf("%d right, %d wrong: %+v\n%s", res.Succeeded, res.Mismatches, res.Samples, d.Scenario())
	}
}

func TestHARPerPage(t *testing.T) {
	srv := bank(t)
	r := recordBank(t, srv.URL)
	r.file.Log.Pages = []harPage{{"page_1", "Log in: bank"}, {"page_2", "Orders"}}
	d, err := FromHAR(r.har(), HAROptions{PerPage: true, KeepSecrets: true})
	if err != nil {
		t.Fatal(err)
	}
	written(t, d)
	want(t, "the scenario", string(d.Scenario()), "Log in: bank", "2: Orders", "s3cret")
}

func TestHARErrors(t *testing.T) {
	for name, text := range map[string]string{"no JSON": "<html>", "empty": `{"log":{"entries":[]}}`,
		"nothing answered": `{"log":{"entries":[{"startedDateTime":"2024-05-17T10:00:00Z","request":{"method":"GET","url":"http://a/"},"response":{"status":0}}]}}`} {
		if _, err := FromHAR(strings.NewReader(text), HAROptions{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	good := `{"log":{"entries":[{"startedDateTime":"2024-05-17T10:00:00Z","request":{"method":"GET","url":"http://a/"},"response":{"status":200}}]}}`
	if _, err := FromHAR(strings.NewReader(good), HAROptions{Origin: "http://b"}); !errors.Is(err, ErrNothing) || !strings.Contains(err.Error(), "http://a") {
		t.Errorf("unknown origin: %v", err)
	}
}

// FuzzHAR: whatever the file, the draft is an error or a right scenario.
func FuzzHAR(f *testing.F) {
	f.Add([]byte(`{"log":{"entries":[{"startedDateTime":"2024-05-17T10:00:00Z","request":{"method":"POST","url":"http://a/b?c=${d}&token=x","headers":[{"name":"X-A","value":"${"}],"postData":{"mimeType":"application/json","text":"{\"a\":[1,\"${b}\",{\"c\":1e5}]}"}},"response":{"status":200,"content":{"mimeType":"text/html","text":"<input type=hidden name=\"a\" value=\"bcdefgh\">"}}}]}}`))
	f.Add([]byte(`{"log":{"entries":[{"startedDateTime":"2024-05-17T10:00:00Z","request":{"method":"POST","url":"http://a/1/2","postData":{"mimeType":"application/x-www-form-urlencoded","text":"a=%zz&&=&b=${x"}},"response":{"status":302}}]}}`))
	dir, err := os.MkdirTemp("", "kh")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { os.RemoveAll(dir) })
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := FromHAR(bytes.NewReader(data), HAROptions{Think: true})
		if err != nil {
			return
		}
		if _, err := load.Parse("scenario.yaml", d.Scenario()); err != nil && len(d.Scenario()) < 200<<10 {
			t.Errorf("%v\n%s", err, d.Scenario())
		}
	})
}
