package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"kasoku/bench/field/fingerprint"
)

// played is a result in which every bar is met.
func played() *Result {
	return &Result{App: "shop", Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Tree: "1234567", Machine: "2 CPUs", Budget: 25 * time.Minute,
		Session: &Session{Took: 20 * time.Minute, Gain: 1.9, Steps: []Step{{Title: "an index", Kept: true, Effect: 0.9}, {Title: "other"}}},
		Runs: []Run{{asFound, 10, 0, 90}, {byHand, 20, 0, 190}, {byKasoku, 18, 0, 170},
			{asFound, 10, 0, 90}, {byHand, 20, 0, 190}, {byKasoku, 18, 0, 170}},
		Undo: &Undo{}}
}

// short lists the figures that fall short.
func short(r *Result) string {
	var out []string
	for _, f := range judge(r) {
		if f.Short {
			out = append(out, f.Name)
		}
	}
	return strings.Join(out, "; ")
}

// Each bar is met by the result above, and not by one that is worse in one thing.
func TestBars(t *testing.T) {
	if s := short(played()); s != "" {
		t.Fatalf("short although all is met: %s", s)
	}
	for name, c := range map[string]struct {
		want  string
		spoil func(r *Result)
	}{
		"slower than a person":  {"Kasoku ÷ hand", func(r *Result) { r.Runs[2].Score, r.Runs[5].Score = 14, 14 }},
		"a run without a score": {"Kasoku ÷ hand", func(r *Result) { r.Runs[5].Score = 0 }},
		"a wrong answer":        {"wrong answers, Kasoku", func(r *Result) { r.Runs[2].Wrong = 1 }},
		"a person's wrong one":  {"wrong answers, by hand", func(r *Result) { r.Runs[1].Wrong = 1 }},
		"something left":        {"undo --all", func(r *Result) { r.Undo.Differences = []fingerprint.Difference{{Section: "file", Name: "/a"}} }},
		"an undo that failed":   {"undo --all", func(r *Result) { r.Undo.Exit = 6 }},
		"an undo not done":      {"undo --all", func(r *Result) { r.Undo = nil }},
		"a person not measured": {"Kasoku ÷ hand; wrong answers, by hand", func(r *Result) { r.Runs = []Run{r.Runs[0], r.Runs[2]} }},
	} {
		r := played()
		c.spoil(r)
		if got := short(r); got != c.want {
			t.Errorf("%s: short are %q, want %q", name, got, c.want)
		}
	}
}

// The table names what is short and what undo left.
func TestTable(t *testing.T) {
	var out bytes.Buffer
	if printTable(&out, []*Result{played()}) || strings.Contains(out.String(), "SHORT") {
		t.Errorf("all bars are met, and the table says:\n%s", &out)
	}
	for _, want := range []string{"10.00 points/s", "×2.00", "0.90", "1 of 2 steps kept"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	r := played()
	r.Undo.Differences = []fingerprint.Difference{{Section: "bytes", Name: "/etc/a", Before: "1", After: "2"}}
	out.Reset()
	if !printTable(&out, []*Result{r}) || !strings.Contains(out.String(), "bytes /etc/a: was 1, is 2") {
		t.Errorf("the difference is not told:\n%s", &out)
	}
}

// What a stranger adds goes into the services that init found, and leaves the rest.
func TestMerge(t *testing.T) {
	found := "version: 1\nservices:\n  - name: web\n    kind: nginx\n  - name: app\n    kind: app\n    control: {method: systemd, unit: rt.service}\nload:\n  scenario: scenario.yaml\n  url: http://h1\n"
	told := "services:\n  app:\n    talks_to: [db]\n    control: {drain_timeout: 5s}\n  more: {kind: redis}\nload:\n  url: http://10.0.0.1\n"
	text, err := merge([]byte(found), []byte(told))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Version  int
		Services []struct {
			Name, Kind string
			TalksTo    []string `yaml:"talks_to"`
			Control    map[string]string
		}
		Load map[string]string
	}
	if err := yaml.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	app := got.Services[1]
	if len(got.Services) != 3 || got.Services[0].Kind != "nginx" || got.Services[2].Name != "more" || app.Kind != "app" || app.TalksTo[0] != "db" ||
		app.Control["unit"] != "rt.service" || app.Control["drain_timeout"] != "5s" || got.Load["url"] != "http://10.0.0.1" || got.Load["scenario"] != "scenario.yaml" || got.Version != 1 {
		t.Errorf("merged to\n%s", text)
	}
	for _, told := range []string{"services: {app: yes}", "\tx"} {
		if _, err := merge([]byte(found), []byte(told)); err == nil {
			t.Errorf("%q was merged", told)
		}
	}
}
