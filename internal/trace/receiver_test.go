package trace

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"
	logs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	metrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"kasoku/internal/await"
)

func listen(t *testing.T, grpcAddr string) *Receiver {
	t.Helper()
	r, err := Listen(context.Background(), "127.0.0.1:0", grpcAddr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// instrumented is a request as an instrumented program tells it: each call and each
// return is 100 µs after what was before it.
func instrumented(ctx context.Context, tracer oteltrace.Tracer) {
	now := time.Now()
	at := func() oteltrace.SpanOption {
		now = now.Add(100 * time.Microsecond)
		return oteltrace.WithTimestamp(now)
	}
	client := func(ctx context.Context, name string, attrs ...attribute.KeyValue) context.Context {
		ctx, s := tracer.Start(ctx, name, at(), oteltrace.WithSpanKind(oteltrace.SpanKindClient), oteltrace.WithAttributes(attrs...))
		s.End(at())
		return ctx
	}
	str := attribute.String
	ctx, root := tracer.Start(ctx, "GET", at(), oteltrace.WithSpanKind(oteltrace.SpanKindServer), oteltrace.WithAttributes(
		str("http.request.method", "GET"), str("url.path", "/users/5"), str("http.route", "/users/{id}"), attribute.Int("http.response.status_code", 200)))
	defer func() { root.End(at()) }()
	mysql, old := str("db.system.name", "mysql"), str("db.system", "mysql")
	client(ctx, "sql.connector.connect", mysql, str("server.address", "127.0.0.1"), attribute.Int("server.port", 3306))
	inner, s := tracer.Start(ctx, "handler", at(), oteltrace.WithAttributes(str("code.file.path", "user.go"), attribute.Int("code.line.number", 12)))
	client(inner, "sql.conn.query", mysql, str("db.query.text", "SELECT * FROM posts"))
	s.End(at())
	client(ctx, "sql.conn.prepare", old, str("db.statement", "SELECT * FROM users WHERE id = ?"))
	for i := range 3 {
		client(ctx, "sql.stmt.query", old, str("db.statement", "SELECT * FROM users WHERE id = ?"), attribute.Int("db.query.parameter.0", i),
			str("code.filepath", "users.php"), attribute.Int("code.lineno", 7))
	}
	_, refused := tracer.Start(ctx, "sql.conn.exec", at(), oteltrace.WithSpanKind(oteltrace.SpanKindClient), oteltrace.WithAttributes(mysql, str("db.query.text", "UPDATE t SET a = ?")))
	refused.SetStatus(codes.Error, "driver: skip fast-path; continue as if unimplemented")
	refused.End(at())
	client(ctx, "sql.rows", mysql)
	client(ctx, "sql.tx.commit", mysql)
	client(ctx, "get", str("db.system", "memcached"), str("db.operation", "get"), str("db.memcached.item", "user:1"))
	client(ctx, "set", str("db.system", "redis"), str("db.statement", "set user:1 geheim ex 60"))
	client(ctx, "redis.pipeline get get", str("db.system", "redis"), str("db.statement", "get a\nget b"))
	client(ctx, "redis.dial", str("db.system", "redis"))
	client(ctx, "GET", str("http.request.method", "GET"), str("url.full", "http://api/x/1?key=geheim"))
}

var instrumentedCalls = []string{"connect ", " SELECT * FROM posts", "prepare SELECT * FROM users WHERE id = ?",
	"execute SELECT * FROM users WHERE id = ?", "execute SELECT * FROM users WHERE id = ?", "execute SELECT * FROM users WHERE id = ?",
	" COMMIT", " get user:1", " SET user:1", " PIPELINE", "connect ", " GET http://api/x/1?key=geheim"}

func checkInstrumented(t *testing.T, r *Receiver) {
	t.Helper()
	requests, health := r.Requests(func(method, target, httpRoute string) string { return method + target + httpRoute }, SpanOptions{
		Services: func(system, addr string) string {
			if addr == "127.0.0.1:3306" {
				return "db"
			}
			return ""
		}})
	if len(requests) != 1 || health != "" {
		t.Fatalf("%d requests, health %q", len(requests), health)
	}
	q := requests[0]
	if q.Method != "GET" || q.Route != "GET/users/5/users/{id}" || q.Status != 200 || q.Took <= 0 {
		t.Errorf("%+v", q)
	}
	var got []string
	for _, c := range q.Calls {
		got = append(got, c.Kind+" "+c.Text)
		if c.Took <= 0 {
			t.Errorf("%s took %s", c.Text, c.Took)
		}
	}
	if !slices.Equal(got, instrumentedCalls) {
		t.Fatalf("got  %q\nwant %q", got, instrumentedCalls)
	}
	if c := q.Calls[0]; c.Service != "db" {
		t.Errorf("service %s", c.Service)
	}
	if a, b := q.Calls[1].Source, q.Calls[3].Source; a != "user.go:12" || b != "users.php:7" {
		t.Errorf("sources %q, %q", a, b)
	}
	if a, b := q.Calls[3].Value, q.Calls[4].Value; a == 0 || a == b {
		t.Errorf("parameters %x, %x", a, b)
	}
	found := kinds(Summarize(requests, Options{Source: "spans"}))
	if want := []string{"n+1 | SELECT * FROM users WHERE id = ? | 3/1"}; !slices.Equal(found, want) {
		t.Errorf("found %q", found)
	}
}

func TestReceiverWithExporters(t *testing.T) {
	ctx := context.Background()
	for _, kind := range []string{"http", "http gzip", "grpc", "grpc gzip"} {
		t.Run(kind, func(t *testing.T) {
			r := listen(t, "127.0.0.1:0")
			httpAddr, grpcAddr := r.Addrs()
			var exporter sdktrace.SpanExporter
			var err error
			switch kind {
			case "http":
				exporter, err = otlptracehttp.New(ctx, otlptracehttp.WithEndpoint(httpAddr), otlptracehttp.WithInsecure())
			case "http gzip":
				exporter, err = otlptracehttp.New(ctx, otlptracehttp.WithEndpoint(httpAddr), otlptracehttp.WithInsecure(), otlptracehttp.WithCompression(otlptracehttp.GzipCompression))
			case "grpc":
				exporter, err = otlptracegrpc.New(ctx, otlptracegrpc.WithEndpoint(grpcAddr), otlptracegrpc.WithInsecure())
			default:
				exporter, err = otlptracegrpc.New(ctx, otlptracegrpc.WithEndpoint(grpcAddr), otlptracegrpc.WithInsecure(), otlptracegrpc.WithCompressor("gzip"))
			}
			if err != nil {
				t.Fatal(err)
			}
			provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter))
			instrumented(ctx, provider.Tracer("test"))
			if err := provider.Shutdown(ctx); err != nil {
				t.Fatal(err)
			}
			checkInstrumented(t, r)
			r.Reset()
			if requests, health := r.Requests(nil, SpanOptions{}); len(requests) != 0 || health != "" || r.Spans() != 0 {
				t.Errorf("after Reset: %d requests, %q", len(requests), health)
			}
		})
	}
}

