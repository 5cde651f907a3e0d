package trace

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// maxMessage is how much of a status's message is kept, bytes.
const maxMessage = 200

// decodeProto reads an ExportTraceServiceRequest.
func decodeProto(data []byte) ([]span, error) {
	var req collector.ExportTraceServiceRequest
	if err := proto.Unmarshal(data, &req); err != nil {
		return nil, fmt.Errorf("read spans: %w", err)
	}
	return fromProto(&req), nil
}

func fromProto(req *collector.ExportTraceServiceRequest) []span {
	var out []span
	for _, r := range req.GetResourceSpans() {
		for _, sc := range r.GetScopeSpans() {
			for _, s := range sc.GetSpans() {
				if x, ok := protoSpan(s); ok {
					out = append(out, x)
				}
			}
		}
	}
	return out
}

func protoSpan(s *otlp.Span) (span, bool) {
	x := span{name: s.GetName(), kind: int32(s.GetKind()), start: int64(s.GetStartTimeUnixNano()), end: int64(s.GetEndTimeUnixNano()),
		failed: s.GetStatus().GetCode() == otlp.Status_STATUS_CODE_ERROR, message: cut(s.GetStatus().GetMessage(), maxMessage)}
	if copy(x.id.trace[:], s.GetTraceId()) != 16 || copy(x.id.span[:], s.GetSpanId()) != 8 {
		return x, false
	}
	if copy(x.parent.span[:], s.GetParentSpanId()) == 8 {
		x.parent.trace = x.id.trace
	}
	var set attributeSet
	for _, a := range s.GetAttributes() {
		if v, ok := protoValue(a.GetValue()); ok {
			set.add(a.GetKey(), v)
		}
	}
	x.attrs, x.value = set.attrs, set.hash()
	return x, true
}

func protoValue(v *common.AnyValue) (string, bool) {
	switch v := v.GetValue().(type) {
	case *common.AnyValue_StringValue:
		return v.StringValue, true
	case *common.AnyValue_IntValue:
		return strconv.FormatInt(v.IntValue, 10), true
	case *common.AnyValue_BoolValue:
		return strconv.FormatBool(v.BoolValue), true
	case *common.AnyValue_DoubleValue:
		return strconv.FormatFloat(v.DoubleValue, 'g', -1, 64), true
	}
	return "", false
}

func cut(s string, n int) string { return s[:min(len(s), n)] }

// OTLP/JSON: IDs are hexadecimal, 64-bit numbers are texts or numbers, enums
// numbers, unknown fields are to be passed over (OTLP specification, "JSON
// Protobuf Encoding").
type jsonRequest struct {
	ResourceSpans []struct {
		ScopeSpans []struct {
			Spans []jsonSpan `json:"spans"`
		} `json:"scopeSpans"`
	} `json:"resourceSpans"`
}

type jsonSpan struct {
	TraceID    string     `json:"traceId"`
	SpanID     string     `json:"spanId"`
	ParentID   string     `json:"parentSpanId"`
	Name       string     `json:"name"`
	Kind       jsonNumber `json:"kind"`
	Start      jsonNumber `json:"startTimeUnixNano"`
	End        jsonNumber `json:"endTimeUnixNano"`
	Attributes []struct {
		Key   string    `json:"key"`
		Value jsonValue `json:"value"`
	} `json:"attributes"`
	Status struct {
		Code    jsonNumber `json:"code"`
		Message string     `json:"message"`
	} `json:"status"`
}

type jsonValue struct {
	String *string     `json:"stringValue"`
	Int    *jsonNumber `json:"intValue"`
	Bool   *bool       `json:"boolValue"`
	Double *float64    `json:"doubleValue"`
}

// jsonNumber is a whole number, as such or as text. Names of enums are known
// too; some exporters write them.
type jsonNumber int64

var enumNames = map[string]jsonNumber{"SPAN_KIND_SERVER": spanServer, "SPAN_KIND_CLIENT": spanClient, "STATUS_CODE_ERROR": statusError,
	"SPAN_KIND_UNSPECIFIED": 0, "SPAN_KIND_INTERNAL": 1, "SPAN_KIND_PRODUCER": 4, "SPAN_KIND_CONSUMER": 5, "STATUS_CODE_UNSET": 0, "STATUS_CODE_OK": 1}

const statusError = 2

func (n *jsonNumber) UnmarshalJSON(data []byte) error {
	text := string(data)
	if text == "null" {
		return nil
	}
	if len(text) > 1 && text[0] == '"' {
		text = text[1 : len(text)-1]
	}
	if v, ok := enumNames[text]; ok {
		*n = v
		return nil
	}
	if text == "" {
		return nil
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		f, ferr := strconv.ParseFloat(text, 64)
		if ferr != nil || f != float64(int64(f)) {
			return fmt.Errorf("%q is not a whole number", cut(text, 40))
		}
		v = int64(f)
	}
	*n = jsonNumber(v)
	return nil
}

// decodeJSON reads an ExportTraceServiceRequest in OTLP's JSON form.
func decodeJSON(data []byte) ([]span, error) {
	var req jsonRequest
	if err := json.Unmarshal(data, &req); err != nil {
		return nil, fmt.Errorf("read spans: %w", err)
	}
	var out []span
	for _, r := range req.ResourceSpans {
		for _, sc := range r.ScopeSpans {
			for i := range sc.Spans {
				x, err := sc.Spans[i].span()
				if err != nil {
					return nil, fmt.Errorf("read spans: span %d: %w", len(out)+1, err)
				}
				out = append(out, x)
			}
		}
	}
	return out, nil
}

func (s *jsonSpan) span() (span, error) {
	x := span{name: s.Name, kind: int32(s.Kind), start: int64(s.Start), end: int64(s.End), failed: s.Status.Code == statusError, message: cut(s.Status.Message, maxMessage)}
	if !hexID(x.id.trace[:], s.TraceID) || !hexID(x.id.span[:], s.SpanID) {
		return x, errors.New("traceId must be 32 and spanId 16 hexadecimal digits")
	}
	if s.ParentID != "" {
		if !hexID(x.parent.span[:], s.ParentID) {
			return x, errors.New("parentSpanId must be 16 hexadecimal digits")
		}
		x.parent.trace = x.id.trace
	}
	var set attributeSet
	for _, a := range s.Attributes {
		switch v := a.Value; {
		case v.String != nil:
			set.add(a.Key, *v.String)
		case v.Int != nil:
			set.add(a.Key, strconv.FormatInt(int64(*v.Int), 10))
		case v.Bool != nil:
			set.add(a.Key, strconv.FormatBool(*v.Bool))
		case v.Double != nil:
			set.add(a.Key, strconv.FormatFloat(*v.Double, 'g', -1, 64))
		}
	}
	x.attrs, x.value = set.attrs, set.hash()
	return x, nil
}

func hexID(to []byte, text string) bool {
	if len(text) != 2*len(to) {
		return false
	}
	_, err := hex.Decode(to, []byte(text))
	return err == nil
}

// readBounded reads at most limit bytes; more is an error.
func readBounded(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = errTooLarge
	}
	return data, err
}

var errTooLarge = errors.New("the body is too large")
