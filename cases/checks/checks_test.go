package checks

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/prove"
	"kasoku/internal/tune"
)

// TestCaches: a Varnish that is purged holds; one that nobody purges gives old
// notes, and one that keeps a member's page gives it to others. Both are seen,
// and attributed to it.
func TestCaches(t *testing.T) {
	x := startSite(t)
	run := x.Answers(t, "as found")
	p := &tune.Prover{Bench: x.Bench, UI: silent{}}
	if why, err := p.Record(t.Context(), run.ID); why != "" || err != nil {
		t.Fatal(why, err)
	}
	if r := x.prove(t, prove.Equality); r.Outcome != prove.Held || r.Reads < 8 {
		t.Errorf("as found, answers are not as found: %+v", r)
	}
	if r := x.prove(t, prove.Staleness); r.Outcome != prove.Held || r.Writes != 2 || r.Limit != 0 {
		t.Errorf("purged: %+v", r)
	}

	x.purges.Store(false)
	r := x.prove(t, prove.Staleness)
	if r.Outcome != prove.Failed || r.Failures != 4 || r.Worst <= 0 {
		t.Errorf("nobody purges: %+v", r)
	} else if by := r.Problems[0].By; !strings.HasPrefix(by, "front (") || !strings.HasSuffix(by, "): asked directly, app gives the right answer") || !strings.Contains(by, "X-Varnish") {
		t.Errorf("attributed to %q", by)
	}
	x.purges.Store(true)

	x.use(t, "leaking")
	r = x.prove(t, prove.Equality)
	if r.Outcome != prove.Failed {
		t.Fatalf("a member's page is given to others: %+v", r)
	}
	stranger, other := false, false
	for _, p := range r.Problems {
		if !strings.HasPrefix(p.What, "GET /me") || !strings.HasPrefix(p.By, "front") || !strings.HasSuffix(p.By, "app gives the right answer") {
			t.Errorf("%+v", p)
		}
		stranger = stranger || strings.Contains(p.What, "as a stranger): status 200 instead of [302]")
		other = other || strings.Contains(p.What, "line 2") && strings.Contains(p.What, "You are user")
	}
	if !stranger || !other {
		t.Errorf("a stranger got it: %v, another member: %v; %+v", stranger, other, r.Problems)
	}
	x.use(t, "good")
	if r := x.prove(t, prove.Equality); r.Outcome != prove.Held {
		t.Errorf("repaired: %+v", r)
	}
}

// TestDurability: what is acknowledged outlives SIGKILL with the log synced at
// each commit. Without it, writes are lost; with the log only written at each
// commit a kill loses nothing, and the setting tells.
func TestDurability(t *testing.T) {
	t.Setenv("TMPDIR", "/var/tmp") // which a reboot does not empty
	x := startSite(t)
	svc := x.Stack.Service("db")
	crash := func() prove.Result {
		t.Helper()
		w, err := witness(x)
		if err != nil {
			t.Fatal(err)
		}
		r, err := prove.Crash(t.Context(), x.Stack, x.Hosts["local"], svc, w, prove.CrashOptions{For: 500 * time.Millisecond, Again: 100 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %s %+v", r.Outcome, r.Text, r.Problems)
		return r
	}
	// The settings last until the kill: then the configuration's hold again.
	exec1(t, x.db, "SET GLOBAL innodb_flush_log_at_trx_commit = 2")
	if r := crash(); r.Outcome != prove.Failed || r.Failures != 1 || r.Problems[0].What != "db has innodb_flush_log_at_trx_commit = 2: a commit does not wait for the log to be on the disk" {
		t.Errorf("the log is not synced: %+v", r)
	}
	if r := crash(); r.Outcome != prove.Held || r.Failures != 0 || r.Writes < 20 || r.Reads < 40 || r.BackAfter <= 0 {
		t.Errorf("durable: %+v", r)
	}
	lost := false
	for range 3 { // a kill right after the log was written once a second loses nothing
		exec1(t, x.db, "SET GLOBAL innodb_flush_log_at_trx_commit = 0")
		r := crash()
		if r.Outcome != prove.Failed {
			t.Errorf("the log is not written: %+v", r)
		}
		for _, p := range r.Problems {
			lost = lost || strings.Contains(p.What, "before the end is lost")
		}
		if lost {
			break
		}
	}
	if !lost {
		t.Error("no write was lost by three kills although the log is written once a second")
	}

	// Nothing is killed that kasoku.yaml does not name.
	x.Stack.Checks.Kill = nil
	pid := bed.Output(t, "cat", filepath.Join(x.Dir, "db/p.pid"))
	if r := x.prove(t, prove.Durability); r.Outcome != prove.NotJudged || !strings.Contains(r.Text, "may not be killed") {
		t.Errorf("%+v", r)
	}
	w, err := witness(x)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := prove.Crash(t.Context(), x.Stack, x.Hosts["local"], svc, w, prove.CrashOptions{For: time.Millisecond, Least: 1}); err == nil || !strings.Contains(err.Error(), "checks.kill") {
		t.Errorf("it was killed without permission: %v", err)
	}
	if now := bed.Output(t, "cat", filepath.Join(x.Dir, "db/p.pid")); now != pid {
		t.Errorf("process %s became %s", strings.TrimSpace(pid), strings.TrimSpace(now))
	}
}

// TestDataInMemory: a database whose files lie in memory keeps nothing through
// a reboot, whatever it syncs.
func TestDataInMemory(t *testing.T) {
	x := startInMemory(t)
	if r := x.prove(t, prove.Durability); r.Outcome != prove.Failed || !strings.Contains(r.Problems[0].What, "which is memory (tmpfs)") || r.Failures != 1 {
		t.Errorf("%+v", r)
	}
}