// phpSpans are as a PHP program sends them: times as text, a parent, PDO's
// names, a field that is not known.
const phpSpans = `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"app"}}]},"new":1,"scopeSpans":[{"scope":{"name":"x"},"spans":[
{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","name":"GET /","kind":2,"startTimeUnixNano":"1544712660000000000","endTimeUnixNano":"1544712661000000000",
 "attributes":[{"key":"http.method","value":{"stringValue":"GET"}},{"key":"http.target","value":{"stringValue":"/a/1?x=2"}},{"key":"http.status_code","value":{"intValue":200}}]},
{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b175","parentSpanId":"eee19b7ec3c1b174","name":"PDO::prepare","kind":"SPAN_KIND_CLIENT","startTimeUnixNano":"1544712660100000000","endTimeUnixNano":"1544712660100005000",
 "attributes":[{"key":"db.system","value":{"stringValue":"mysql"}},{"key":"db.statement","value":{"stringValue":"SELECT 1 FROM t"}}]},
{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b176","parentSpanId":"eee19b7ec3c1b174","name":"PDOStatement::execute","kind":3,"startTimeUnixNano":1544712660200000000,"endTimeUnixNano":1544712660300000000,
 "attributes":[{"key":"db.system","value":{"stringValue":"mysql"}}],"status":{"code":2,"message":"no"}},
{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b177","parentSpanId":"aaaaaaaaaaaaaaaa","name":"PDO::query","kind":3,"startTimeUnixNano":"1","endTimeUnixNano":"2",
 "attributes":[{"key":"db.system","value":{"stringValue":"mysql"}},{"key":"db.statement","value":{"stringValue":"SELECT 2"}}]}
]}]}]}`

