package topology_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/change"
	"kasoku/internal/remedy"
)

// TestDatabaseApart: an application and its database on one host; the database
// moves to another one and back while orders come in. None that was acknowledged
// is lost, and both hosts are as before to the byte.
func TestDatabaseApart(t *testing.T) {
	t.Parallel() // disposable hosts are mostly waited for
	s := openShop(t)
	before := s.seen()
	p := bed.Want(t, remedy.PlanAll(s.look()), "database.apart")
	t.Logf("%s: %s (at most ×%.2f; trades %v)", p.Title, p.Why, p.Bound, p.Trades)
	for _, c := range p.All() {
		t.Logf("%s %s: %s", c.Host, c.Service, c.Title())
	}
	x := s.open("first")
	defer x.Close()
	o := s.order(1)
	under := s.prepare(x, p)
	s.switched(x, p, func() {
		in := s.look()
		st := in.Snapshot.StackInUse(s.stack)
		if st.Service("db") != nil || st.Service("db2") == nil || st.Service("shop").TalksTo[0] != "db2" || in.Snapshot.Databases["db2"] == nil {
			t.Errorf("the database in use is not db2: %+v", st.Services)
		}
		for _, again := range remedy.PlanAll(in).Plans {
			if again.Remedy == p.Remedy {
				t.Errorf("%s is planned again although it is in force", again.ID)
			}
		}
	})
	tx, err := x.Apply(t.Context(), change.Intent{Title: p.Title, Plan: p.ID, Changes: p.Changes})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range append(slices.Clone(under), tx.ID) {
		if err := x.Keep(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	if drift, err := x.Verify(t.Context()); err != nil || len(drift) > 0 {
		t.Errorf("kept, and it drifts: %v, %v", drift, err)
	}
	s.answers("h2")
	if err := x.UndoAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	o.end(s, "h1")
	s.asBefore(before)
}

// asBefore tells which lines differ.
func (s *shop) asBefore(before string) {
	s.t.Helper()
	was, now := strings.Split(before, "\n"), strings.Split(s.seen(), "\n")
	for _, line := range was {
		if !slices.Contains(now, line) {
			s.t.Errorf("not as before: - %s", line)
		}
	}
	for _, line := range now {
		if !slices.Contains(was, line) {
			s.t.Errorf("not as before: + %s", line)
		}
	}
}

// prepare applies what a plan needs, and returns the transactions.
func (s *shop) prepare(x *change.Executor, p remedy.Plan) []int64 {
	s.t.Helper()
	began := time.Now()
	var under []int64
	for _, prepare := range p.Prepare {
		tx, err := x.Apply(s.t.Context(), change.Intent{Title: "Prepare: " + p.Title, Plan: change.Prepares(p.ID), Changes: prepare})
		if err != nil {
			s.t.Fatal(err)
		}
		under = append(under, tx.ID)
	}
	s.t.Logf("prepared in %s", time.Since(began).Round(time.Millisecond))
	return under
}

func (s *shop) unprepare(x *change.Executor, under []int64) {
	s.t.Helper()
	var errs []error
	for _, id := range slices.Backward(under) {
		errs = append(errs, x.Revert(s.t.Context(), id))
	}
	if err := errors.Join(errs...); err != nil {
		s.t.Fatal(err)
	}
}

// switched applies a plan, and takes it back.
func (s *shop) switched(x *change.Executor, p remedy.Plan, do func()) {
	s.t.Helper()
	began := time.Now()
	tx, err := x.Apply(s.t.Context(), change.Intent{Title: p.Title, Plan: p.ID, Changes: p.Changes})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Logf("switched in %s", time.Since(began).Round(time.Millisecond))
	s.answers("h2")
	do()
	began = time.Now()
	if err := x.Revert(s.t.Context(), tx.ID); err != nil {
		s.t.Fatal(err)
	}
	s.t.Logf("switched back in %s", time.Since(began).Round(time.Millisecond))
	s.answers("h1")
}

// answers expects a host's database to be asked.
func (s *shop) answers(host string) {
	s.t.Helper()
	if who, err := s.ask("/"); err != nil || who != host {
		s.t.Fatalf("%s should be asked, and %q answers, %v", host, who, err)
	}
}
