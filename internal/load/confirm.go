package load

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
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
// It sends one request for each sample and only where load may go.
func ConfirmStatic(ctx context.Context, opts Options, samples []StaticSample) error {
	if len(samples) == 0 {
		return nil
	}
	client, origin, err := plainClient(ctx, opts)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	for i := range samples {
		if err := confirm(ctx, client, origin, &samples[i]); err != nil {
			return fmt.Errorf("ask for %s without a cookie: %w", samples[i].Path, err)
		}
	}
	return nil
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
		s.Private = "it sets a cookie"
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
