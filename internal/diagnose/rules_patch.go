package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/evidence"
	"kasoku/internal/ui"
)

// madeOnceReach is the part of a program's CPU that goes when it makes one thing once
// instead of in each request: what that takes is not measured, and never much of all.
const madeOnceReach = 0.03

// leastMade is the part of a program's samples from which making a thing in each call is
// worth a run: with less, a run shows no difference.
const leastMade = 0.01

// madeReach is the part of the time of making a thing that goes where it is used again.
const madeReach = 0.9

// judgePatches finds changes of source that are written and shown to answer the same
// (package patch), where the run tells that their statement is made.
func judgePatches(m *model) ([]Finding, string) {
	if m.in.Snapshot == nil {
		return nil, ""
	}
	var out []Finding
	for _, p := range m.in.Snapshot.Patches {
		f := about(p.Service, p.Title, "", p.Place()).with("patch", p.ID)
		f.Source = fmt.Sprintf("%s:%d", p.File, p.Line)
		switch {
		case p.Written != "": // by another program, or by words that the source does not show
			continue
		case p.Statement != "" && p.Count > 0 && p.All > 0 && p.Counts > 0:
			share := p.Total.Seconds() / p.All.Seconds()
			calls := float64(p.Count) / float64(p.Counts)
			f.Text = fmt.Sprintf("%s: %s, %s in %s, %s of the time and %s of the number of all statements.", p.Place(), p.What, ui.Duration(p.Total), ui.Plural(int(p.Count), "run", "runs"), percent(share), percent(calls))
			if p.PerRequest > 1 {
				f.Text += fmt.Sprintf(" A request makes up to %.3g.", p.PerRequest)
			}
			left := leftOf(p, m.window)
			if left < 1 {
				f = f.with("reach", fmt.Sprintf("%.3f", 1-left))
			}
			// At the database a statement costs what it takes there, at the program about as
			// much as any other.
			f = f.bounded(m.boundOf(map[string]float64{p.Database: share * m.perReq[p.Database], p.Service: calls * m.perReq[p.Service]}))
		case p.Statement == "" && p.Shape == "P10" && !reconnecting(p):
			f.Text = fmt.Sprintf("%s: %s.", p.Place(), p.What)
			f = f.with("reach", fmt.Sprint(madeOnceReach)).bounded(m.serviceBound(p.Service))
		case len(p.Makes) > 0:
			out = append(out, m.madeAgain(f, p)...)
			continue
		case p.Statement == "" && p.Shape == "P5":
			saved, text := m.prepared(p)
			if saved == nil {
				continue
			}
			f.Text = fmt.Sprintf("%s: %s: %s.", p.Place(), p.What, text)
			f = f.bounded(m.boundOf(saved))
		case p.Statement == "" && reconnecting(p):
			saved, text := m.reconnects(p)
			if saved == nil {
				continue
			}
			f.Text = fmt.Sprintf("%s: %s: %s.", p.Place(), p.What, text)
			f = f.with("reach", fmt.Sprint(reconnectReach)).bounded(m.boundOf(saved))
		default: // the load does not reach it
			continue
		}
		out = append(out, f)
	}
	return out, unpatched(m, out)
}

// reconnecting: a patch is about connections that are opened again; of PHP, what P10 makes once
// are these.
func reconnecting(p evidence.SourcePatch) bool {
	return p.Shape == "P19" || p.Shape == "P10" && !strings.HasSuffix(p.File, ".go")
}

// leftOf is the part of a patch's statements that a run still makes with it.
func leftOf(p evidence.SourcePatch, window float64) float64 {
	switch {
	case p.Staleness > 0: // what is kept is asked for again then
		return min(1, window/p.Staleness.Seconds()/float64(p.Count))
	case p.Shape == "P8" && strings.HasSuffix(p.File, ".go"):
		return 0.01 // a hundred are drawn at once, by a program that goes on
	case p.PerRequest > 1 && p.Shape == "P5": // each is still executed; a prepare is about half
		return (1 + 1/p.PerRequest) / 2
	case p.PerRequest > 1:
		return 1 / p.PerRequest
	}
	return 1
}

// madeAgain is the finding about what is made in each call, if that takes long enough.
func (m *model) madeAgain(f Finding, p evidence.SourcePatch) []Finding {
	if p.Made < leastMade {
		return nil
	}
	f.Text = fmt.Sprintf("%s: %s: %s of the program's samples are in its making (%s).", p.Place(), p.What, percent(p.Made), strings.Join(p.Makes, ", "))
	return []Finding{f.with("reach", fmt.Sprint(madeReach)).bounded(m.boundBy(p.Service, m.perReq[p.Service]*p.Made))}
}

// unpatched is why the source was not looked at, if nothing was found.
func unpatched(m *model, found []Finding) string {
	if len(found) > 0 {
		return ""
	}
	return strings.Join(m.in.Snapshot.Unpatched, "; ")
}

// prepared is the CPU per request that values in the text of statements may save, by
// service; nil if no database prepares for each.
func (m *model) prepared(p evidence.SourcePatch) (saved map[string]float64, text string) {
	m.eachDB(func(v dbView) []Finding {
		prepares, _ := v.delta("Com_stmt_prepare")
		perRequest := prepares / (m.x * m.window)
		if svc := m.in.Stack.Service(p.Service); perRequest < 0.5 || svc == nil || len(svc.TalksTo) > 0 && !slices.Contains(svc.TalksTo, v.svc.Name) {
			return nil
		}
		// A prepare is about half of what a short statement costs both sides.
		saved = map[string]float64{v.svc.Name: v.perReq / 2, p.Service: m.perReq[p.Service] / 2}
		text = fmt.Sprintf("%.1f prepares per request at %s", perRequest, v.svc.Name)
		return nil
	})
	return saved, text
}

// reconnectsEach is connections for a right answer from which a pool that keeps too few
// is worth a word.
const reconnectsEach = 0.05

// reconnectReach is the part of connectCPU, which bounds it, that a log-in was measured
// to take: 0.17 of 2 ms.
const reconnectReach = 0.085

// reconnects is the CPU per request that connections kept open may save, by service; nil
// if no database that the program talks to is connected to again and again.
func (m *model) reconnects(p evidence.SourcePatch) (saved map[string]float64, text string) {
	m.eachDB(func(v dbView) []Finding {
		connections, _ := v.delta("Connections")
		perRequest := connections / (m.x * m.window)
		if svc := m.in.Stack.Service(p.Service); perRequest < reconnectsEach || svc == nil || len(svc.TalksTo) > 0 && !slices.Contains(svc.TalksTo, v.svc.Name) {
			return nil
		}
		// Both sides take part in a log-in.
		cost := perRequest * connectCPU
		saved = map[string]float64{v.svc.Name: min(v.perReq, cost), p.Service: min(m.perReq[p.Service], cost)}
		text = fmt.Sprintf("%.2f connections per request at %s", perRequest, v.svc.Name)
		return nil
	})
	return saved, text
}
