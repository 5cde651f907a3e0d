package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// mutant is the accelerator with something taken out that ends memory, or says where
// memory may answer.
type mutant struct {
	name  string
	level sql.IsolationLevel // at which it is caught
	edits []edit
}

// edit is a text of a file of the accelerator, which is there once, and what stands there
// instead.
type edit struct{ file, old, new string }

var mutants = []mutant{
	{"no write ends memory", sql.LevelRepeatableRead, []edit{{"prefetch.go", "e >= writes {\n\t\tc.forget()", "e >= writes {"}}},
	{"nothing ends memory", sql.LevelRepeatableRead, []edit{{"prefetch.go", "func (c *conn) forget() {\n", "func (c *conn) forget() {\n\tif true {\n\t\treturn\n\t}\n"}}},
	{"memory outlives the transaction", sql.LevelRepeatableRead, []edit{
		{"conn.go", "func (t *tx) end() {\n\tt.c.forget()", "func (t *tx) end() {"},
		{"conn.go", "c.forget()\n\tt, err := c.begin", "t, err := c.begin"},
		{"conn.go", "c.forget()\n\tif r, ok := c.Conn.(driver.SessionResetter)", "if r, ok := c.Conn.(driver.SessionResetter)"}}},
	{"a deadlock does not end memory", sql.LevelRepeatableRead, []edit{{"prefetch.go", "c.forget()\n\t\tc.failed = c.inTx", ""}}},
	{"functions do not end memory", sql.LevelRepeatableRead, []edit{{"words.go", "query[t.from] == '(' && called:\n\t\t\t\ts.effect = max(s.effect, writes)", "query[t.from] == '(' && called:"}}},
	{"ROLLBACK TO does not end memory", sql.LevelRepeatableRead, []edit{{"words.go", "== \"to\" {\n\t\t\t\treturn writes", "== \"to\" {\n\t\t\t\treturn reads"}}},
	{"memory answers at READ COMMITTED", sql.LevelReadCommitted, []edit{{"prefetch.go", "return t.stale\n", "return true\n"}}},
	{"rows of another key", sql.LevelRepeatableRead, []edit{{"prefetch.go", "h.rows[key] = found[key]", "h.rows[key] = found[keys[0]]"}}},
}

// build compiles the worker into dir, with edits of the accelerator if there are some.
func build(ctx context.Context, dir, name string, edits []edit) (string, error) {
	out := filepath.Join(dir, name)
	args := []string{"build", "-o", out}
	if len(edits) > 0 {
		where, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", "kasoku/accelerator").Output()
		if err != nil {
			return "", fmt.Errorf("find the accelerator: %w", err)
		}
		overlay, err := mutated(strings.TrimSpace(string(where)), out, edits)
		if err != nil {
			return "", err
		}
		args = append(args, "-overlay", overlay)
	}
	if text, err := exec.CommandContext(ctx, "go", append(args, "kasoku/bench/accelerator/worker")...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the worker %s: %w\n%s", name, err, text)
	}
	return out, nil
}

// mutated writes the files with the edits, and what go takes as -overlay.
func mutated(accelerator, prefix string, edits []edit) (string, error) {
	texts := map[string]string{}
	for _, e := range edits {
		name := filepath.Join(accelerator, e.file)
		if texts[name] == "" {
			data, err := os.ReadFile(name)
			if err != nil {
				return "", err
			}
			texts[name] = string(data)
		}
		if n := strings.Count(texts[name], e.old); n != 1 {
			return "", fmt.Errorf("%s has %q %d times, not once; the mutant needs a new text", e.file, e.old, n)
		}
		texts[name] = strings.Replace(texts[name], e.old, e.new, 1)
	}
	replace := map[string]string{}
	for name, text := range texts {
		to := prefix + "." + filepath.Base(name)
		if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[name] = to
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	return prefix + ".json", os.WriteFile(prefix+".json", data, 0o600)
}
