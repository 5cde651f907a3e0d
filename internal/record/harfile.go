package record

import (
	"encoding/base64"
	"encoding/json"
	"mime"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// harFile is what of a HAR 1.2 file is used.
type harFile struct {
	Log harLog `json:"log"`
	// bad entries that could not be read, and the first of them.
	bad    int64
	badWhy string
}

type harLog struct {
	Pages   []harPage  `json:"pages"`
	Entries []harEntry `json:"entries"`
}

type harPage struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

type harEntry struct {
	Page    string  `json:"pageref"`
	Started harTime `json:"startedDateTime"`
	Time    float64 `json:"time"` // ms
	// Cached is Chrome's "memory" or "disk".
	Cached string `json:"_fromCache"`
	// Fetched is Safari's "Memory Cache", "Disk Cache", "Network Load", ….
	Fetched  string     `json:"_fetchType"`
	Resource string     `json:"_resourceType"` // Chrome: "document", "websocket", …
	Request  harRequest `json:"request"`
	Answer   harAnswer  `json:"response"`

	url  *url.URL
	body string // of the answer
}

type harRequest struct {
	Method  string      `json:"method"`
	URL     string      `json:"url"`
	Headers []harHeader `json:"headers"`
	Post    *harPost    `json:"postData"`
	// Size of the body in bytes; -1: not known.
	Size json.RawMessage `json:"bodySize"`
}

// declared is how long the body was by what the recording says of it; 0: none, or not known.
func (r *harRequest) declared() float64 {
	n, _ := strconv.ParseFloat(string(r.Size), 64)
	for _, h := range r.Headers {
		if strings.EqualFold(h.Name, "Content-Length") {
			if v, err := strconv.ParseFloat(h.Value, 64); err == nil {
				n = max(n, v)
			}
		}
	}
	return n
}

type harPost struct {
	Type   string      `json:"mimeType"`
	Text   string      `json:"text"`
	Params []harHeader `json:"params"`
	// Encoding "base64" of Text, no part of HAR 1.2.
	Encoding string `json:"encoding"`
}

type harHeader struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	File  string `json:"fileName"`
}

type harAnswer struct {
	Status   int         `json:"status"`
	Headers  []harHeader `json:"headers"`
	Redirect string      `json:"redirectURL"`
	Content  struct {
		Type     string `json:"mimeType"`
		Text     string `json:"text"`
		Encoding string `json:"encoding"`
	} `json:"content"`
}

func (e *harEntry) parse() {
	u, err := url.Parse(parseable(e.Request.URL))
	if err != nil {
		u = &url.URL{}
	}
	dropPort(u)
	e.url, e.body = u, e.Answer.Content.Text
	e.Request.Method = strings.ToUpper(e.Request.Method)
	if strings.EqualFold(e.Answer.Content.Encoding, "base64") {
		raw, err := base64.StdEncoding.DecodeString(e.body)
		if err != nil {
			raw = nil
		}
		e.body = string(raw)
	}
	if e.Answer.Content.Type == "" { // some proxies leave it out
		e.Answer.Content.Type = e.header("Content-Type")
	}
	e.decodePost()
}

// decodePost unpacks a request's body that a proxy wrote as Base64 (the field
// is an extension of Fiddler and of mitmproxy), and finds its type in the
// headers where postData has none.
func (e *harEntry) decodePost() {
	p := e.Request.Post
	if p == nil {
		return
	}
	if strings.EqualFold(p.Encoding, "base64") {
		if raw, err := base64.StdEncoding.DecodeString(p.Text); err == nil {
			p.Text = string(raw)
		}
	}
	if p.Type == "" {
		for _, h := range e.Request.Headers {
			if strings.EqualFold(h.Name, "Content-Type") {
				p.Type = h.Value
			}
		}
	}
}

func (e *harEntry) origin() string { return e.url.Scheme + "://" + e.url.Host }

func (e *harEntry) end() time.Time {
	return e.Started.Time.Add(time.Duration(max(e.Time, 0) * float64(time.Millisecond)))
}

// answerType is the Content-Type without its parameters.
func (e *harEntry) answerType() string { return baseType(e.Answer.Content.Type) }

func baseType(s string) string {
	t, _, err := mime.ParseMediaType(s)
	if err != nil {
		t, _, _ = strings.Cut(s, ";")
		t = strings.ToLower(strings.TrimSpace(t))
	}
	return t
}

// isPageAsset: a file that a browser fetches for a page.
func (e *harEntry) isPageAsset() bool {
	t := e.answerType()
	named := strings.HasPrefix(t, "image/") || strings.HasPrefix(t, "font/") || t == "text/css" || strings.HasSuffix(t, "javascript")
	status := e.Answer.Status == 200 || e.Answer.Status == 304
	return e.Request.Method == "GET" && status && (named || isAsset(e.target())) && !strings.Contains(e.target(), "${")
}

func (e *harEntry) target() string { return sendable(e.url.RequestURI()) }

func (e *harEntry) header(name string) string {
	for _, h := range e.Answer.Headers {
		if strings.EqualFold(h.Name, name) {
			return h.Value
		}
	}
	return ""
}
