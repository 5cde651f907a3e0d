package evidence

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/stack"
	"kasoku/internal/trace"
)

// ProbeOptions say what a Probe reads.
type ProbeOptions struct {
	// GeneralLogs: database service → general log file that is being written
	// (see GeneralLogVariables). Databases without one are not judged.
	GeneralLogs map[string]string
}

// GeneralLogVariables returns the server variables to change, and their values
// as the server prints them, so that every statement of every connection is
// written to file, which must be in a folder where the server's user may
// write. Variables that are right already are left out. Sources: MariaDB
// Knowledge Base, "General Query Log"; MySQL manual, "The General Query Log".
func GeneralLogVariables(db *Database, file string) map[string]string {
	want := map[string]string{"general_log": "ON", "general_log_file": file}
	if !strings.Contains(strings.ToUpper(db.Variables["log_output"]), "FILE") {
		want["log_output"] = "FILE"
	}
	for name, value := range want {
		if have, ok := db.Variables[name]; ok && have == value {
			delete(want, name)
		}
	}
	return want
}

// probeStream is what one service tells about the calls made to it.
type probeStream interface {
	name() string
	// mark returns when the mark is in the stream.
	mark(ctx context.Context, n int) error
	// finish reads the stream up to the mark last and ends it.
	finish(ctx context.Context, last int) ([]trace.Event, string, error)
	// amend corrects one request's calls by what the service counted between
	// marks n and n+1.
	amend(n int, calls []trace.Call) []trace.Call
	close()
}

// Probe listens to what a stack's databases and caches are asked, while
// requests are sent one at a time:
//
//	p, err := StartProbe(ctx, st, hosts, o)
//	err = p.Mark(ctx, 0)             // then request 0
//	err = p.Mark(ctx, 1)             // then request 1, …
//	calls, health, err := p.Finish(ctx)
//	p.Close()                        // always
//
// Whatever else uses the services meanwhile is taken for the request's own.
// It writes nothing; a memcached and a Redis print each command twice while it
// listens, so no figure of the time it is open counts as performance.
type Probe struct {
	streams []probeStream
	health  []Health
	began   time.Time
	next    int // the number after the highest mark
	closed  bool
}

// listenFirst is how long the streams are heard before the first mark, so that
// something else that uses the services shows.
const listenFirst = 300 * time.Millisecond

// quietCalls before the first mark are no sign of another user: a keep-alive
// of a pool, a monitoring agent.
const quietCalls = 3

// StartProbe opens the streams. A service that cannot be heard is told in the
// health; the error is for a missing host or for ctx.
func StartProbe(ctx context.Context, st *stack.Stack, hosts map[string]host.Host, o ProbeOptions) (*Probe, error) {
	p := &Probe{}
	for i := range st.Services {
		svc := &st.Services[i]
		h := hosts[svc.HostName()]
		if h == nil {
			p.Close()
			return nil, fmt.Errorf("listen to %s: host %s is not connected", svc.Name, svc.HostName())
		}
		var s probeStream
		var err error
		switch {
		case svc.IsDatabase() && o.GeneralLogs[svc.Name] == "":
			p.health = append(p.health, Health{Source: callsTo(svc.Name), OK: true, Text: "not judged: it has no general log"})
			continue
		case svc.IsDatabase():
			s, err = openGeneral(ctx, h, svc, o.GeneralLogs[svc.Name])
		case svc.Kind == stack.Memcached:
			s, err = openWatch(ctx, h, svc)
		case svc.Kind == stack.Redis:
			s, err = openMonitor(ctx, h, svc)
		default:
			continue
		}
		if err != nil {
			p.health = append(p.health, Health{Source: callsTo(svc.Name), Text: err.Error()})
			continue
		}
		p.streams = append(p.streams, s)
	}
	if ctx.Err() != nil {
		p.Close()
		return nil, fmt.Errorf("listen to the services: %w", ctx.Err())
	}
	p.began = time.Now()
	return p, nil
}

func callsTo(service string) string { return "calls to " + service }

// Mark puts mark n into every stream: what comes after belongs to request n.
// Numbers count up from 0. A stream that takes no mark any more is given up
// and told in the health; the error is for ctx.
func (p *Probe) Mark(ctx context.Context, n int) error {
	if n < p.next {
		return fmt.Errorf("mark request %d: request %d was marked before", n, p.next-1)
	}
	if p.next == 0 {
		select {
		case <-ctx.Done():
		case <-time.After(time.Until(p.began.Add(listenFirst))):
		}
	}
	p.next = n + 1
	return p.markAll(ctx, n)
}

func (p *Probe) markAll(ctx context.Context, n int) error {
	p.streams = slices.DeleteFunc(p.streams, func(s probeStream) bool {
		err := s.mark(ctx, n)
		if err == nil || ctx.Err() != nil {
			return false
		}
		p.health = append(p.health, Health{Source: callsTo(s.name()), Text: fmt.Sprintf("it could be heard for %d requests only: %v", n, err)})
		s.close()
		return true
	})
	if ctx.Err() != nil {
		return fmt.Errorf("mark request %d: %w", n, ctx.Err())
	}
	return nil
}

// Finish reads the streams to their end; calls[n] are those after mark n, in
// order per service, those of memcached and Redis in the order of time.
func (p *Probe) Finish(ctx context.Context) (calls [][]trace.Call, health []Health, err error) {
	if err := p.markAll(ctx, p.next); err != nil {
		return nil, p.health, err
	}
	var streams [][]trace.Event
	var heard []probeStream
	var texts []string
	for _, s := range p.streams {
		events, text, err := s.finish(ctx, p.next)
		if err != nil {
			p.health = append(p.health, Health{Source: callsTo(s.name()), Text: err.Error()})
			continue
		}
		streams, heard, texts = append(streams, events), append(heard, s), append(texts, text)
	}
	if ctx.Err() != nil {
		return nil, p.health, fmt.Errorf("read the calls of requests: %w", ctx.Err())
	}
	calls, before := trace.Split(streams, p.next)
	for n := range calls {
		for _, s := range heard {
			calls[n] = s.amend(n, calls[n])
		}
	}
	for i, s := range heard {
		p.health = append(p.health, probeHealth(s.name(), calls, before[i], texts[i]))
	}
	return calls, p.health, nil
}

func probeHealth(service string, calls [][]trace.Call, before int, text string) Health {
	n := 0
	for _, of := range calls {
		for i := range of {
			if of[i].Service == service {
				n++
			}
		}
	}
	h := Health{Source: callsTo(service), OK: true, Text: fmt.Sprintf("%d calls in %d requests", n, len(calls))}
	if text != "" {
		h.Text += "; " + text
	}
	if before > quietCalls {
		h.OK = false
		h.Text += fmt.Sprintf("; %d calls came before the first request: something else uses it (a job, a health check, other users), and its calls are mixed in; stop it and run again", before)
	}
	return h
}

// Close ends the streams. It may be called at any time, and twice.
func (p *Probe) Close() {
	if p.closed {
		return
	}
	p.closed = true
	for _, s := range p.streams {
		s.close()
	}
}

// errEnded: the service closed the stream.
var errEnded = errors.New("the service closed the connection")
