package trace

import (
	"hash/fnv"
	"io"
	"sort"
	"strconv"
	"strings"
	"time"
)

// Kinds of spans (opentelemetry/proto/trace/v1/trace.proto, SpanKind).
const (
	spanServer = 2
	spanClient = 3
)

// spanID is the trace's and the span's ID.
type spanID struct {
	trace [16]byte
	span  [8]byte
}

// span is what is kept of one OpenTelemetry span.
type span struct {
	id         spanID
	parent     spanID
	name       string
	kind       int32
	start, end int64 // nanoseconds since 1970
	failed     bool
	message    string // of the status, the beginning
	attrs      map[string]string
	// value is a hash of db.query.parameter.*; 0: there are none.
	value uint64
}

// size in memory, about, bytes.
func (s *span) size() int {
	n := 200 + len(s.name) + len(s.message)
	for _, v := range s.attrs {
		n += 64 + len(v)
	}
	return n
}

func (s *span) took() time.Duration { return time.Duration(max(s.end-s.start, 0)) }

// first returns the first attribute that is there.
func (s *span) first(names ...string) string {
	for _, n := range names {
		if v := s.attrs[n]; v != "" {
			return v
		}
	}
	return ""
}

// keptAttributes are the attributes that are read; old and new semantic
// conventions (HTTP 1.23, database 1.28, code 1.30).
var keptAttributes = wordSet("http.request.method http.method http.route url.path url.full http.target http.url http.status_code http.response.status_code " +
	"db.system db.system.name db.statement db.query.text db.operation db.operation.name db.memcached.item db.redis.num_cmd db.operation.batch.size " +
	"net.peer.name net.peer.port net.sock.peer.addr net.sock.peer.port server.address server.port network.peer.address network.peer.port peer.service " +
	"code.filepath code.file.path code.lineno code.line.number")

// parameterPrefixes of the values of placeholders.
var parameterPrefixes = []string{"db.query.parameter.", "db.statement.parameter."}

// maxAttribute is how much of one attribute is kept, bytes.
const maxAttribute = 16 << 10

// attributeSet collects one span's attributes.
type attributeSet struct {
	attrs      map[string]string
	parameters []string
}

func (a *attributeSet) add(key, value string) {
	for _, p := range parameterPrefixes {
		if strings.HasPrefix(key, p) && len(a.parameters) < 1000 {
			a.parameters = append(a.parameters, key+"\x00"+value)
			return
		}
	}
	if !keptAttributes[key] {
		return
	}
	if a.attrs == nil {
		a.attrs = map[string]string{}
	}
	a.attrs[key] = strings.Clone(value[:min(len(value), maxAttribute)])
}

// hash of the parameters in the order of their names.
func (a *attributeSet) hash() uint64 {
	if len(a.parameters) == 0 {
		return 0
	}
	sort.Strings(a.parameters)
	return hashOf(a.parameters)
}

// hashOf is never 0.
func hashOf(texts []string) uint64 {
	h := fnv.New64a()
	for _, t := range texts {
		io.WriteString(h, strconv.Itoa(len(t))+":"+t)
	}
	return max(h.Sum64(), 1)
}
