package evidence

import (
	"context"
	"fmt"
	"maps"
	"strconv"
)

// counterSource reads one service's counters at both ends of the window.
type counterSource struct {
	service string
	source  string // of its Health: "counters of cache"
	prefix  string // before the names in Evidence.Counters: "opcache."
	// read asks the service. It keeps its connection; an error closes it.
	read func(ctx context.Context) (map[string]string, error)
	// counts reports whether a value only grows, so that it has a Delta.
	counts func(name string) bool
	// identity is of one life of the service; another at the end means that it
	// was restarted. nil: cannot be known.
	identity func(values map[string]string) string
	// own are requests of Kasoku's own within the window, taken off.
	own map[string]float64
	// more is asked after the load, once: what is too dear for the window. It
	// adds to values and returns what it could not judge.
	more func(ctx context.Context, values map[string]string) []string
	shut func()

	begin, values map[string]string
	err           error
}

func (s *counterSource) start(ctx context.Context) { s.begin, s.err = s.read(ctx) }

func (s *counterSource) end(ctx context.Context) {
	if s.err == nil {
		s.values, s.err = s.read(ctx)
	}
}

func (s *counterSource) close() {
	if s.shut != nil {
		s.shut()
	}
}

func (s *counterSource) tell(ctx context.Context, ev *Evidence) {
	h := Health{Source: s.source}
	if s.err != nil {
		h.Text = s.err.Error()
		ev.Health = append(ev.Health, h)
		return
	}
	delta, down := countDelta(s.begin, s.values, s.counts)
	h.OK, h.Text = true, fmt.Sprintf("%d values", len(s.values))
	switch {
	case s.identity != nil && s.identity(s.begin) != s.identity(s.values):
		h.OK, h.Spoils, h.Text = false, true, s.service+" was restarted during the run; its counters began anew"
	case down > 0:
		// OPcache begins anew by itself when it is full; that is a finding.
		h.Spoils = s.prefix == ""
		h.OK, h.Text = false, fmt.Sprintf("%d counters became smaller during the run, so %s was restarted or somebody set them to zero; they are left out", down, s.service)
	}
	for name, n := range s.own {
		if d, ok := delta.Delta[name]; ok {
			delta.Delta[name] = max(d-n, 0)
		}
	}
	if s.more != nil {
		for _, text := range s.more(ctx, delta.Value) {
			h.Text += "; not judged: " + text
		}
	}
	addCounters(ev, s.service, s.prefix, delta)
	ev.Health = append(ev.Health, h)
}

// countDelta is the difference of two readings for names that only grow. One
// that is new began at 0 (a command that nobody had used). down counts those
// that became smaller, which are left out.
func countDelta(begin, end map[string]string, counts func(name string) bool) (out CounterDelta, down int) {
	out = CounterDelta{Delta: map[string]float64{}, Value: maps.Clone(end)}
	for name, text := range end {
		if !counts(name) {
			continue
		}
		now, err := strconv.ParseFloat(text, 64)
		if err != nil {
			continue
		}
		was := 0.0
		if old, ok := begin[name]; ok {
			if was, err = strconv.ParseFloat(old, 64); err != nil {
				continue
			}
		}
		if now < was {
			down++
			continue
		}
		out.Delta[name] = now - was
	}
	return out, down
}

// addCounters puts them beside what another source told of the same service.
func addCounters(ev *Evidence, service, prefix string, d CounterDelta) {
	have := ev.Counters[service]
	if have.Delta == nil {
		have.Delta = map[string]float64{}
	}
	if have.Value == nil {
		have.Value = map[string]string{}
	}
	for name, n := range d.Delta {
		have.Delta[prefix+name] = n
	}
	for name, text := range d.Value {
		have.Value[prefix+name] = text
	}
	ev.Counters[service] = have
}
