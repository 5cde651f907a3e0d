package web

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/load"
	"kasoku/internal/report"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// compareView is any two runs beside each other.
type compareView struct {
	*report.Model
	A, B *store.Run
	Rows []compared
	// Hosts are what each host used in both runs.
	Hosts []compared
	// Without names the runs that hold no evidence.
	Without []int64
	// Tried: they are both sides of one experiment. Their hash is of what was in
	// place when it began.
	Tried bool
}

// compared is one number of both runs.
type compared struct{ Name, A, B, Change string }

func (s *Server) compare(w http.ResponseWriter, r *http.Request) {
	ids := r.URL.Query()["run"]
	if len(ids) != 2 {
		s.fail(w, r, http.StatusBadRequest, fmt.Sprintf("%s chosen.", plural(len(ids), "run was", "runs were")), "Choose exactly two in the list of runs.")
		return
	}
	var runs [2]*store.Run
	for i, text := range ids {
		id, ok := s.number(w, r, text)
		if !ok {
			return
		}
		run, err := s.o.Store.Run(id)
		if err != nil {
			s.failed(w, r, err)
			return
		}
		change.RedactAll(run)
		runs[i] = run
	}
	if runs[0].ID > runs[1].ID { // as time goes; the list has the newest first
		runs[0], runs[1] = runs[1], runs[0]
	}
	a, b := runs[0], runs[1]
	v := compareView{Model: report.Pair(a, b), A: a, B: b, Rows: numbers(a, b), Hosts: hostUse(a, b), Tried: a.Step != 0 && a.Step == b.Step && a.Side != b.Side}
	for _, run := range runs {
		if !report.HasLoad(run) {
			v.Without = append(v.Without, run.ID)
		}
	}
	s.render(w, r, http.StatusOK, "compare", page{Title: fmt.Sprintf("Runs %d and %d", a.ID, b.ID), At: "runs"}, v)
}

// rower makes rows of one number of both runs; nil is not known.
func rower(rows *[]compared) func(name string, say func(float64) string, p, q *float64) {
	change := funcs["change"].(func(float64, float64) string)
	return func(name string, say func(float64) string, p, q *float64) {
		if p == nil && q == nil {
			return
		}
		c := compared{name, "–", "–", ""}
		if p != nil {
			c.A = say(*p)
		}
		if q != nil {
			c.B = say(*q)
		}
		if p != nil && q != nil {
			c.Change = change(*p, *q)
		}
		*rows = append(*rows, c)
	}
}

// numbers of two runs with how they differ; what a run without evidence does not
// have is not known.
func numbers(a, b *store.Run) []compared {
	var out []compared
	row := rower(&out)
	number := funcs["count"].(func(float64) string)
	secs := funcs["seconds"].(func(float64) string)
	row("Score", number, &a.Score, &b.Score)
	for _, x := range []struct {
		name string
		say  func(float64) string
		of   func(*load.Result) float64
	}{
		{"Users", number, func(l *load.Result) float64 { return float64(l.Workload) }},
		{"Right answers/s", number, func(l *load.Result) float64 { return l.RequestsPerSecond }},
		{"Latency p50", secs, func(l *load.Result) float64 { return l.Latency.P50.Seconds() }},
		{"Latency p99", secs, func(l *load.Result) float64 { return l.Latency.P99.Seconds() }},
		{"Wrong answers", number, func(l *load.Result) float64 { return float64(l.Mismatches) }},
		{"Time-outs and errors", number, func(l *load.Result) float64 { return float64(l.Timeouts + l.Errors) }},
	} {
		var both [2]*float64
		for i, run := range []*store.Run{a, b} {
			if report.HasLoad(run) {
				v := x.of(run.Evidence.Load)
				both[i] = &v
			}
		}
		row(x.name, x.say, both[0], both[1])
	}
	return out
}

// hostUse is what each host used, and what its tasks waited for.
func hostUse(a, b *store.Run) []compared {
	var out []compared
	row := rower(&out)
	one, two := systems(a), systems(b)
	names := slices.Sorted(maps.Keys(one))
	for name := range two {
		if one[name] == nil {
			names = append(names, name)
		}
	}
	for _, name := range names {
		of := ""
		if len(names) > 1 {
			of = name + ": "
		}
		for _, x := range hostNumbers {
			row(of+x.name, x.say, known(one[name], x.of), known(two[name], x.of))
		}
	}
	return out
}

// known is a number of a host, nil if it is not known.
func known(s *evidence.System, of func(*evidence.System) (float64, bool)) *float64 {
	if s == nil {
		return nil
	}
	if v, ok := of(s); ok {
		return &v
	}
	return nil
}

// systems of a run by host.
func systems(r *store.Run) map[string]*evidence.System {
	out := map[string]*evidence.System{}
	if r.Evidence == nil || r.Evidence.System.CPUs == 0 {
		return out
	}
	out[cmp.Or(r.Evidence.System.Host, "local")] = &r.Evidence.System
	maps.Copy(out, r.Evidence.Hosts)
	return out
}

// hostNumbers are what is compared of a host. A share is of the window, or of
// what there is.
var hostNumbers = []struct {
	name string
	say  func(float64) string
	of   func(*evidence.System) (value float64, known bool)
}{
	{"CPU in use", ui.Share, func(s *evidence.System) (float64, bool) { return share(s.User+s.Sys, s.CPUTime()) }},
	{"CPU lost to other virtual machines", ui.Share, func(s *evidence.System) (float64, bool) {
		v, ok := share(s.Steal, s.CPUTime())
		return v, ok && v > 0
	}},
	{"Tasks that could run, mean", ui.Count, func(s *evidence.System) (float64, bool) { return s.RunQueue, s.RunQueue > 0 }},
	{"Memory in use at most", ui.Share, func(s *evidence.System) (float64, bool) {
		return share(float64(s.MemoryTotal-s.MemoryAvailable), float64(s.MemoryTotal))
	}},
	{"Busiest disk in use", ui.Share, func(s *evidence.System) (float64, bool) { return s.DiskBusy, len(s.Disks) > 0 }},
	{"Some task waited for CPU", ui.Share, pressure(func(s *evidence.System) float64 { return s.PressureCPU })},
	{"Some task waited for disks", ui.Share, pressure(func(s *evidence.System) float64 { return s.PressureIO })},
	{"Some task waited for memory", ui.Share, pressure(func(s *evidence.System) float64 { return s.PressureMemory })},
}

func share(of, all float64) (float64, bool) {
	if all <= 0 {
		return 0, false
	}
	return of / all, true
}

// pressure is a share of the window; kernels without it tell −1.
func pressure(of func(*evidence.System) float64) func(*evidence.System) (float64, bool) {
	return func(s *evidence.System) (float64, bool) { return of(s) / 100, of(s) >= 0 }
}
