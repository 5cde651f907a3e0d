package load

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sort"
	"time"
)

// ConstantAnswer is what a path answers to everybody, each time.
type ConstantAnswer struct {
	Path        string `json:"path"`
	Status      int    `json:"status"`
	ContentType string `json:"content_type"`
	Body        []byte `json:"body"`
	// Headers that the application adds, "Name: value", sorted.
	Headers []string `json:"headers,omitempty"`
	// Varies says how answers differed, "" if they did not: Body and what
	// follows it is then the one answer there is.
	Varies string `json:"varies,omitempty"`
}

const (
	// constantAsks is how often a path is asked; what differs by time, count or
	// chance mostly shows at once.
	constantAsks = 4
	// constantPause lets a clock of seconds move on in between.
	constantPause = 350 * time.Millisecond
	// constantBody bounds what is kept of an answer, bytes.
	constantBody = 2048
)

// AskConstant asks each path a few times as a stranger would, over more than a
// second, and tells the answer if it was the same each time; Varies says it of
// a path that gave none, and unasked why. It sends load only where load may go.
func AskConstant(ctx context.Context, opts Options, paths []string) (answers []ConstantAnswer, unasked string, err error) {
	if len(paths) == 0 {
		return nil, "", nil
	}
	client, origin, err := plainClient(ctx, opts)
	if err != nil {
		return nil, "", err
	}
	defer client.CloseIdleConnections()
	var f failures
	out := make([]ConstantAnswer, len(paths))
	for n := range constantAsks {
		if n > 0 {
			select {
			case <-ctx.Done():
				return nil, "", ctx.Err()
			case <-time.After(constantPause):
			}
		}
		for i, p := range paths {
			now := ConstantAnswer{Path: p, Varies: notAsked}
			if !f.tooMany() {
				if err := f.ask(ctx, p, func() (err error) { now, err = askConstant(ctx, client, origin, p); return err }); err != nil {
					now.Varies = "no answer: " + err.Error()
				}
			}
			if n == 0 {
				out[i] = now
			} else if out[i].Varies == "" {
				out[i].Varies = now.differs(out[i])
			}
		}
	}
	return out, f.text(), ctx.Err()
}

// differs says how an answer differs from the first; "" if it does not.
func (a ConstantAnswer) differs(first ConstantAnswer) string {
	switch {
	case a.Varies != "":
		return a.Varies
	case a.Status != first.Status:
		return fmt.Sprintf("status %d and %d", first.Status, a.Status)
	case a.ContentType != first.ContentType:
		return "other Content-Types"
	case !bytes.Equal(a.Body, first.Body):
		return "other bytes"
	case !slices.Equal(a.Headers, first.Headers):
		return "other headers"
	}
	return ""
}

func askConstant(ctx context.Context, client *http.Client, origin, path string) (ConstantAnswer, error) {
	a := ConstantAnswer{Path: path}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, origin+path, nil)
	if err != nil {
		return a, err
	}
	res, err := client.Do(req)
	if err != nil {
		return a, err
	}
	defer res.Body.Close()
	if a.Body, err = io.ReadAll(io.LimitReader(res.Body, constantBody+1)); err != nil {
		return a, err
	}
	a.Status, a.ContentType = res.StatusCode, res.Header.Get("Content-Type")
	if len(a.Body) > constantBody {
		a.Varies = fmt.Sprintf("it has more than %d bytes", constantBody)
	}
	if len(res.Header.Values("Set-Cookie")) > 0 {
		a.Varies = "it sets a cookie"
	}
	for name, values := range res.Header {
		if serverHeaders[name] || name == "Set-Cookie" {
			continue
		}
		for _, v := range values {
			a.Headers = append(a.Headers, name+": "+v)
		}
	}
	sort.Strings(a.Headers)
	return a, nil
}
