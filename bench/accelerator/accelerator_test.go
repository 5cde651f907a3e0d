package main

import (
	"bytes"
	"context"
	"database/sql"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"kasoku/bench/accelerator/history"
	"kasoku/internal/await"
)

// The short form of the check: four processes at two levels while things are broken, and
// an accelerator whose invalidation is taken out, which has to be caught.
func TestShort(t *testing.T) {
	await.SkipShort(t)
	dir, err := os.MkdirTemp("", "kasoku-accelerator") // a socket's name is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	ctx := context.Background()
	worker, err := build(ctx, dir, "worker", nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := startServer(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	c := &comparison{server: s, settings: settings{procs: 4, seed: 1, limit: time.Hour}, worker: worker, out: io.Discard}
	if err := c.writeRules(); err != nil {
		t.Fatal(err)
	}
	for level, answers := range map[sql.IsolationLevel]bool{sql.LevelSerializable: false, sql.LevelRepeatableRead: true} {
		r, err := c.run(ctx, c.trial("with", level, c.rules, 60, 1))
		if err != nil {
			t.Fatal(err)
		}
		for _, class := range beyond(r, without(allowed[level])) {
			t.Errorf("%v: %s: %s", level, class, r.Examples[class])
		}
		if r.answered > 0 != answers || r.Outcomes[history.Committed] < 100 || r.faults.servers+r.faults.processes == 0 {
			t.Errorf("%v: %d answered from memory, %v, %+v", level, r.answered, r.Outcomes, r.faults)
		}
	}
	mutant, err := build(ctx, dir, "mutant", mutants[0].edits)
	if err != nil {
		t.Fatal(err)
	}
	if caught, err := c.caught(ctx, mutants[0], mutant); err != nil || !caught {
		t.Errorf("%s: caught: %v, %v", mutants[0].name, caught, err)
	}
}

// Each mutant's texts are in the accelerator as it is now.
func TestMutantsApply(t *testing.T) {
	for _, m := range mutants {
		if _, err := mutated("../../accelerator", t.TempDir()+"/m", m.edits); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}

func TestCommandLine(t *testing.T) {
	for _, args := range []string{"x", "-n 0", "-only nothing", "-processes 0"} {
		var errs bytes.Buffer
		if got := run(context.Background(), strings.Fields(args), io.Discard, &errs); got != 2 || errs.Len() == 0 {
			t.Errorf("%s: exit status %d, %q", args, got, errs.String())
		}
	}
	if got := run(context.Background(), []string{"-h"}, io.Discard, io.Discard); got != 0 {
		t.Errorf("-h: %d", got)
	}
}

// A process that is killed leaves appends that may be there.
func TestReadOfAKilledProcess(t *testing.T) {
	name := t.TempDir() + "/h"
	text := `{"intent": {"o": "a", "k": 1, "v": 5}, "begun": 7}
{"p": 1, "b": 7, "e": 9, "x": "ok", "ops": [{"o": "a", "k": 1, "v": 5}]}
{"intent": {"o": "a", "k": 2, "v": 6}, "begun": 10}
{"intent": {"o": "a", "k": 2, "v"`
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := read(name)
	if err != nil || len(got) != 2 || got[0].Outcome != history.Committed || got[1].Outcome != history.Unknown || len(got[1].Ops) != 1 || got[1].Ops[0].Value != 6 || got[1].Begin != 10 {
		t.Errorf("%+v, %v", got, err)
	}
}
