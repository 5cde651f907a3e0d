package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/bench/load/peer"
	"kasoku/bench/load/proc"
	"kasoku/bench/load/ratio"
	"kasoku/internal/await"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		args  string
		wrong string // "" if right
	}{
		{"", ""},
		{"-only a,co -d 1s -rounds 1 -json x", ""},
		{"-only d", `no part "d"`},
		{"-d 2500ms", "whole seconds"},
		{"-d 0s", "whole seconds"},
		{"-rounds 0", "1 or more"},
		{"-connections 1", "2 or more"},
		{"-only post,tls,h2,memory -pin=false -noise 0.1 -tries 0", ""},
		{"-noise 2", "0 to 1"},
		{"-tries -1", "0 or more"},
		{"a", `unexpected "a"`},
		{"-no", "not defined"},
	} {
		s, err := parse(strings.Fields(tt.args), new(bytes.Buffer))
		if (err == nil) != (tt.wrong == "") || err != nil && !strings.Contains(err.Error(), tt.wrong) {
			t.Errorf("%q: %+v, %v", tt.args, s, err)
		}
	}
}

func TestBar(t *testing.T) {
	most, least, below := bar{value: 0.85}, bar{value: 1, least: true}, bar{value: 1, below: true}
	for _, tt := range []struct {
		b    bar
		x    float64
		text string
		want bool
	}{
		{most, 0.85, "≤ 0.85", true}, {most, 0.851, "≤ 0.85", false},
		{least, 1, "≥ 1", true}, {least, 0.999, "≥ 1", false},
		{below, 0.999, "< 1", true}, {below, 1, "< 1", false},
	} {
		if tt.b.met(tt.x) != tt.want || tt.b.String() != tt.text {
			t.Errorf("%v at %v: %v", tt.b, tt.x, tt.b.met(tt.x))
		}
	}
}

func TestFigures(t *testing.T) {
	around := func(values ...float64) ratio.Summary { return ratio.Of(values) }
	good, wide, few := around(0.7, 0.71, 0.72, 0.73, 0.74, 0.75), around(0.7, 0.71, 0.72, 0.73, 0.74, 0.9), around(0.7, 0.71, 0.72, 0.73, 0.74)
	for _, tt := range []struct {
		why  string
		add  func(*figures)
		want string // what is open
	}{
		{"nothing", func(*figures) {}, ""},
		{"a bar met", func(f *figures) { f.judge("a", "x", bar{value: 1}, good, 2, true, "") }, ""},
		{"a bar missed", func(f *figures) { f.judge("a", "x", bar{value: 0.6}, good, 2, false, "") }, "missed: a: x"},
		{"the interval holds the bar", func(f *figures) { f.judge("a", "x", bar{value: 0.85}, wide, 2, false, "") }, "undecided: a: x"},
		{"too few rounds", func(f *figures) { f.judge("a", "x", bar{value: 0.85}, few, 2, false, "") }, "undecided: a: x"},
		{"no quiet round", func(f *figures) { f.judge("a", "x", bar{value: 0.85}, ratio.Summary{}, 2, false, noQuietRound) }, "undecided: a: x"},
		{"a tool of Debian's missing", func(f *figures) { f.judge("a", "x", bar{value: 1}, ratio.Summary{}, 2, true, "wrk is not installed") }, "not judged: a: x"},
		{"another tool missing", func(f *figures) { f.judge("a", "x", bar{value: 1}, ratio.Summary{}, 2, false, "oha is not installed") }, ""},
		{"a figure without a bar", func(f *figures) { f.add("a", "x", "", "1", "", false) }, ""},
	} {
		var f figures
		tt.add(&f)
		if got := strings.Join(f.open(), "\n"); got != tt.want || f.met() != (tt.want == "") {
			t.Errorf("%s: open is %q, want %q", tt.why, got, tt.want)
		}
	}
	var out bytes.Buffer
	f := figures{{"a", "CPU ÷ x's", "< 1", "0.9", met, true}, {"co", "p99", "≤ 3", "4", short, true}}
	f.print(&out)
	want := "\n    figure     bar  measured\na   CPU ÷ x's  < 1  0.9       met\nco  p99        ≤ 3  4         MISSED\n\nmissed: co: p99\n"
	if out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), want)
	}
}

// TestDisturbed: what others disturbed is repeated, so often and not more, and
// then left out.
func TestDisturbed(t *testing.T) {
	await.SkipShort(t)
	dir := tools(t, "cat TESTDATA/kasoku.json")
	// A share that no run can keep to, and one that each keeps.
	for noise, want := range map[string]int{"0": 3, "1": 1} {
		file := filepath.Join(t.TempDir(), "out.json")
		var stdout, stderr bytes.Buffer
		// Another program at work, so that its share is above 0.
		busy, stop := context.WithCancel(t.Context())
		go func() {
			_, _ = proc.Run(busy, proc.Command{Args: []string{"sh", "-c", "while :; do :; done"}}) // it is stopped
		}()
		code := run(t.Context(), []string{"-only", "c", "-rounds", "2", "-d", "1s", "-noise", noise, "-tries", "2", "-kasoku", dir + "/slow", "-peers", dir, "-json", file}, &stdout, &stderr)
		stop()
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(code, err, stderr.String())
		}
		var got struct{ Runs []sample }
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		runs := 0
		for _, s := range got.Runs {
			if s.Tool == "kasoku" && s.Round == 1 {
				runs++
				if s.Disturbed != (noise == "0") {
					t.Errorf("noise %s: %+v", noise, s)
				}
			}
		}
		if runs != want {
			t.Errorf("noise %s: %d runs in round 1, want %d", noise, runs, want)
		}
		if left := strings.Contains(stdout.String(), "2 runs left out"); left != (noise == "0") {
			t.Errorf("noise %s: it prints\n%s", noise, stdout.String())
		}
	}
}

