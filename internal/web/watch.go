package web

import (
	"context"
	"time"

	"kasoku/internal/store"
	"kasoku/internal/tune"
)

// watchEvery is how often the store is looked at for what another process did,
// while there are viewers. One look is a PRAGMA.
const watchEvery = 2 * time.Second

// watch publishes what another process stores, until this process publishes by
// itself or ctx ends.
func (s *Server) watch(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	last := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.closing:
			return
		case <-tick.C:
		}
		if s.fed.Load() || s.hub.Viewers() == 0 {
			continue
		}
		mark, err := s.o.Store.Mark()
		if err != nil {
			continue // pages show what is wrong with the store
		}
		mark += s.atWork()
		if mark == last {
			continue
		}
		if l, err := stored(s.o.Store, time.Now()); err == nil {
			last = mark
			s.hub.Publish(l)
		}
	}
}

// stored is the moment as the store tells it.
func stored(st *store.Store, now time.Time) (tune.Live, error) {
	x, err := st.LastSession()
	if err != nil {
		return tune.Live{}, err
	}
	l := tune.Live{At: now, Session: x.ID, Started: x.Started, Doing: "session " + x.State, Ended: x.State != "running"}
	if x.Budget > 0 && x.State == "running" {
		l.Deadline = x.Started.Add(x.Budget)
	}
	steps, err := st.Steps(x.ID)
	if err != nil {
		return l, err
	}
	runs, err := st.Runs(store.RunFilter{Session: x.ID})
	if err != nil {
		return l, err
	}
	l.Steps, l.Judged, l.Runs = len(steps), store.Judged(steps), len(runs)
	if l.Ended {
		return l, nil
	}
	var open *store.Step
	if l.Steps > 0 && steps[l.Steps-1].Verdict.Outcome == "" {
		open = &steps[l.Steps-1]
	}
	return l, l.Stored(st, open, runs)
}
