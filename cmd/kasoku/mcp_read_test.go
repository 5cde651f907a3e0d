package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kasoku/internal/mcp"
	"kasoku/internal/store"
)

// agentReads asks a server that only reads about the latest real run, and what
// it would try now for that and for an earlier one. Nothing changes by it.
func (c *theCase) agentReads(earlier int64, planned string) {
	c.t.Helper()
	t := c.t
	before, journal := c.state(), c.journal()
	g := startAgent(t, c.dir, nil, nil)
	ask := func(tool string, in map[string]any) string {
		t.Helper()
		out, failed := g.ask(t.Context(), tool, in)
		if failed {
			t.Fatalf("%s %v: %s", tool, in, out)
		}
		return out
	}
	status := decode[mcp.Status](t, ask("status", nil))
	ev := decode[mcp.Evidence](t, ask("evidence", map[string]any{"rows": 100}))
	if ev.Run == 0 || ev.Run != status.Diagnostic || ev.Kind != string(store.Diagnostic) || ev.Binds == "" || ev.Started == "" {
		t.Errorf("evidence of run %d (%s), the latest is %d; binds: %q", ev.Run, ev.Kind, status.Diagnostic, ev.Binds)
	}
	for table, word := range map[string]string{"routes": "POST /login", "statements": "users", "bounds": "db", "services": "php"} {
		i := slices.IndexFunc(ev.Tables, func(x mcp.Table) bool { return x.Name == table })
		if i < 0 {
			t.Errorf("evidence has no table %s; it has %d others: %v", table, len(ev.Others), ev.Others)
			continue
		}
		x := ev.Tables[i]
		told := ""
		for _, row := range x.Rows {
			if len(row) != len(x.Columns) {
				t.Errorf("%s: a row of %d cells below %d columns", table, len(row), len(x.Columns))
			}
			told += strings.Join(row, " | ") + "\n"
		}
		if !strings.Contains(told, word) {
			t.Errorf("table %s does not tell %q:\n%s", table, word, told)
		}
	}
	few := decode[mcp.Evidence](t, ask("evidence", map[string]any{"run": ev.Run, "rows": 1, "tables": []string{"statements"}}))
	if len(few.Tables) != 1 || len(few.Tables[0].Rows) != 1 || few.Tables[0].More == 0 {
		t.Errorf("one row of statements: %+v", few.Tables)
	}
	if now := decode[mcp.Plans](t, ask("plan", nil)); now.Run != ev.Run || len(now.Plans)+len(now.Refused)+len(now.Skipped) == 0 {
		t.Errorf("the plan for the latest run: %+v", now)
	}

	plans := decode[mcp.Plans](t, ask("plan", map[string]any{"run": earlier}))
	found := false
	for _, p := range plans.Plans {
		if p.ID == "" || p.Title == "" || p.Why == "" || p.Bound < 1 || len(p.Acts) == 0 && p.Users == 0 && p.Search == "" {
			t.Errorf("a plan that does not say what it is: %+v", p)
		}
		for _, a := range p.Acts {
			found = found || strings.Contains(a.Diff, planned)
		}
	}
	if !found || plans.Run != earlier {
		t.Errorf("the plan for run %d is of run %d; none of its %d plans has %q", earlier, plans.Run, len(plans.Plans), planned)
	}

	// What changes something is not there at all.
	if out, failed := g.ask(t.Context(), "try", map[string]any{"set": []string{"web.keepalive_timeout=66"}}); !failed || !strings.Contains(out, "unknown tool") {
		t.Errorf("try of a server that only reads: %s", out)
	}
	g.gone()
	g.cmd.Wait()
	c.same(before, "after an agent has read")
	if c.journal() != journal {
		t.Error("an agent that only reads has written to the journal")
	}
}

// journal is what Kasoku has written down about changes.
func (c *theCase) journal() string {
	c.t.Helper()
	b, err := os.ReadFile(filepath.Join(c.dir, ".kasoku/journal/journal.jsonl"))
	if err != nil {
		c.t.Fatal(err)
	}
	return string(b)
}

// firstDiagnostic is the number of the first stored run with a diagnosis.
func (c *theCase) firstDiagnostic() int64 {
	c.t.Helper()
	db, err := store.Open(filepath.Join(c.dir, ".kasoku"))
	if err != nil {
		c.t.Fatal(err)
	}
	defer db.Close()
	runs, err := db.Runs(store.RunFilter{Kind: store.Diagnostic})
	if err != nil || len(runs) == 0 {
		c.t.Fatalf("%d diagnostic runs, %v", len(runs), err)
	}
	return slices.MinFunc(runs, func(a, b store.Run) int { return int(a.ID - b.ID) }).ID
}
