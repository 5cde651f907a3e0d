package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"kasoku/bench/field/fingerprint"
	"kasoku/internal/load"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// tune lets Kasoku work, and reads from its store what it did. An interrupted
// session goes on. One that could not judge its experiments is over, too: what it
// reached by then counts.
func (a *app) tune(ctx context.Context) error {
	err := a.kasoku(ctx, nil, []int{ui.NoDifference, ui.Inconclusive, ui.Broken}, "tune", "--budget", a.Budget.String())
	if ctx.Err() != nil {
		return err
	}
	s, serr := a.session()
	if err != nil && (serr != nil || s.Reason != store.StopNoisy) {
		return err
	}
	a.result.Session = s
	return serr
}

// session is the last one in the store.
func (a *app) session() (*Session, error) {
	db, err := store.Open(filepath.Join(filepath.Dir(a.stack()), ".kasoku"))
	if err != nil {
		return nil, err
	}
	defer db.Close()
	last, err := db.LastSession()
	if err != nil {
		return nil, err
	}
	steps, err := db.Steps(last.ID)
	if err != nil {
		return nil, err
	}
	s := &Session{Took: last.Ended.Sub(last.Started), Stopped: last.Stopped, Reason: last.StopReason, Gain: last.Gain()}
	for _, x := range steps {
		s.Steps = append(s.Steps, Step{Title: x.Plan.Title, Kept: x.Kept && !x.LeftOut, Outcome: string(x.Verdict.Outcome), Effect: x.Verdict.Effect, Expected: x.Expected, Took: x.Ended.Sub(x.Started)})
	}
	return s, nil
}

// compare measures the three in turns. Each round begins with another one, so
// that none always follows the same.
func (a *app) compare(ctx context.Context) error {
	for len(a.result.Runs) < a.Rounds*len(sides) {
		n := len(a.result.Runs)
		s := sides[(n+n/len(sides))%len(sides)]
		r, err := a.measure(ctx, s.host)
		if err != nil {
			return err
		}
		r.Side = s.side
		fmt.Printf("   %-8s  %.2f points/s, %d requests, %d wrong\n", r.Side, r.Score, r.Requests, r.Wrong)
		a.result.Runs = append(a.result.Runs, r)
		if err := a.result.save(a.dir); err != nil {
			return err
		}
	}
	return nil
}

// measure is one run of the scenario against a host, from its state as filled.
func (a *app) measure(ctx context.Context, host string) (Run, error) {
	if err := a.on(ctx, host, os.Stdout, filepath.Join(remote, "reset.sh")); err != nil {
		return Run{}, err
	}
	if err := a.wait(ctx, host); err != nil {
		return Run{}, err
	}
	args := []string{"--quiet", "load", filepath.Join(a.hostDir(host), "scenario.yaml"), "http://" + a.lab.address(host), "--allow", a.lab.address(host) + "/32"}
	if a.Window > 0 {
		args = append(args, "-d", a.Window.String())
	}
	var l load.Result
	if err := a.kasoku(ctx, &l, []int{ui.WrongAnswers}, args...); err != nil {
		return Run{}, err
	}
	return Run{Score: l.Score, Wrong: l.Mismatches + l.Timeouts + l.Errors, Requests: l.Requests}, nil
}

// wait returns when the application answers at its front door; it may have been
// started a moment ago.
func (a *app) wait(ctx context.Context, host string) error {
	return a.on(ctx, host, os.Stdout, "for i in $(seq 150); do curl -fsS -m 20 -o /dev/null http://"+a.lab.address(host)+"/ 2>/dev/null && exit; sleep 0.2; done; exit 1")
}

// undo puts the first host back, and looks at what is not as it was.
func (a *app) undo(ctx context.Context) error {
	u := &Undo{}
	err := a.kasoku(ctx, nil, nil, "undo", "--all")
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		u.Exit = exit.ExitCode()
	} else if err != nil {
		return err
	}
	first := sides[0].host
	if err := a.on(ctx, first, os.Stdout, filepath.Join(remote, "reset.sh")); err != nil {
		return err
	}
	if err := a.takeFingerprint(ctx, first, "after.json"); err != nil {
		return err
	}
	before, err := a.readFingerprint("before.json")
	if err != nil {
		return err
	}
	after, err := a.readFingerprint("after.json")
	if err != nil {
		return err
	}
	u.Differences = fingerprint.Diff(before, after)
	for _, d := range u.Differences {
		fmt.Println("  ", d)
	}
	a.result.Undo = u
	return nil
}

// takeFingerprint keeps it in a file of its own, because it is large.
func (a *app) takeFingerprint(ctx context.Context, host, file string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	p, err := fingerprint.Collect(ctx, a.ssh(ctx, host, "bash -s").Args...)
	if err != nil {
		return err
	}
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return replace(filepath.Join(a.dir, file), text)
}

func (a *app) readFingerprint(file string) (p fingerprint.Print, err error) {
	text, err := os.ReadFile(filepath.Join(a.dir, file))
	if err != nil {
		return nil, err
	}
	return p, json.Unmarshal(text, &p)
}
