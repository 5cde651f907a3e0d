package store

import (
	"fmt"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
)

// Measured is a fit scored run of the configuration that was in place, without
// its evidence.
type Measured struct {
	ID, Session, Step int64
	Started           time.Time
	Score             float64 // above 0
	Scenario          string
	Workload          int // users
	ConfigHash        string
}

// Measured returns the fit scored runs of what was in place, the oldest first,
// of each scenario and workload together: not those of candidates, nor those of
// comparisons of two versions, of which neither need be in place.
func (s *Store) Measured() ([]Measured, error) {
	if err := s.nameLoads(); err != nil {
		return nil, err
	}
	// All columns are in the index runs_measured, so that no evidence is read.
	rows, err := s.db.Query(`SELECT id, session, step, started, score, scenario, workload, config_hash FROM runs INDEXED BY runs_measured
		WHERE kind = ? AND unfit = '' AND side IN ('', ?) AND score > 0 AND session NOT IN (SELECT id FROM sessions WHERE command = 'compare')
		ORDER BY scenario, workload, started, id`, Scored, string(experiment.Baseline))
	if err != nil {
		return nil, s.fail("list measured runs", err)
	}
	defer rows.Close()
	var out []Measured
	for rows.Next() {
		var m Measured
		var started string
		if err := rows.Scan(&m.ID, &m.Session, &m.Step, &started, &m.Score, &m.Scenario, &m.Workload, &m.ConfigHash); err != nil {
			return nil, s.fail("list measured runs", err)
		}
		if m.Started, err = time.Parse(time.RFC3339Nano, started); err != nil {
			return nil, s.fail("list measured runs", fmt.Errorf("start time of run %d: %w", m.ID, err))
		}
		out = append(out, m)
	}
	if err := rows.Err(); err != nil {
		return nil, s.fail("list measured runs", err)
	}
	return out, nil
}

// unnamed stands for a load that has no name of its own.
const unnamed = "load"

// loadOf is the scenario and the number of users of a run.
func loadOf(ev *evidence.Evidence) (scenario string, workload int) {
	if ev == nil || ev.Load == nil {
		return "", 0
	}
	if ev.Load.Scenario == "" {
		return unnamed, ev.Load.Workload
	}
	return ev.Load.Scenario, ev.Load.Workload
}

// nameLoads fills in the scenario of runs that an older Kasoku stored.
func (s *Store) nameLoads() error {
	rows, err := s.db.Query(`SELECT id FROM runs WHERE kind = ? AND unfit = '' AND scenario = '' AND evidence IS NOT NULL`, Scored)
	if err != nil {
		return s.fail("list runs without a scenario", err)
	}
	defer rows.Close()
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return s.fail("list runs without a scenario", err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		return s.fail("list runs without a scenario", err)
	}
	for _, id := range ids {
		run, err := s.Run(id)
		if err != nil {
			return err
		}
		scenario, workload := loadOf(run.Evidence)
		if scenario == "" {
			scenario = unnamed
		}
		if err := s.update("run", id, `UPDATE runs SET scenario = ?, workload = ? WHERE id = ?`, scenario, workload, id); err != nil {
			return err
		}
	}
	return nil
}

// KeptSteps are all steps that were kept, of every session, in order.
func (s *Store) KeptSteps() ([]Step, error) {
	return s.steps(`WHERE kept = 1 ORDER BY id`)
}