func TestSeries(t *testing.T) {
	good := func(requests, served int64, cpu time.Duration) *sample {
		return &sample{Report: peer.Report{Requests: requests, Elapsed: time.Second}, Counted: true, Served: served, User: cpu}
	}
	s := series{
		"x": {good(1000, 1005, time.Millisecond), nil, good(1000, 1020, 3*time.Millisecond), {Err: "it broke"}},
		"y": {{Disturbed: true, Report: peer.Report{Requests: 1, Failed: 7, Elapsed: time.Second}}},
	}
	v := s.values("x", (*sample).cpu)
	if len(v) != 4 || v[0] != 1 || !math.IsNaN(v[1]) || v[2] != 3 || !math.IsNaN(v[3]) {
		t.Errorf("CPU by round is %v", v)
	}
	if got, want := s.notes("x"), "1 runs failed; count differs from nginx's in 1 runs"; got != want {
		t.Errorf("notes are %q, want %q", got, want)
	}
	if got, want := s.notes("y"), "7 answers failed; 1 runs left out: the machine was busy with other work"; got != want {
		t.Errorf("notes are %q, want %q", got, want)
	}
	if s.broken("x") != "it broke" || s.broken("y") != "" || s.notes("none") != "" {
		t.Error("errors are mixed up")
	}
	if got := s.summary("x", (*sample).rate); got.N != 2 || got.Median != 1000 {
		t.Errorf("rates sum up to %+v", got)
	}
}

// tools writes programs that print what real ones once printed, and returns
// their folder. PATH holds only what they and the shell need.
func tools(t *testing.T, kasoku string) string {
	t.Helper()
	dir := t.TempDir()
	testdata, err := filepath.Abs("peer/testdata")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"slow": "sleep 0.3; cat TESTDATA/kasoku.json", "wrk": "cat " + testdata + "/wrk.txt", "ab": "cat " + testdata + "/ab.txt", "kasoku": kasoku} {
		text = strings.ReplaceAll(text, "TESTDATA", testdata)
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":/usr/sbin:/sbin:/bin")
	return dir
}

// TestMissed runs part a with tools that only claim to have sent something:
// nginx's count finds them out.
func TestMissed(t *testing.T) {
	await.SkipShort(t)
	dir := tools(t, "cat TESTDATA/kasoku.json")
	file := filepath.Join(t.TempDir(), "out.json")
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), []string{"-only", "a", "-rounds", "2", "-d", "1s", "-noise", "1", "-kasoku", dir + "/kasoku", "-peers", dir, "-json", file}, &stdout, &stderr)
	if code != 1 {
		t.Errorf("status %d, want 1: %s", code, stderr.String())
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Missing []string
		Figures figures
		Runs    []sample
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Runs) < 8 || got.Runs[0].Report.Requests < 90000 {
		t.Errorf("%d runs are written, want 4 tools in 2 rounds: %+v", len(got.Runs), got.Runs)
	}
	for _, f := range got.Figures {
		if strings.HasPrefix(f.Name, "all answers right") && f.State != short {
			t.Errorf("requests that nginx did not get pass: %+v", f)
		}
	}
	if len(got.Missing) == 0 || !strings.Contains(stdout.String(), "not installed: "+strings.Join(got.Missing, ", ")) {
		t.Errorf("missing tools %q are not named:\n%s", got.Missing, stdout.String())
	}
}

// TestBroken: a Kasoku that fails is a bar missed, not a benchmark that breaks.
func TestBroken(t *testing.T) {
	dir := tools(t, "echo cannot >&2; exit 3")
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), []string{"-only", "c", "-rounds", "1", "-d", "1s", "-noise", "1", "-kasoku", dir + "/kasoku", "-peers", dir}, &stdout, &stderr)
	if code != 1 || !strings.Contains(stdout.String(), "kasoku failed: kasoku: exit status 3: cannot") {
		t.Errorf("status %d:\n%s%s", code, stdout.String(), stderr.String())
	}
	if code := run(t.Context(), []string{"-kasoku", dir + "/none"}, &stdout, &stderr); code != 2 {
		t.Errorf("without the program the status is %d, want 2", code)
	}
}

// TestInterrupted ends the run while a tool is at work.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	mark := filepath.Join(t.TempDir(), "pid")
	dir := tools(t, fmt.Sprintf("echo $$ >%s.new; mv %s.new %s; exec sleep 60", mark, mark, mark))
	done := make(chan int, 1)
	go func() {
		var out bytes.Buffer
		done <- run(ctx, []string{"-only", "co", "-kasoku", dir + "/kasoku", "-peers", dir}, &out, &out)
	}()
	await.NoError(t, "the tool to be started", func() error { _, err := os.Stat(mark); return err })
	cancel()
	select {
	case code := <-done:
		if code != 130 {
			t.Errorf("status %d, want 130", code)
		}
	case <-time.After(await.Limit):
		t.Fatal("it does not end")
	}
	pid, err := os.ReadFile(mark)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/proc/" + strings.TrimSpace(string(pid))); !os.IsNotExist(err) {
		t.Errorf("the tool lives on: %v", err)
	}
}
