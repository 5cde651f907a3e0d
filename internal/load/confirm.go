package load

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"sort"
	"strings"
	"time"
)

// confirmTimeout bounds one plain request of ConfirmStatic.
const confirmTimeout = 10 * time.Second

// serverHeaders are those that any web server sends with a file by itself, or
// that tell nothing about the file.
var serverHeaders = map[string]bool{"Date": true, "Server": true, "Connection": true, "Keep-Alive": true, "Content-Length": true,
	"Content-Type": true, "Transfer-Encoding": true, "Last-Modified": true, "Etag": true, "Accept-Ranges": true, "X-Powered-By": true}

// ConfirmStatic asks for each sampled file once more, as a stranger would: a
// plain GET without a cookie. A file that a stranger does not get with the
// same bytes is marked Private; headers that the application adds are noted.
// It sends one request for each sample and only where load may go. One that
// gets no answer is not confirmed: it is marked Private with the reason, and
// the first of these reasons is returned as unasked. One that sets a cookie is asked for
// again by a visitor who has the cookies of the front page.
func ConfirmStatic(ctx context.Context, opts Options, samples []StaticSample) (unasked string, err error) {
	if len(samples) == 0 {
		return "", nil
	}
	client, origin, err := plainClient(ctx, opts)
	if err != nil {
		return "", err
	}
	defer client.CloseIdleConnections()
	var f failures
	var visitor *http.Client
	for i := range samples {
		s := &samples[i]
		if f.tooMany() {
			s.Private = notAsked
			continue
		}
		if err := f.ask(ctx, s.Path, func() error { return confirm(ctx, client, origin, s) }); err != nil {
			s.Private = "not asked for again: " + err.Error()
		}
		if s.Private != setsCookie {
			continue
		}
		if visitor == nil {
			visitor = visitorOf(ctx, client, origin)
		}
		s.confirmForVisitor(ctx, visitor, origin)
	}
	return f.text(), ctx.Err()
}

// setsCookie is why a file is not the same for everybody.
const setsCookie = "it sets a cookie"

// visitorOf is the client with the cookies that the front page gives.
func visitorOf(ctx context.Context, client *http.Client, origin string) *http.Client {
	visitor := *client
	visitor.Jar, _ = cookiejar.New(nil) // without options it gives no error
	if req, err := http.NewRequestWithContext(ctx, http.MethodGet, origin+"/", nil); err == nil {
		if res, err := visitor.Do(req); err == nil {
			_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxAnswer))
			res.Body.Close()
		}
	}
	return &visitor
}

// confirmForVisitor notes of a file that sets a cookie for a stranger whether a visitor
// gets the same bytes and no cookie: an application that begins a session with each
// request does so with its files, too, and whoever asks for one has been at a page.
func (s *StaticSample) confirmForVisitor(ctx context.Context, visitor *http.Client, origin string) {
	again := *s
	again.Private = ""
	if err := confirm(ctx, visitor, origin, &again); err == nil && again.Private == "" {
		s.Private, s.SetsCookie, s.CookieOnce, s.Headers = "", true, true, again.Headers
	}
}

// failures are requests after a run that got no answer: the machine may have
// no port left, the server no worker. They end no observation.
type failures struct {
	count int
	spent time.Duration
	first string
}

// notAsked is said of what is left out after too many failures.
const notAsked = "not asked for again: requests before it got no answer"

// tooMany: one request may wait as long as confirmTimeout, so that many that
// get no answer would hold up the observation.
func (f *failures) tooMany() bool { return f.spent >= confirmBudget }

// ask notes whether do, a request for what, got an answer.
func (f *failures) ask(ctx context.Context, what string, do func() error) error {
	begin := time.Now()
	err := do()
	if err == nil || ctx.Err() != nil {
		return err
	}
	f.count++
	f.spent += time.Since(begin)
	if f.first == "" {
		f.first = fmt.Sprintf("%s: %v", what, err)
	}
	return err
}

// text is "" if all got an answer.
func (f *failures) text() string {
	switch {
	case f.count == 0:
		return ""
	case f.tooMany():
		return fmt.Sprintf("%d requests got no answer and the rest was left out; the first: %s", f.count, f.first)
	}
	return fmt.Sprintf("%d requests got no answer; the first: %s", f.count, f.first)
}

func confirm(ctx context.Context, client *http.Client, origin string, s *StaticSample) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, origin+s.Path, nil)
	if err != nil {
		return err
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	// One byte more than the sample is enough to see that it differs.
	body, err := io.ReadAll(io.LimitReader(res.Body, s.Size+1))
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	switch {
	case res.StatusCode != s.Status:
		s.Private = fmt.Sprintf("a stranger gets status %d", res.StatusCode)
	case hex.EncodeToString(sum[:]) != strings.ToLower(s.SHA256):
		s.Private = "a stranger gets other bytes"
	case len(res.Header.Values("Set-Cookie")) > 0:
		s.Private = setsCookie
	}
	s.Headers = nil
	for name, values := range res.Header {
		if serverHeaders[name] || name == "Set-Cookie" {
			continue
		}
		for _, v := range values {
			s.Headers = append(s.Headers, name+": "+v)
		}
	}
	sort.Strings(s.Headers)
	return nil
}
