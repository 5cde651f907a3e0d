package web

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/report"
	"kasoku/internal/tune"
	"kasoku/internal/ui"
)

const (
	// heartbeat keeps proxies from ending a quiet stream; they commonly wait 60 s.
	heartbeat = 15 * time.Second
	// writeWithin is how long one write to a viewer may take; then it is let go
	// and may come back.
	writeWithin = 10 * time.Second
)

// moment is a tune.Live as the page shows it: words and rounded numbers.
type moment struct {
	Session int64      `json:"session"`
	Doing   string     `json:"doing"`
	Busy    string     `json:"busy,omitempty"`   // who works on the project, if it is another process
	Left    float64    `json:"left,omitempty"`   // seconds of the budget, 0: none
	Budget  float64    `json:"budget,omitempty"` // seconds
	Trying  *trying    `json:"trying,omitempty"`
	Load    *loadNow   `json:"load,omitempty"`
	Last    int64      `json:"last,omitempty"` // the run that Load, CPU and Rates are of, if it has ended
	CPU     []hostCPU  `json:"cpu,omitempty"`
	Rates   []float64  `json:"rates,omitempty"`
	Said    []saidText `json:"said,omitempty"`
	Runs    int        `json:"runs"`
	Steps   int        `json:"steps"`
	Judged  int        `json:"judged"`
	Ended   bool       `json:"ended,omitempty"`
}

type trying struct {
	Seq    int     `json:"seq"`
	Title  string  `json:"title"`
	Why    string  `json:"why"`
	Bound  string  `json:"bound,omitempty"`
	Side   string  `json:"side"`
	Effect string  `json:"effect,omitempty"` // in words, "" before there is one
	Mean   float64 `json:"mean"`             // ratio − 1
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Pairs  int     `json:"pairs"`
	Most   int     `json:"most"` // 0: not known, and 0 pairs then say nothing
}

type loadNow struct {
	Phase  string  `json:"phase"` // "" of a run that has ended
	Rate   string  `json:"rate"`
	P50    string  `json:"p50,omitempty"` // "" before there is an answer
	P99    string  `json:"p99,omitempty"`
	Failed int64   `json:"failed"`
	Done   float64 `json:"done"` // of the phase, 0 to 1; 0 if its length is not known
}

type hostCPU struct {
	Host string    `json:"host"`
	Now  string    `json:"now"`
	Uses []float64 `json:"uses"`
}

type saidText struct {
	Level string `json:"level"`
	Text  string `json:"text"`
	Hint  string `json:"hint,omitempty"`
}

// show puts a moment into words; now is for what is left of the budget.
func show(l tune.Live, said []tune.Said, now time.Time) moment {
	m := moment{Session: l.Session, Doing: text(l.Doing), Rates: curve(l.Rates), Runs: l.Runs, Steps: l.Steps,
		Judged: l.Judged, Ended: l.Ended}
	switch {
	case l.Ended && l.Session != 0:
		m.Doing = "The session has ended"
	case !l.Deadline.IsZero() && l.Deadline.After(l.Started):
		m.Budget = l.Deadline.Sub(l.Started).Seconds()
		m.Left = max(0, l.Deadline.Sub(now).Seconds())
	}
	if t := l.Trying; t != nil {
		m.Trying = &trying{Seq: t.Seq, Title: text(t.Title), Why: text(t.Why), Side: string(t.Side), Mean: t.Verdict.Effect,
			Low: t.Verdict.Low, High: t.Verdict.High, Pairs: t.Verdict.Pairs, Most: t.MostPairs}
		if t.Bound > 1 {
			m.Trying.Bound = ui.Factor(t.Bound)
		}
		if t.Verdict.Pairs > 0 {
			m.Trying.Effect = report.Effect(t.Verdict)
		}
	}
	if p := l.Load; p != nil {
		m.Load = &loadNow{Phase: string(p.Phase), Rate: ui.Number(p.RequestsPerSecond), Failed: p.Failed}
		if p.P50 > 0 {
			m.Load.P50, m.Load.P99 = ui.Duration(p.P50), ui.Duration(p.P99)
		}
		if p.Length > 0 {
			m.Load.Done = min(1, p.Elapsed.Seconds()/p.Length.Seconds())
		}
	}
	if r := l.Last; r != nil {
		m.Last = r.ID
		m.Load = &loadNow{Rate: ui.Number(r.RequestsPerSecond), Failed: r.Failed}
		if r.P50 > 0 {
			m.Load.P50, m.Load.P99 = ui.Duration(r.P50), ui.Duration(r.P99)
		}
	}
	for host, uses := range l.CPU {
		c := hostCPU{Host: text(host), Uses: curve(uses)}
		if len(uses) > 0 {
			c.Now = ui.Share(uses[len(uses)-1])
		}
		if l.Last != nil {
			c.Now = ui.Share(l.Last.CPU[host])
		}
		m.CPU = append(m.CPU, c)
	}
	slices.SortFunc(m.CPU, func(a, b hostCPU) int { return strings.Compare(a.Host, b.Host) })
	for _, s := range said {
		if repeats(l, s) {
			continue
		}
		m.Said = append(m.Said, saidText{s.Level, text(s.Text), text(s.Hint)})
	}
	return m
}

