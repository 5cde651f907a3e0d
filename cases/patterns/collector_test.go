package patterns

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"kasoku/internal/await"
)

// collector takes spans over OTLP/HTTP, keeps them as they come and hands them
// on.
type collector struct {
	URL string
	// next is where messages are handed on to: host:port; "" nowhere.
	next string

	mu    sync.Mutex
	spans []*tracepb.Span
	bad   []string // what was no spans
}

func newCollector(t *testing.T, next string) *collector {
	c := &collector{next: next}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	c.URL = server.URL
	return c
}

func (c *collector) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	var message collectorpb.ExportTraceServiceRequest
	if err == nil {
		// In JSON the IDs are hexadecimal, not base64; read as base64 they
		// still tell spans apart, which is enough here.
		if strings.HasPrefix(req.Header.Get("Content-Type"), "application/json") {
			err = protojson.Unmarshal(body, &message)
		} else {
			err = proto.Unmarshal(body, &message)
		}
	}
	if err == nil && c.next != "" {
		err = c.handOn(req, body)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil || req.URL.Path != "/v1/traces" {
		c.bad = append(c.bad, req.Method+" "+req.URL.Path+": "+fmt.Sprint(err))
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	for _, resource := range message.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			c.spans = append(c.spans, scope.Spans...)
		}
	}
}

// handOn sends the message as it came to the next collector.
func (c *collector) handOn(req *http.Request, body []byte) error {
	resp, err := http.Post("http://"+c.next+req.URL.Path, req.Header.Get("Content-Type"), bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the next collector answers %s", resp.Status)
	}
	return nil
}

// request is one server span and its client spans, in order of their start.
type request struct {
	route string // "GET /profiles/{id}"
	calls []*tracepb.Span
}

// take waits for n requests to have come and returns them; the next take
// begins anew.
func (c *collector) take(t *testing.T, n int) []request {
	t.Helper()
	var requests []request
	said := func() string { return fmt.Sprintf("%d of %d came", len(requests), n) }
	await.ForOr(t, "requests to come as spans", said, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		if len(c.bad) > 0 {
			t.Fatalf("the collector got something else: %v", c.bad)
		}
		if requests = group(slices.Clone(c.spans)); len(requests) < n {
			return false
		}
		c.spans = nil
		return true
	})
	return requests
}

// group makes requests of spans; a span without its server span is left out.
func group(spans []*tracepb.Span) []request {
	slices.SortStableFunc(spans, func(a, b *tracepb.Span) int { return int(int64(a.StartTimeUnixNano) - int64(b.StartTimeUnixNano)) })
	var out []request
	for _, root := range spans {
		if root.Kind != tracepb.Span_SPAN_KIND_SERVER {
			continue
		}
		r := request{route: attribute(root, "http.request.method", "http.method") + " " + attribute(root, "http.route")}
		for _, s := range spans {
			if s.Kind == tracepb.Span_SPAN_KIND_CLIENT && string(s.TraceId) == string(root.TraceId) {
				r.calls = append(r.calls, s)
			}
		}
		out = append(out, r)
	}
	return out
}

// attribute returns the first of the named attributes that the span has.
func attribute(s *tracepb.Span, names ...string) string {
	for _, name := range names {
		i := slices.IndexFunc(s.Attributes, func(kv *commonpb.KeyValue) bool { return kv.Key == name })
		if i >= 0 {
			return s.Attributes[i].Value.GetStringValue()
		}
	}
	return ""
}
