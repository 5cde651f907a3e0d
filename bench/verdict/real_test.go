package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"kasoku/internal/experiment"
)

// source is where a file of the case comes from.
func source(b base, file string) string {
	conf := "conf"
	if b == byHand {
		conf = "hand"
	}
	switch file {
	case serverConf:
		return filepath.Join(conf, "nginx/conf.d/php.conf")
	default:
		if rest, ok := strings.CutPrefix(file, "etc/"); ok {
			return filepath.Join(conf, rest)
		}
		return filepath.Join("php", strings.TrimPrefix(file, "app/"))
	}
}

// Every change can be made to its base, changes something, and is taken away
// again to the byte; whoever changes the case learns here that one cannot.
func TestTrialsFitTheCase(t *testing.T) {
	counts := map[string]int{}
	seen := map[string]bool{}
	for _, tr := range trials("", regexp.MustCompile(""), 0) {
		counts[tr.part]++
		if name := tr.part + tr.title; tr.part != partAA && seen[name] {
			t.Errorf("%s is there twice", tr.title)
		} else {
			seen[name] = true
		}
		files := map[string]string{}
		read := func(file string) (string, error) {
			if text, ok := files[file]; ok {
				return text, nil
			}
			b, err := os.ReadFile(filepath.Join("../../cases/login", source(tr.base, file)))
			return string(b), err
		}
		found := map[string]string{}
		for _, a := range []act{tr.before, tr.act, tr.act.back(), tr.before.back()} {
			if (a.sql == "") != (a.unsql == "") {
				t.Errorf("%s: its statements cannot be taken away", tr.title)
			}
			names, before, after, err := a.edited(read)
			if err != nil {
				t.Fatalf("%s, from %s: %v", tr.title, tr.base, err)
			}
			for _, n := range names {
				if before[n] == after[n] {
					t.Errorf("%s changes nothing in %s", tr.title, n)
				}
				if _, known := found[n]; !known {
					found[n] = before[n]
				}
				files[n] = after[n]
			}
		}
		if len(tr.act.edits) == 0 && tr.act.sql == "" {
			t.Errorf("%s is no change", tr.title)
		}
		for n, text := range found {
			if files[n] != text {
				t.Errorf("%s: %s does not come back as it was", tr.title, n)
			}
		}
	}
	if counts[partAA] != 30 || counts[partHarm] != 10 || counts[partGood] != 10 {
		t.Errorf("%v; the bars are for 30, 10 and 10", counts)
	}
	if got := trials(partGood, regexp.MustCompile("index"), 2); len(got) != 2 || got[0].part != partGood {
		t.Errorf("a choice of trials: %+v", got)
	}
}

func TestUnifiedIsAPatch(t *testing.T) {
	dir := t.TempDir()
	const before, after = "one\n\n  three\nfour\n", "zero\none\n  drei\nfour\n"
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte(before), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("git", "apply", "-p1", "-")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(unified("f", before, after))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "f")); err != nil || string(got) != after {
		t.Errorf("%q, %v", got, err)
	}
}

// One comment that is kept, one good change that is not: each misses its bar.
func TestFiguresBesideTheirBars(t *testing.T) {
	of := func(part string, kept bool) result {
		return result{trial: trial{part: part}, kept: kept, verdict: experiment.Verdict{Pairs: 3, Effect: 0.1}}
	}
	for _, c := range []struct {
		name    string
		results []result
		held    bool
		lines   []string
	}{
		{"all right", []result{of(partAA, false), of(partHarm, false), of(partGood, true)}, true, []string{"ok     a comment changed: 0 of 1 kept (bar: 0)", "ok     known-good changes: 1 of 1 kept (bar: 1)"}},
		{"kept in vain", []result{of(partAA, true), of(partAA, false)}, false, []string{"MISSED a comment changed: 1 of 2 kept (bar: 0)"}},
		{"harm kept", []result{of(partHarm, true)}, false, []string{"MISSED harmful changes: 1 of 1 kept (bar: 0)"}},
		{"good not kept", []result{of(partGood, true), of(partGood, false)}, false, []string{"MISSED known-good changes: 1 of 2 kept (bar: 2)"}},
		{"nothing was tried", nil, false, []string{"0 of 3 experiments"}},
	} {
		var out bytes.Buffer
		r := &realRun{results: c.results, all: 3}
		if got := r.tell(&out); got != c.held {
			t.Errorf("%s: held %v", c.name, got)
		}
		for _, line := range c.lines {
			if !strings.Contains(out.String(), line) {
				t.Errorf("%s: no %q in\n%s", c.name, line, out.String())
			}
		}
	}
}