// repeats: the message says what stands in the panel anyway.
func repeats(l tune.Live, s tune.Said) bool {
	if s.Level == "step" && s.Text == l.Doing {
		return true
	}
	t := l.Trying
	why, reason := strings.CutPrefix(s.Text, "why: ")
	return t != nil && (reason && slices.Contains(strings.Split(t.Why, "\n"), why) || t.Bound > 1 && strings.HasSuffix(s.Text, ui.Bound(t.Bound)))
}

// curve is values as finely as a line 64 pixels high shows them: in steps of a
// decimal place, 100 to 1000 of them up to the largest value, or of 1. So most
// of an event, two minutes of curves, is a third as long.
func curve(values []float64) []float64 {
	if len(values) == 0 {
		return nil
	}
	scale := 1.0 // per 1 of a value
	for top := slices.Max(values); top*scale < 100 && scale < 1e6; {
		scale *= 10
	}
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = math.Round(v*scale) / scale
	}
	return out
}

// events streams moments as server-sent events (HTML standard, 9.2): id, event
// and data, with comments as heartbeats.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	v := s.hub.join()
	if v == nil {
		w.Header().Set("Retry-After", "30")
		http.Error(w, fmt.Sprintf("There are %d viewers already; close one.", mostViewers), http.StatusServiceUnavailable)
		return
	}
	defer s.hub.leave(v)
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx would collect events
	out := http.NewResponseController(w)
	send := func(text []byte) error {
		if err := out.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil {
			return err
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
		return out.Flush()
	}
	if send([]byte("retry: 2000\n\n")) != nil {
		return
	}
	after := s.hub.after(r.Header.Get("Last-Event-ID"))
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-s.closing:
			return
		case <-beat.C:
			if send([]byte(": still here\n\n")) != nil {
				return
			}
			continue
		case <-v.wake:
		}
		text, seq, err := s.event(after)
		if err == nil && seq == after {
			continue // it came with an earlier wake
		}
		if err != nil || send(text) != nil {
			return
		}
		after = seq
	}
}

// shown adds what only the server knows.
func (s *Server) shown(l tune.Live, said []tune.Said, now time.Time) moment {
	m := show(l, said, now)
	if !s.fed.Load() {
		m.Busy = s.atWork()
	}
	return m
}

// after reads a Last-Event-ID; 0 if it is not of this hub.
func (h *Hub) after(id string) uint64 {
	boot, num, _ := strings.Cut(id, "-")
	n, err := strconv.ParseUint(num, 10, 64)
	if err != nil || boot != h.boot {
		return 0
	}
	return n
}
