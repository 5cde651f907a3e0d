package web

import (
	"fmt"
	"net/http"

	"kasoku/internal/change"
	"kasoku/internal/report"
	"kasoku/internal/store"
)

// compareView is any two runs beside each other.
type compareView struct {
	*report.Model
	A, B *store.Run
	Rows []compared
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
		if run.Evidence == nil || run.Evidence.Load == nil {
			s.fail(w, r, http.StatusBadRequest, fmt.Sprintf("Run %d holds no evidence, so it cannot be compared.", id), "Choose another run.")
			return
		}
		change.RedactAll(run)
		runs[i] = run
	}
	if runs[0].ID > runs[1].ID { // as time goes; the list has the newest first
		runs[0], runs[1] = runs[1], runs[0]
	}
	a, b := runs[0], runs[1]
	v := compareView{Model: report.Pair(a, b), A: a, B: b, Rows: numbers(a, b), Tried: a.Step != 0 && a.Step == b.Step && a.Side != b.Side}
	s.render(w, r, http.StatusOK, "compare", page{Title: fmt.Sprintf("Runs %d and %d", a.ID, b.ID), At: "runs"}, v)
}

// numbers of two runs with how they differ.
func numbers(a, b *store.Run) []compared {
	x, y := a.Evidence.Load, b.Evidence.Load
	number := funcs["count"].(func(float64) string)
	secs := funcs["seconds"].(func(float64) string)
	change := funcs["change"].(func(float64, float64) string)
	row := func(name string, say func(float64) string, p, q float64) compared {
		return compared{name, say(p), say(q), change(p, q)}
	}
	return []compared{
		row("Score, points/s", number, a.Score, b.Score),
		row("Users", number, float64(x.Workload), float64(y.Workload)),
		row("Right answers/s", number, x.RequestsPerSecond, y.RequestsPerSecond),
		row("Latency p50", secs, x.Latency.P50.Seconds(), y.Latency.P50.Seconds()),
		row("Latency p99", secs, x.Latency.P99.Seconds(), y.Latency.P99.Seconds()),
		row("Wrong answers", number, float64(x.Mismatches), float64(y.Mismatches)),
		row("Time-outs and errors", number, float64(x.Timeouts+x.Errors), float64(y.Timeouts+y.Errors)),
	}
}
