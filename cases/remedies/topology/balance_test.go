package topology_test

import (
	"errors"
	"slices"
	"testing"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/change"
	"kasoku/internal/experiment/effecttest"
)

// TestBalance: requests go where the plan says, none is lost on the way there
// and back, and what was there comes back to the byte.
func TestBalance(t *testing.T) {
	t.Parallel() // disposable hosts are mostly waited for
	s := start(t)
	before := s.seen()
	if got := s.answers(); got != "h1 50 h2 50" {
		t.Fatalf("as found: %s", got)
	}
	for _, c := range []struct {
		id         string
		php, other float64
		value      int
		want       string
		inForce    func(s *site)
	}{
		// Of h1's 20 s nginx uses 6: (20u − 6)/12 + 20u/12 = 1 gives u = 0.45.
		{"nginx.balance", 6, 6, 100, "h1 25 h2 75", nil},
		{"nginx.fewer-hosts", 2, 2, 1, "h1 100", func(s *site) {
			// The host that was left out answers when the other one fails.
			s.sh("h1", "systemctl stop php8.2-fpm.service")
			if got := s.answers(); got != "h2 100" {
				s.t.Errorf("without PHP on h1: %s", got)
			}
			s.sh("h1", "systemctl start php8.2-fpm.service")
		}},
		// Equal use of three hosts is nothing for h1 and halves for the others;
		// half of the way there. For it h3 gets the code, a pool, and PHP at
		// each boot.
		{"nginx.spare-host", 6, 6, 50, "h1 25 h2 50 h3 25", func(s *site) {
			if got := s.sh("h3", "systemctl is-enabled php8.2-fpm.service; systemctl is-active php8.2-fpm.service; cat /srv/app/index.php"); got != "enabled\nactive\n<?php echo gethostname();" {
				s.t.Errorf("PHP of h3 is %s", got)
			}
		}},
	} {
		t.Run(c.id, func(t *testing.T) {
			s.t = t
			p := bed.Want(t, s.plans(c.php, c.other), c.id)
			t.Logf("%s: %s", p.Title, p.Why)
			changes, err := p.Search.At(c.value)
			if err != nil {
				t.Fatal(err)
			}
			var under []int64
			for _, prepare := range p.Prepare {
				tx, err := s.exec.Apply(t.Context(), change.Intent{Title: "Prepare: " + p.Title, Plan: change.Prepares(p.ID), Changes: prepare})
				if err != nil {
					t.Fatal(err)
				}
				under = append(under, tx.ID)
			}
			var tx change.Tx
			apply := func() (err error) {
				tx, err = s.exec.Apply(t.Context(), change.Intent{Title: p.Title, Plan: p.ID, Changes: changes})
				return err
			}
			rate := func() float64 { return effecttest.Rate(t, func() error { _, err := s.get(); return err }) }
			effecttest.Measure(t, p, effecttest.Answers, rate, rate,
				func() {
					if err := apply(); err != nil {
						t.Fatal(err)
					}
				}, func() {
					if err := s.exec.Revert(t.Context(), tx.ID); err != nil {
						t.Fatal(err)
					}
				})
			s.busily(apply)
			if got := s.answers(); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if c.inForce != nil {
				c.inForce(s)
			}
			s.busily(func() error {
				err := s.exec.Revert(t.Context(), tx.ID)
				for _, id := range slices.Backward(under) {
					err = errors.Join(err, s.exec.Revert(t.Context(), id))
				}
				return err
			})
			if after := s.seen(); after != before {
				t.Errorf("the hosts are not as before:\n%s\nthey were:\n%s", after, before)
			}
			if got := s.answers(); got != "h1 50 h2 50" {
				t.Errorf("put back: %s", got)
			}
		})
	}
}
