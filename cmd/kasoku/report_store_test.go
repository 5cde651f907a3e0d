package main

import (
	"encoding/json"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"kasoku/internal/change"
	"kasoku/internal/report"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// sameAsStore: the numbers of a session's report, its JSON, its page and its
// Markdown, are those of the rows in the store.
func sameAsStore(t *testing.T, state, jsonFile, htmlFile string) report.Model {
	t.Helper()
	m := decode[report.Model](t, readText(t, jsonFile))
	st, err := store.Open(state)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	session, err := st.Session(m.Session.ID)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "session", m.Session, *session)
	steps, err := st.Steps(session.ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(steps) != len(m.Steps) {
		t.Fatalf("%d steps, the store holds %d", len(m.Steps), len(steps))
	}
	for i, s := range steps {
		equal(t, fmt.Sprintf("step %d", s.Seq), m.Steps[i].Step, s)
	}
	runs, err := st.Runs(store.RunFilter{Session: session.ID})
	if err != nil {
		t.Fatal(err)
	}
	if m.Runs.Total != len(runs) || m.Runs.Scored+m.Runs.Diagnostic+m.Runs.Probe != len(runs) {
		t.Errorf("runs: %+v, the store holds %d", m.Runs, len(runs))
	}
	for _, side := range []*report.Side{m.Before, m.After} {
		if side == nil {
			continue
		}
		run, err := st.Run(side.Run)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, fmt.Sprintf("load of run %d", side.Run), []any{side.RequestsPerSecond, side.Latency}, []any{run.Evidence.Load.RequestsPerSecond, run.Evidence.Load.Latency})
		if m.Seen != nil && m.Seen.Run == side.Run {
			equal(t, fmt.Sprintf("evidence of run %d", side.Run), m.Seen.Evidence, run.Evidence)
		}
	}
	pageSays(t, htmlFile, session, steps, len(runs))
	markdownSays(t, &m, session, steps, len(runs))
	return m
}

// pageSays what the store holds.
func pageSays(t *testing.T, htmlFile string, s *store.Session, steps []store.Step, runs int) {
	t.Helper()
	said := map[string]string{}
	page := strings.ReplaceAll(readText(t, htmlFile), "\u00a0", " ")
	for _, m := range regexp.MustCompile(`id="([a-z0-9-]+)">([^<]*)<`).FindAllStringSubmatch(page, -1) {
		said[m[1]] = html.UnescapeString(m[2])
	}
	want := map[string]string{"as-found": ui.Count(s.AsFound) + " points/s", "runs": fmt.Sprint(runs)}
	if s.Final > 0 && s.AsFound > 0 {
		want["final"], want["factor"] = ui.Count(s.Final)+" points/s", ui.Factor(s.Final/s.AsFound)
	}
	for _, x := range steps {
		if x.Verdict.Pairs > 0 && len(x.LeavesOut) == 0 {
			want[fmt.Sprintf("effect-%d", x.Seq)] = report.Effect(x.Verdict)
		}
	}
	for id, text := range want {
		if said[id] != text {
			t.Errorf("%s: the page says %q, the store %q", id, said[id], text)
		}
	}
}

// markdownSays what the store holds.
func markdownSays(t *testing.T, m *report.Model, s *store.Session, steps []store.Step, runs int) {
	t.Helper()
	var b strings.Builder
	if err := report.Markdown(&b, m); err != nil {
		t.Fatal(err)
	}
	want := []string{"| As found | " + ui.Count(s.AsFound) + " points/s |", fmt.Sprintf("- Runs: %d runs: ", runs)}
	if s.Final > 0 && s.AsFound > 0 {
		want = append(want, "| At the end | "+ui.Count(s.Final)+" points/s |", "| Factor | "+ui.Factor(s.Final/s.AsFound)+" |")
	} else if strings.Contains(b.String(), "| At the end |") {
		t.Error("Markdown tells an end that was not measured")
	}
	for _, x := range steps {
		if x.Verdict.Pairs > 0 && len(x.LeavesOut) == 0 {
			want = append(want, " | "+report.Effect(x.Verdict)+" | ")
		}
	}
	for _, text := range want {
		if !strings.Contains(b.String(), text) {
			t.Errorf("Markdown does not hold %q", text)
		}
	}
}

// equal by their JSON, secrets masked.
func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	change.RedactAll(&want)
	g, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	w, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if string(g) != string(w) {
		t.Errorf("%s: the report says\n%s\nthe store\n%s", what, g, w)
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestReportEqualsStoreOf compares the reports of every session in the project
// of KASOKU_STORE_OF with its store: for sessions that take too long for a test.
func TestReportEqualsStoreOf(t *testing.T) {
	dir := os.Getenv("KASOKU_STORE_OF")
	if dir == "" {
		t.Skip("set KASOKU_STORE_OF to the folder of a kasoku.yaml")
	}
	state := filepath.Join(dir, ".kasoku")
	st, err := store.Open(state)
	if err != nil {
		t.Fatal(err)
	}
	sessions, err := st.Sessions(0)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for _, s := range sessions {
		out := t.TempDir()
		for _, name := range []string{"r.json", "r.html"} {
			if code := run([]string{"-f", filepath.Join(dir, "kasoku.yaml"), "report", fmt.Sprint(s.ID), "-o", filepath.Join(out, name)}, os.Stdout, os.Stderr); code != ui.OK {
				t.Fatalf("the report of session %d ended with %d", s.ID, code)
			}
		}
		m := sameAsStore(t, state, filepath.Join(out, "r.json"), filepath.Join(out, "r.html"))
		t.Logf("session %d: %d steps, %d runs", s.ID, len(m.Steps), m.Runs.Total)
	}
}
