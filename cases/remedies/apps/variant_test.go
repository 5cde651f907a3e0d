package apps_test

import (
	"fmt"
	"strings"
	"testing"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/change"
	"kasoku/internal/remedy"
	"kasoku/internal/stack"
	"kasoku/internal/tune"
)

// twoLanguages is a shop in Python under Gunicorn with one worker, of which
// there is a version in Perl under Starman too. Python runs.
func twoLanguages(t *testing.T) (*bed.Bed, int) {
	t.Helper()
	gunicorn, starman := need(t, "gunicorn"), need(t, "starman")
	dir, port := bed.Folder(t), bed.FreePort(t)
	copied(t, dir, "python/shop.py", "shop.py")
	copied(t, dir, "perl/app.psgi", "app.psgi")
	write(t, dir, "kasoku.yaml", `version: 1
services:
  - name: app
    kind: app
    root: %DIR%
    listen: ["127.0.0.1:%PORT%"]
    control: {pid_file: python.pid, start: [`+gunicorn+`, --bind, "127.0.0.1:%PORT%", --pid, %DIR%/python.pid, "shop:app"]}
    variants:
      - name: perl
        control: {pid_file: perl.pid, start: [`+starman+`, --listen, "127.0.0.1:%PORT%", --workers, "3", --pid, %DIR%/perl.pid, app.psgi]}
load: {scenario: scenario.yaml, url: "http://127.0.0.1:%PORT%"}
regulation: {memory_headroom_percent: 5}
`, port)
	scenario(t, dir, "GET /", "sum 2666466670000")
	run(t, dir, "gunicorn", port, gunicorn, "--bind", fmt.Sprintf("127.0.0.1:%d", port), "--pid", dir+"/python.pid", "shop:app")
	return bed.Open(t, dir), port
}

// restarting is what the end of a session does.
func restarting() remedy.Plan {
	return remedy.Plan{ID: "restart", Title: "restart", Changes: []change.Change{{Kind: change.KindRestart, Service: "app", Activate: change.Restart}}}
}

// answering is the program of the process that Kasoku takes for the app's.
func answering(t *testing.T, b *bed.Bed) string {
	t.Helper()
	argv := strings.Join(snapshot(t, b).Apps["app"].Argv, " ")
	for _, name := range []string{"gunicorn", "starman"} {
		if strings.Contains(argv, name) {
			return name
		}
	}
	t.Fatalf("the app's process is %q", argv)
	return ""
}

// Another implementation is found, takes over and answers alike; what is kept
// is what later Kasokus find, restart and measure, also after it was stopped; undo
// brings the first one back.
func TestVariant(t *testing.T) {
	b, _ := twoLanguages(t)
	bad := b.Plans(t)
	plan := bed.Want(t, bad, "app.variant:app:perl")
	for _, p := range bad.Plans {
		if p.ID == "app.variant:app:main" {
			t.Error("what runs is planned")
		}
	}
	b.ShowFrom(t, bad, func(t *testing.T, p remedy.Plan) {
		if now := answering(t, b); now != "starman" {
			t.Errorf("%s answers", now)
		}
	}, "app.variant")
	before := b.Hash(t)
	tx := b.Apply(t, plan)
	if err := b.Exec.Keep(t.Context(), tx.ID); err != nil {
		t.Fatal(err)
	}
	// What another Kasoku, without memory of this one, finds in use.
	again := func() *stack.Controller {
		t.Helper()
		st, err := stack.Load(b.Dir + "/kasoku.yaml")
		if err != nil {
			t.Fatal(err)
		}
		c, err := stack.NewController(b.Hosts["local"], st, st.Service("app"))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	pids, err := again().PIDs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := again().Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	now, err := again().PIDs(t.Context())
	if err != nil || now[0] == pids[0] || answering(t, b) != "starman" {
		t.Errorf("restarted %v to %v (%v), %s answers", pids, now, err, answering(t, b))
	}
	// Somebody stops it; the journal says which one is to be started again.
	if err := again().Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if drift, err := b.Exec.Verify(t.Context()); err != nil || len(drift) != 1 {
		t.Errorf("the kept one is stopped: drift %v, %v", drift, err)
	}
	if err := b.Exec.Close(); err != nil {
		t.Fatal(err)
	}
	if b.Exec, err = tune.OpenExecutor(t.Context(), b.Dir+"/.kasoku", b.Stack, b.Hosts); err != nil {
		t.Fatal(err)
	}
	if err := b.Exec.Keep(t.Context(), b.Apply(t, restarting()).ID); err != nil {
		t.Fatal(err)
	}
	if now := answering(t, b); now != "starman" {
		t.Errorf("%s was started in its place", now)
	}
	b.Answers(t, "started again")
	if err := b.Exec.UndoAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if now := answering(t, b); now != "gunicorn" || b.Hash(t) != before {
		t.Errorf("after undo %s answers, and the hash is as before: %v", now, b.Hash(t) == before)
	}
	b.Answers(t, "undone")
}