func TestReceiverJSON(t *testing.T) {
	r := listen(t, "")
	addr, _ := r.Addrs()
	post := func(path, kind, encoding string, body []byte) (int, string) {
		t.Helper()
		req, _ := http.NewRequest("POST", "http://"+addr+path, bytes.NewReader(body))
		req.Header.Set("Content-Type", kind)
		req.Header.Set("Content-Encoding", encoding)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		return res.StatusCode, string(text)
	}
	if code, text := post("/v1/traces", "application/json; charset=utf-8", "", []byte(phpSpans)); code != 200 || text != "{}" {
		t.Fatalf("%d %s", code, text)
	}
	requests, health := r.Requests(nil, SpanOptions{})
	if len(requests) != 1 || health != "1 calls belong to no request that was received" {
		t.Fatalf("%+v, %q", requests, health)
	}
	if q := requests[0]; q.Route != "/a/1" || q.Took != time.Second || q.Status != 200 || len(q.Calls) != 1 || q.Calls[0].Kind != "" ||
		q.Calls[0].Text != "SELECT 1 FROM t" || !q.Calls[0].Failed || q.Calls[0].Service != SQL {
		t.Errorf("%+v", q)
	}
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	w.Write(bytes.Repeat([]byte(" "), maxBody+1))
	w.Close()
	for _, c := range []struct {
		path, kind, encoding string
		body                 []byte
		code                 int
	}{
		{"/v1/metrics", "application/json", "", []byte("{}"), 200},
		{"/v1/logs", "application/x-protobuf", "", []byte("xyz"), 200},
		{"/v1/traces", "text/plain", "", nil, 415},
		{"/v1/traces", "application/json", "", []byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"zz"}]}]}]}`), 400},
		{"/v1/traces", "application/x-protobuf", "", []byte("no protobuf"), 400},
		{"/v1/traces", "application/json", "br", []byte("{}"), 400},
		{"/v1/traces", "application/json", "gzip", z.Bytes(), 413},
		{"/v1/traces", "application/json", "", bytes.Repeat([]byte(" "), maxBody+1), 413},
		{"/other", "application/json", "", nil, 404},
	} {
		if code, _ := post(c.path, c.kind, c.encoding, c.body); code != c.code {
			t.Errorf("%s %s %s (%d bytes): %d, want %d", c.path, c.kind, c.encoding, len(c.body), code, c.code)
		}
	}
	if _, health := r.Requests(nil, SpanOptions{}); !strings.HasPrefix(health, "6 messages could not be read as spans; ") {
		t.Errorf("health %q", health)
	}
}

// Programs that send metrics and logs too must not complain.
func TestReceiverDropsOtherSignals(t *testing.T) {
	r := listen(t, "127.0.0.1:0")
	_, addr := r.Addrs()
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if _, err := metrics.NewMetricsServiceClient(conn).Export(ctx, &metrics.ExportMetricsServiceRequest{}); err != nil {
		t.Error(err)
	}
	if _, err := logs.NewLogsServiceClient(conn).Export(ctx, &logs.ExportLogsServiceRequest{}); err != nil {
		t.Error(err)
	}
}

func TestReceiverBounded(t *testing.T) {
	r := &Receiver{}
	many := make([]span, maxSpans/2)
	for range 3 {
		r.keep(many)
	}
	if _, health := r.Requests(nil, SpanOptions{}); r.Spans() != maxSpans || !strings.HasPrefix(health, fmt.Sprintf("%d spans beyond the first %d were dropped", maxSpans/2, maxSpans)) {
		t.Errorf("%d spans, %q", r.Spans(), health)
	}
}

func TestReceiverEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	r, err := Listen(ctx, "127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	addr, _ := r.Addrs()
	if _, err := Listen(ctx, addr, ""); err == nil || !strings.Contains(err.Error(), "Choose another") {
		t.Errorf("a taken port: %v", err)
	}
	cancel()
	await.For(t, "it to answer no more", func() bool {
		res, err := http.Get("http://" + addr)
		if err == nil {
			res.Body.Close()
		}
		return err != nil
	})
}

// Spans in a circle end.
func TestSpanCircle(t *testing.T) {
	id := func(n byte) spanID { return spanID{span: [8]byte{n}} }
	attrs := map[string]string{"db.system": "mysql", "db.statement": "SELECT 1"}
	spans := []span{{id: id(1), parent: id(2), kind: spanClient, attrs: attrs}, {id: id(2), parent: id(1), kind: spanClient, attrs: attrs}}
	tree := newSpanTree(spans)
	if tree.orphans != 2 || len(tree.roots) != 0 {
		t.Errorf("%+v", tree)
	}
}

// A request that a traced proxy passed on is one request.
func TestSpansOfAProxy(t *testing.T) {
	id := func(n byte) spanID { return spanID{span: [8]byte{n}} }
	get := map[string]string{"http.request.method": "GET", "url.path": "/a"}
	query := map[string]string{"db.system": "mysql", "db.statement": "SELECT 1 FROM t"}
	r := &Receiver{}
	r.keep([]span{{id: id(1), kind: spanServer, attrs: get}, {id: id(2), parent: id(1), kind: spanClient, attrs: get},
		{id: id(3), parent: id(2), kind: spanServer, attrs: get}, {id: id(4), parent: id(3), kind: spanClient, attrs: query}})
	requests, health := r.Requests(nil, SpanOptions{})
	if len(requests) != 1 || len(requests[0].Calls) != 1 || requests[0].Calls[0].Text != "SELECT 1 FROM t" || health != "" {
		t.Errorf("%+v, %q", requests, health)
	}
}

func FuzzOTLPJSON(f *testing.F) {
	f.Add([]byte(phpSpans))
	f.Fuzz(func(t *testing.T, data []byte) {
		spans, err := decodeJSON(data)
		if err != nil {
			return
		}
		r := &Receiver{}
		r.keep(spans)
		requests, _ := r.Requests(nil, SpanOptions{})
		Summarize(requests, Options{})
	})
}

func FuzzOTLPProto(f *testing.F) {
	f.Add([]byte("\n\x02\n\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if spans, err := decodeProto(data); err == nil {
			newSpanTree(spans)
		}
	})
}
