package tune

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/remedy"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// tooFew users ask for a page that keeps one of five PHP-FPM processes for 40 ms
// without CPU. Twice as many keep all of them at work, and more only wait.
const tooFew = 3

const waitScenario = `version: 1
name: wait
workload: %d
duration: 1s
sessions:
  - name: visit
    steps:
      - name: page
        request: GET /wait.php
        expect: {contains: ["done"]}
`

// startWaiting runs nginx with PHP-FPM behind it, and a tuner for both that
// finds nothing but the load.
func startWaiting(t *testing.T) *Tuner {
	t.Helper()
	pool := startPool(t, "pm.max_children = 5\n") // the last one counts
	page := filepath.Join(pool.dir, "wait.php")
	front := startWeb(t, "    access_log off;\n", "    location = /wait.php { fastcgi_pass unix:"+pool.dir+"/php.sock; fastcgi_param SCRIPT_FILENAME "+page+"; fastcgi_param REQUEST_METHOD $request_method; }\n")
	scenario := filepath.Join(front.dir, "scenario.yaml")
	for path, text := range map[string]string{page: "<?php usleep(40000); echo 'done';", scenario: fmt.Sprintf(waitScenario, tooFew)} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	sc, err := load.LoadScenario(scenario)
	if err != nil {
		t.Fatal(err)
	}
	st := &stack.Stack{Dir: front.dir, Name: "wait", Load: stack.LoadConfig{URL: front.url, Scenario: scenario}, Services: append(front.st.Services, pool.st.Services...)}
	st.Tune.MaxForeignCPU = 1 // what else runs does not matter: the effect is large
	db, err := store.Open(filepath.Join(front.dir, "tuner"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	hosts := map[string]host.Host{"local": host.NewLocal()}
	exec, err := OpenExecutor(t.Context(), filepath.Join(front.dir, "tuner"), st, hosts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { exec.Close() })
	table := remedy.Table
	t.Cleanup(func() { remedy.Table = table })
	remedy.Table = nil
	for _, r := range table {
		if r.ID == "load.workload" {
			remedy.Table = append(remedy.Table, r)
		}
	}
	tu := &Tuner{Stack: st, Store: db, Exec: exec, Rule: experiment.DefaultRule(), UI: quiet{},
		Bench: &Bench{Stack: st, Hosts: hosts, Scenario: sc, Store: db, Window: 500 * time.Millisecond, Warmup: 100 * time.Millisecond, Instruments: Instruments{Plain: true}}}
	tu.Rule.Alpha = 0.1 // the fewest pairs will do
	tu.standIns.observes = func(ctx context.Context, label string) (*store.Run, *evidence.Snapshot, error) {
		tu.Bench.Instruments.Plain = true
		run, snap, err := Observe(ctx, exec, tu.Bench, tu.course.workload, label, quiet{})
		if err != nil {
			return nil, nil, err
		}
		// As on a machine of its own.
		sys := tu.Bench.scored.reference.Evidence.System
		sys.User, sys.Sys, sys.Idle = sys.ServicesCPU+sys.GeneratorCPU, 0, sys.Idle+sys.ForeignCPU
		sys.ForeignCPU = 0
		seen := *run.Evidence
		seen.System = sys
		run.Diagnosis, err = diagnose.Diagnose(diagnose.Input{Stack: st, Evidence: &seen, Snapshot: snap})
		return run, snap, err
	}
	return tu
}

// On the real servers a load that is too low is found, raised where more users
// are answered, and kept for the session. Scores with the load as found still
// compare with the first, and the next session begins with that load again.
func TestRemedyWorkload(t *testing.T) {
	tu := startWaiting(t)
	hash := func() string {
		snap, err := evidence.Take(t.Context(), tu.Stack, tu.Bench.Hosts, evidence.TakeOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return snap.Hash()
	}
	before := hash()
	if err := tu.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := tu.observe(t.Context(), "as found"); err != nil {
		t.Fatal(err)
	}
	plan, finding := tu.next()
	if plan == nil || plan.Remedy != "load.workload" {
		t.Fatalf("%+v; findings %+v", plan, tu.seen.diag.Findings)
	}
	step, err := tu.try(t.Context(), *plan, finding, tu.seen.diag.Binds)
	if err != nil {
		t.Fatal(err)
	}
	v := step.Verdict
	t.Logf("%s: %s; %d users, %.0f → %.0f answers/s in %d pairs", finding.Text, step.Plan.Title, step.Chosen, v.BaselineScore, v.CandidateScore, v.Pairs)
	if !step.Kept || step.Tx != 0 || step.Chosen < 2*tooFew || tu.course.workload != step.Chosen || v.CandidateScore < 1.3*v.BaselineScore {
		t.Errorf("kept %v as transaction %d, %d users, now %d: %s", step.Kept, step.Tx, step.Chosen, tu.course.workload, v.Reason)
	}
	runs, err := tu.Store.Runs(store.RunFilter{Step: step.ID, Kind: store.Scored})
	if err != nil || len(runs) < 4 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	for _, r := range runs {
		run, err := tu.Store.Run(r.ID)
		if err != nil {
			t.Fatal(err)
		}
		if want := map[experiment.Side]int{experiment.Baseline: tooFew, experiment.Candidate: step.Chosen}[r.Side]; run.Evidence.Load.Workload != want {
			t.Errorf("run %d of the %s: %d users, want %d", r.ID, r.Side, run.Evidence.Load.Workload, want)
		}
	}
	tu.session.Final = v.CandidateScore
	if err := tu.sameLoad(t.Context()); err != nil {
		t.Fatal(err)
	}
	same := tu.session.FinalAsFoundLoad / tu.session.AsFound
	if same < 0.4 || same > 2.5 || tu.course.workload != step.Chosen {
		t.Errorf("with the load as found ×%.2f of the score as found: nothing else was changed", same)
	}
	// Taken back, nothing is left of it.
	if err := tu.Exec.UndoAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	tu.session.State = "done"
	if err := tu.Store.SaveSession(tu.session); err != nil {
		t.Fatal(err)
	}
	if err := tu.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if tu.course.workload != tooFew || tu.session.AsFoundWorkload != tooFew || tu.session.AsFound > v.CandidateScore/1.2 || hash() != before {
		t.Errorf("the next session: %d users, %.0f answers/s", tu.course.workload, tu.session.AsFound)
	}
}
