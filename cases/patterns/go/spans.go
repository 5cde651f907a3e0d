package main

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// tracer makes spans with the attributes of the present semantic conventions:
// http.request.method, db.system.name, db.query.text, code.file.path.
var tracer trace.Tracer = noop.NewTracerProvider().Tracer("patterns")

// peers are the attributes of where each system's server is.
var peers = map[string][]attribute.KeyValue{}

// startTracing sends spans to the collector of the setting otel ("" for none);
// flush sends what is left.
func startTracing(ctx context.Context, conf map[string]string) (flush func(), err error) {
	url := conf["otel"]
	if url == "" {
		return func() {}, nil
	}
	for system, setting := range map[string]string{"mysql": "db", "memcached": "memcached", "redis": "redis"} {
		port, err := strconv.Atoi(conf[setting+"_port"])
		if err != nil {
			return nil, fmt.Errorf("%s_port in the settings: %w", setting, err)
		}
		peers[system] = []attribute.KeyValue{attribute.String("server.address", conf[setting+"_host"]), attribute.Int("server.port", port)}
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(url+"/v1/traces"))
	if err != nil {
		return nil, fmt.Errorf("spans to %s (otel in the settings): %w", url, err)
	}
	// A short delay: whoever looks at the case wants to see a request soon.
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter, sdktrace.WithBatchTimeout(200*time.Millisecond)))
	tracer = provider.Tracer("patterns")
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		_ = provider.Shutdown(ctx) // the collector may have gone before
	}, nil
}

func startRequest(req *http.Request) (context.Context, trace.Span) {
	method, path, _ := strings.Cut(req.Pattern, " ")
	return tracer.Start(req.Context(), req.Pattern, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
		attribute.String("http.request.method", method),
		attribute.String("url.path", req.URL.Path),
		attribute.String("http.route", path),
	))
}

func endRequest(span trace.Span, status int) {
	span.SetAttributes(attribute.Int("http.response.status_code", status))
	if status >= 500 {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

// call notes what do does as a call to a server behind the service. Outside of
// a request (a pool's own connections) it notes nothing.
func call(ctx context.Context, name, system, text string, do func(context.Context) error, more ...attribute.KeyValue) error {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return do(ctx)
	}
	attributes := append(more, attribute.String("db.system.name", system))
	attributes = append(attributes, peers[system]...)
	if text != "" {
		attributes = append(attributes, attribute.String("db.query.text", text))
	}
	if file, line, ok := caller(); ok {
		attributes = append(attributes, attribute.String("code.file.path", file), attribute.Int("code.line.number", line))
	}
	ctx, span := tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...))
	defer span.End()
	err := do(ctx)
	if err != nil {
		span.SetStatus(codes.Error, err.Error())
	}
	return err
}

// plumbing are the files that stand between a route and call.
var plumbing = []string{"/spans.go", "/database.go", "/clients.go"}

// caller is the line of a route that made the call.
func caller() (file string, line int, ok bool) {
	var pcs [32]uintptr // deeper than the way from a route through a client to call
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		frame, more := frames.Next()
		if strings.Contains(frame.File, "cases/patterns/go/") && !hasAnySuffix(frame.File, plumbing) {
			return frame.File, frame.Line, true
		}
		if !more {
			return "", 0, false
		}
	}
}

func hasAnySuffix(s string, suffixes []string) bool {
	for _, suffix := range suffixes {
		if strings.HasSuffix(s, suffix) {
			return true
		}
	}
	return false
}
