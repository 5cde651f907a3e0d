package trace

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	logs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	metrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
	_ "google.golang.org/grpc/encoding/gzip" // exporters may compress
)

// Bounds of a Receiver. A walk of 1,000 requests with 50 calls each is 50,000
// spans; an exporter sends at most some hundred spans (100 KB) at a time.
const (
	maxSpans     = 200_000
	maxSpanBytes = 256 << 20
	maxBody      = 16 << 20 // as sent, and after decompression
)

// Receiver takes OpenTelemetry spans by OTLP (HTTP with protobuf or JSON, and
// gRPC) and keeps them in memory, the first 200,000. Metrics and logs are
// accepted and dropped, so that programs that send them do not complain.
type Receiver struct {
	http      *http.Server
	grpc      *grpc.Server
	httpAddr  string
	grpcAddr  string
	stopWatch func() bool
	once      sync.Once
	serving   sync.WaitGroup

	mu      sync.Mutex
	spans   []span
	bytes   int
	dropped int64
	refused int64 // messages that could not be read
}

// Listen receives spans at httpAddr and grpcAddr ("127.0.0.1:4318", port 0 for
// a free one); an empty one is left out. It ends with ctx or Close.
func Listen(ctx context.Context, httpAddr, grpcAddr string) (*Receiver, error) {
	r := &Receiver{}
	if httpAddr != "" {
		l, err := net.Listen("tcp", httpAddr)
		if err != nil {
			return nil, fmt.Errorf("receive spans at %s: %w; is another collector running there? Choose another evidence.otlp", httpAddr, err)
		}
		mux := http.NewServeMux()
		mux.HandleFunc("/v1/traces", r.traces)
		mux.HandleFunc("/v1/metrics", dropSignal)
		mux.HandleFunc("/v1/logs", dropSignal)
		r.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, MaxHeaderBytes: 64 << 10}
		r.httpAddr = l.Addr().String()
		r.serving.Go(func() { r.http.Serve(l) })
	}
	if grpcAddr != "" {
		l, err := net.Listen("tcp", grpcAddr)
		if err != nil {
			r.Close()
			return nil, fmt.Errorf("receive spans at %s: %w; is another collector running there? Choose another evidence.otlp_grpc", grpcAddr, err)
		}
		r.grpc = grpc.NewServer(grpc.MaxRecvMsgSize(maxBody))
		collector.RegisterTraceServiceServer(r.grpc, &traceService{r: r})
		metrics.RegisterMetricsServiceServer(r.grpc, metricsService{})
		logs.RegisterLogsServiceServer(r.grpc, logsService{})
		r.grpcAddr = l.Addr().String()
		r.serving.Go(func() { r.grpc.Serve(l) })
	}
	r.stopWatch = context.AfterFunc(ctx, func() { r.stop() })
	return r, nil
}

// Addrs are the addresses it listens at; "" for what it does not.
func (r *Receiver) Addrs() (httpAddr, grpcAddr string) { return r.httpAddr, r.grpcAddr }

// Close ends receiving. The spans stay.
func (r *Receiver) Close() {
	if r.stopWatch != nil {
		r.stopWatch()
	}
	r.stop()
	r.serving.Wait()
}

func (r *Receiver) stop() {
	r.once.Do(func() {
		if r.http != nil {
			r.http.Close()
		}
		if r.grpc != nil {
			r.grpc.Stop()
		}
	})
}

// Reset forgets all spans.
func (r *Receiver) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spans, r.bytes, r.dropped, r.refused = nil, 0, 0, 0
}

// Spans is how many are kept.
func (r *Receiver) Spans() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.spans)
}

func (r *Receiver) keep(spans []span) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range spans {
		n := spans[i].size()
		if len(r.spans) >= maxSpans || r.bytes+n > maxSpanBytes {
			r.dropped += int64(len(spans) - i)
			return
		}
		r.spans, r.bytes = append(r.spans, spans[i]), r.bytes+n
	}
}

func (r *Receiver) refuse() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused++
}

// traces is POST /v1/traces (OTLP specification, "OTLP/HTTP").
func (r *Receiver) traces(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "spans are sent by POST", http.StatusMethodNotAllowed)
		return
	}
	kind, _, _ := strings.Cut(req.Header.Get("Content-Type"), ";")
	decode, answer := decodeProto, ""
	switch strings.TrimSpace(strings.ToLower(kind)) {
	case "application/x-protobuf":
	case "application/json":
		decode, answer = decodeJSON, "{}"
	default:
		r.refuse()
		http.Error(w, "Content-Type must be application/x-protobuf or application/json", http.StatusUnsupportedMediaType)
		return
	}
	data, err := body(w, req)
	if errors.Is(err, errTooLarge) {
		r.refuse()
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	var spans []span
	if err == nil {
		spans, err = decode(data)
	}
	if err != nil {
		r.refuse()
		http.Error(w, "the spans cannot be read", http.StatusBadRequest)
		return
	}
	r.keep(spans)
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(http.StatusOK)
	w.Write([]byte(answer))
}

// body reads a request's body, unpacked.
func body(w http.ResponseWriter, req *http.Request) ([]byte, error) {
	raw := http.MaxBytesReader(w, req.Body, maxBody)
	switch req.Header.Get("Content-Encoding") {
	case "", "identity":
		data, err := readBounded(raw, maxBody)
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			err = errTooLarge
		}
		return data, err
	case "gzip":
		z, err := gzip.NewReader(raw)
		if err != nil {
			return nil, err
		}
		return readBounded(z, maxBody)
	}
	return nil, errors.New("unknown Content-Encoding")
}

// dropSignal takes metrics and logs, which are not used.
func dropSignal(w http.ResponseWriter, req *http.Request) {
	kind, _, _ := strings.Cut(req.Header.Get("Content-Type"), ";")
	if _, err := readBounded(http.MaxBytesReader(w, req.Body, maxBody), maxBody); err != nil {
		http.Error(w, errTooLarge.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	w.Header().Set("Content-Type", kind)
	if strings.Contains(kind, "json") {
		w.Write([]byte("{}"))
	}
}

// traceService is OTLP/gRPC's.
type traceService struct {
	collector.UnimplementedTraceServiceServer
	r *Receiver
}

// Export keeps the spans of one message.
func (t *traceService) Export(_ context.Context, req *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	t.r.keep(fromProto(req))
	return &collector.ExportTraceServiceResponse{}, nil
}

type metricsService struct {
	metrics.UnimplementedMetricsServiceServer
}

// Export drops metrics.
func (metricsService) Export(context.Context, *metrics.ExportMetricsServiceRequest) (*metrics.ExportMetricsServiceResponse, error) {
	return &metrics.ExportMetricsServiceResponse{}, nil
}

type logsService struct {
	logs.UnimplementedLogsServiceServer
}

// Export drops logs.
func (logsService) Export(context.Context, *logs.ExportLogsServiceRequest) (*logs.ExportLogsServiceResponse, error) {
	return &logs.ExportLogsServiceResponse{}, nil
}
