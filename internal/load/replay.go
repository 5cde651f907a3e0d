package load

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Replay sends a request once more, as it was sent (Answer.Request,
// Sight.Request), to opts.URL: to the front door again, or to a server behind
// it. Its Host header stays. change may alter it; nil: as it is. It goes only
// where load may go, and only GET and HEAD are sent twice. The Answer holds the
// request as altered. Without a scenario nothing is masked.
func Replay(ctx context.Context, opts Options, request []byte, change func(*http.Request)) (Visit, Answer, error) {
	return ReplayWithin(ctx, confirmTimeout, opts, request, change)
}

// ReplayWithin is Replay of a service that may take longer than usual to answer.
func ReplayWithin(ctx context.Context, longest time.Duration, opts Options, request []byte, change func(*http.Request)) (Visit, Answer, error) {
	req, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(request)))
	if err != nil {
		return Visit{}, Answer{}, fmt.Errorf("ask again: %w", err)
	}
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		return Visit{}, Answer{}, fmt.Errorf("ask again: a %s request is not sent twice", req.Method)
	}
	client, origin, err := plainClient(ctx, opts)
	if err != nil {
		return Visit{}, Answer{}, fmt.Errorf("ask again: %w", err)
	}
	defer client.CloseIdleConnections()
	client.Timeout = longest
	again, err := http.NewRequestWithContext(ctx, req.Method, origin+req.RequestURI, nil)
	if err != nil {
		return Visit{}, Answer{}, fmt.Errorf("ask again: %w", err)
	}
	again.Header, again.Host = req.Header, req.Host
	again.Header.Del("Accept-Encoding") // the answer is compared as text
	if change != nil {
		change(again)
	}
	res, err := client.Do(again)
	if err != nil {
		return Visit{}, Answer{}, fmt.Errorf("ask again: %w", err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return Visit{}, Answer{}, fmt.Errorf("ask again: %w", err)
	}
	var head bytes.Buffer
	if err := res.Header.Write(&head); err != nil {
		return Visit{}, Answer{}, fmt.Errorf("ask again: %w", err)
	}
	var sent bytes.Buffer
	fmt.Fprintf(&sent, "%s %s HTTP/1.1\r\nHost: %s\r\n", again.Method, again.URL.RequestURI(), again.Host)
	if err := again.Header.Write(&sent); err != nil {
		return Visit{}, Answer{}, fmt.Errorf("ask again: %w", err)
	}
	sent.WriteString("\r\n")
	a := Answer{Request: sent.Bytes(), Head: head.Bytes(), Type: res.Header.Get("Content-Type"), Location: res.Header.Get("Location"),
		Body: body}
	if opts.Scenario != nil {
		a.Body = opts.Scenario.Mask(body)
	}
	for _, c := range res.Cookies() {
		a.Cookies = append(a.Cookies, c.Name)
	}
	return Visit{Method: req.Method, Target: req.RequestURI, Status: res.StatusCode}, a, nil
}
