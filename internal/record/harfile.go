package record

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/url"
	"slices"
	"strings"
	"time"
)

// harFile is what of a HAR 1.2 file is used.
type harFile struct {
	Log struct {
		Pages   []harPage  `json:"pages"`
		Entries []harEntry `json:"entries"`
	} `json:"log"`
}

type harPage struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

type harEntry struct {
	Page    string     `json:"pageref"`
	Started time.Time  `json:"startedDateTime"`
	Time    float64    `json:"time"` // ms
	Request harRequest `json:"request"`
	Answer  harAnswer  `json:"response"`

	url  *url.URL
	body string // of the answer
}

type harRequest struct {
	Method  string      `json:"method"`
	URL     string      `json:"url"`
	Headers []harHeader `json:"headers"`
	Post    *harPost    `json:"postData"`
}

type harPost struct {
	Type   string      `json:"mimeType"`
	Text   string      `json:"text"`
	Params []harHeader `json:"params"`
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

// maxHAR in bytes; browsers write some megabytes.
const maxHAR = 512 << 20

func readHAR(r io.Reader) (*harFile, error) {
	var f harFile
	in := &io.LimitedReader{R: r, N: maxHAR + 1}
	if err := json.NewDecoder(in).Decode(&f); err != nil {
		if in.N <= 0 {
			return nil, fmt.Errorf("read HAR: larger than %d MiB; record a shorter visit", maxHAR>>20)
		}
		return nil, fmt.Errorf("read HAR: %w; save it with the browser's developer tools (Network, \"Save all as HAR with content\")", err)
	}
	if len(f.Log.Entries) == 0 {
		return nil, fmt.Errorf("read HAR: %w: it has no entries", ErrNothing)
	}
	for i := range f.Log.Entries {
		e := &f.Log.Entries[i]
		u, err := url.Parse(e.Request.URL)
		if err != nil {
			u = &url.URL{}
		}
		e.url, e.body = u, e.Answer.Content.Text
		if e.Answer.Content.Encoding == "base64" {
			raw, err := base64.StdEncoding.DecodeString(e.body)
			if err != nil {
				raw = nil
			}
			e.body = string(raw)
		}
	}
	slices.SortStableFunc(f.Log.Entries, func(a, b harEntry) int { return a.Started.Compare(b.Started) })
	return &f, nil
}

func (e *harEntry) origin() string { return e.url.Scheme + "://" + e.url.Host }

func (e *harEntry) end() time.Time {
	return e.Started.Add(time.Duration(max(e.Time, 0) * float64(time.Millisecond)))
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
