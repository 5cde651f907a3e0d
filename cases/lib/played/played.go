// Package played runs a copy of a case for its tests: case.sh brings it up in a
// folder of its own, the scenario plays on it, and its database can be asked. What
// comes in is the folder of the test, which is the case's; what goes out are answers
// that were told right or wrong.
package played

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/evidence"
	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/stack"
)

// Case is one running copy, with the small data.
type Case struct {
	T        *testing.T
	Dir      string
	Database string // its name
	Stack    *stack.Stack
	Scenario *load.Scenario
}

// Up brings a variant ("php", "go") of the case in the test's own folder up, in a
// directory with a short path that other users can enter, and takes it down after
// the test.
func Up(t *testing.T, database, variant string) *Case {
	t.Helper()
	parent, err := os.MkdirTemp("", "k")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(parent) })
	if err := os.Chmod(parent, 0o755); err != nil {
		t.Fatal(err)
	}
	c := &Case{T: t, Dir: filepath.Join(parent, "c"), Database: database}
	t.Cleanup(func() { exec.Command("./case.sh", "down", c.Dir, "--purge").Run() })
	c.Must("up", "--variant", variant, "--size", "small")
	c.Reload()
	return c
}

// Must runs case.sh.
func (c *Case) Must(command string, args ...string) {
	c.T.Helper()
	ctx, cancel := context.WithTimeout(c.T.Context(), 2*await.Limit) // it installs a database
	defer cancel()
	if out, err := exec.CommandContext(ctx, "./case.sh", append([]string{command, c.Dir}, args...)...).CombinedOutput(); err != nil {
		c.T.Fatalf("case.sh %s: %v\n%s", command, err, out)
	}
}

// Reload reads kasoku.yaml and scenario.yaml again.
func (c *Case) Reload() {
	c.T.Helper()
	var err error
	if c.Stack, err = stack.Load(filepath.Join(c.Dir, "kasoku.yaml")); err != nil {
		c.T.Fatal(err)
	}
	c.Scenario = c.Load(filepath.Join(c.Dir, "scenario.yaml"))
}

// Load reads a scenario. Its answers are told, not how soon they came.
func (c *Case) Load(file string) *load.Scenario {
	c.T.Helper()
	scenario, err := load.LoadScenario(file)
	if err != nil {
		c.T.Fatal(err)
	}
	scenario.Timeout = await.Limit
	return scenario
}

// Play puts a scenario's load on the case for a window and fails the test for any
// wrong answer, those of its teardown among them.
func (c *Case) Play(scenario *load.Scenario, window time.Duration) {
	c.T.Helper()
	result, err := load.Run(c.T.Context(), load.Options{Scenario: scenario, URL: c.Stack.Load.URL, Workload: 4, Warmup: -1, Window: window})
	if err != nil {
		c.T.Fatal(err)
	}
	if result.Mismatches+result.Errors+result.Timeouts > 0 {
		c.T.Errorf("%d right, %d mismatches, %d errors, %d time-outs", result.Succeeded, result.Mismatches, result.Errors, result.Timeouts)
		for _, s := range result.Samples {
			c.T.Logf("%s %s/%s %s: want %s, got %s\n%.300s", s.Kind, s.Session, s.Step, s.Request, s.Expected, s.Got, s.Body)
		}
	}
}

// SQL runs statements as the operator and returns the rows as text.
func (c *Case) SQL(statements string) string {
	c.T.Helper()
	cmd := exec.Command("mariadb", "--defaults-file="+filepath.Join(c.Dir, "secrets/client.cnf"), "--batch", "--skip-column-names", c.Database, "-e", statements)
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.T.Fatalf("%s: %v\n%s", statements, err, out)
	}
	return strings.TrimSpace(string(out))
}

// Number is the number that a query finds.
func (c *Case) Number(query string) (n int64) {
	c.T.Helper()
	if _, err := fmt.Sscan(c.SQL(query), &n); err != nil {
		c.T.Fatal(err)
	}
	return n
}

// Call asks for JSON and returns the status.
func (c *Case) Call(method, path string, head map[string]string, body string, into any) int {
	c.T.Helper()
	req, err := http.NewRequestWithContext(c.T.Context(), method, c.Stack.Load.URL+path, strings.NewReader(body))
	if err != nil {
		c.T.Fatal(err)
	}
	for name, value := range head {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.T.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		c.T.Fatalf("%s %s: %v", method, path, err)
	}
	return resp.StatusCode
}

// Target is a hash of all files, settings and indexes that Kasoku may change.
func (c *Case) Target(hosts map[string]host.Host) string {
	c.T.Helper()
	snap, err := evidence.Take(c.T.Context(), c.Stack, hosts, evidence.TakeOptions{Brief: true})
	if err != nil {
		c.T.Fatal(err)
	}
	return snap.Hash()
}

// Reporter puts the loop's words into the test's log.
type Reporter struct{ T *testing.T }

func (r Reporter) Step(s string)       { r.T.Log(s) }
func (r Reporter) Info(s string)       { r.T.Log(s) }
func (r Reporter) Warn(s, hint string) { r.T.Logf("%s (%s)", s, hint) }
