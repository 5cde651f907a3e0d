package idle_test

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

	"kasoku/internal/await"
	"kasoku/internal/load"
	"kasoku/internal/stack"
)

// game is one running copy of the case, with the small data.
type game struct {
	t        *testing.T
	dir      string
	stack    *stack.Stack
	scenario *load.Scenario
}

// up brings a variant up in a directory of its own, with a short path that other
// users can enter, and takes it down after the test.
func up(t *testing.T, variant string) *game {
	t.Helper()
	parent, err := os.MkdirTemp("", "ki")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(parent) })
	if err := os.Chmod(parent, 0o755); err != nil {
		t.Fatal(err)
	}
	g := &game{t: t, dir: filepath.Join(parent, "c")}
	t.Cleanup(func() { exec.Command("./case.sh", "down", g.dir, "--purge").Run() })
	g.must("up", "--variant", variant, "--size", "small")
	g.reload()
	return g
}

// must runs case.sh.
func (g *game) must(command string, args ...string) {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(g.t.Context(), 2*await.Limit) // it installs a database
	defer cancel()
	if out, err := exec.CommandContext(ctx, "./case.sh", append([]string{command, g.dir}, args...)...).CombinedOutput(); err != nil {
		g.t.Fatalf("case.sh %s: %v\n%s", command, err, out)
	}
}

// reload reads kasoku.yaml and the scenario again.
func (g *game) reload() {
	g.t.Helper()
	var err error
	if g.stack, err = stack.Load(filepath.Join(g.dir, "kasoku.yaml")); err != nil {
		g.t.Fatal(err)
	}
	if g.scenario, err = load.LoadScenario(filepath.Join(g.dir, "scenario.yaml")); err != nil {
		g.t.Fatal(err)
	}
	g.scenario.Timeout = await.Limit // answers are told, not how soon they came
}

// newcomers is the scenario with newcomers only: few routes, so that a short run
// sees all of a visit.
func (g *game) newcomers() *load.Scenario {
	g.t.Helper()
	text, err := os.ReadFile("scenario.yaml")
	if err != nil {
		g.t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(text), "\n  # Presents, in pages.\n")
	_, rest, _ = strings.Cut(rest, "\n  - name: newcomer\n")
	newcomer, rest, _ := strings.Cut(rest, "\n  # An old client")
	_, end, _ := strings.Cut(rest, "\nteardown:\n")
	end, _, _ = strings.Cut(end, "\nscore:\n") // it names routes of the others
	file := filepath.Join(g.dir, "newcomers.yaml")
	if err := os.WriteFile(file, []byte(head+"\n  - name: newcomer\n"+newcomer+"\nteardown:\n"+end), 0o644); err != nil {
		g.t.Fatal(err)
	}
	scenario, err := load.LoadScenario(file)
	if err != nil {
		g.t.Fatal(err)
	}
	scenario.Timeout = await.Limit
	return scenario
}

// sql runs statements as the operator and returns the rows as text.
func (g *game) sql(statements string) string {
	g.t.Helper()
	cmd := exec.Command("mariadb", "--defaults-file="+filepath.Join(g.dir, "secrets/client.cnf"), "--batch", "--skip-column-names", "idle", "-e", statements)
	out, err := cmd.CombinedOutput()
	if err != nil {
		g.t.Fatalf("%s: %v\n%s", statements, err, out)
	}
	return strings.TrimSpace(string(out))
}

// rows is a fingerprint of every table of the game that a player changes.
func (g *game) rows() string {
	g.t.Helper()
	return g.sql(`CHECKSUM TABLE users, user_devices, user_bans, user_sessions, user_one_time_tokens, user_cards, user_decks,
		user_items, user_presents, user_present_all_history, user_login_bonuses, user_coin_logs, version_masters,
		item_masters, lottery_masters, lottery_item_masters, present_all_masters`)
}

// call asks for JSON and returns the status.
func (g *game) call(method, path string, head map[string]string, body string, into any) int {
	g.t.Helper()
	req, err := http.NewRequestWithContext(g.t.Context(), method, g.stack.Load.URL+path, strings.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	for name, value := range head {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		g.t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		g.t.Fatalf("%s %s: %v", method, path, err)
	}
	return resp.StatusCode
}

// wrong is what the books find wrong.
func (g *game) wrong() []string {
	g.t.Helper()
	var admin struct{ Session string }
	g.call("POST", "/admin/login", nil, `{"user_id":1,"password":"admin"}`, &admin)
	var books struct{ Wrong, Purses []string }
	if status := g.call("GET", "/admin/books", map[string]string{"X-Admin-Session": admin.Session}, "", &books); status != 200 || len(books.Purses) == 0 {
		g.t.Fatalf("books: %d, %d purses", status, len(books.Purses))
	}
	return books.Wrong
}

// play puts the scenario's load on the game and fails the test for any wrong answer,
// the books at the end among them.
func (g *game) play() {
	g.t.Helper()
	result, err := load.Run(g.t.Context(), load.Options{Scenario: g.scenario, URL: g.stack.Load.URL, Workload: 4, Warmup: -1, Window: window})
	if err != nil {
		g.t.Fatal(err)
	}
	if result.Mismatches+result.Errors+result.Timeouts > 0 {
		g.t.Errorf("%d right, %d mismatches, %d errors, %d time-outs", result.Succeeded, result.Mismatches, result.Errors, result.Timeouts)
		for _, s := range result.Samples {
			g.t.Logf("%s %s/%s %s: want %s, got %s\n%.300s", s.Kind, s.Session, s.Step, s.Request, s.Expected, s.Got, s.Body)
		}
	}
}

// visit lets a newcomer register, look at his presents, receive them and draw: the
// same requests each time. rows is how many the database read for them.
func (g *game) visit() (rows int64) {
	g.t.Helper()
	const read = "SELECT CAST(SUM(VARIABLE_VALUE) AS SIGNED) FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME LIKE 'HANDLER_READ_%'"
	before := g.number(read)
	head := map[string]string{"X-Master-Version": g.sql("SELECT master_version FROM version_masters"), "X-Viewer": "visitor"}
	var in struct {
		Session string
		User    struct{ ID int64 }
	}
	g.call("POST", "/user", head, `{"viewer":"visitor","platform":1}`, &in)
	head["X-Session"] = in.Session
	path := fmt.Sprintf("/user/%d/", in.User.ID)
	var list struct {
		IDs []int64 `json:"present_ids"`
	}
	g.call("GET", path+"presents/1", head, "", &list)
	ids, err := json.Marshal(list)
	if err != nil || len(list.IDs) < 2 {
		g.t.Fatalf("presents of a newcomer: %v %v", list, err)
	}
	var out struct {
		Token string `json:"one_time_token"`
		User  struct{ Coins int64 }
		Error string
	}
	g.call("POST", path+"presents/receive", head, string(ids), &out)
	if want := g.number("SELECT 400 + SUM(amount) FROM present_all_masters WHERE item_type = 1"); out.User.Coins != want {
		g.t.Errorf("a newcomer has %d coins, want %d", out.User.Coins, want)
	}
	g.call("GET", path+"lottery", head, "", &out)
	if status := g.call("POST", path+"lottery/1/draw/10", head, `{"one_time_token":"`+out.Token+`"}`, &out); status != 200 {
		g.t.Errorf("draw: %d %s", status, out.Error)
	}
	return g.number(read) - before
}

func (g *game) number(query string) (n int64) {
	g.t.Helper()
	if _, err := fmt.Sscan(g.sql(query), &n); err != nil {
		g.t.Fatal(err)
	}
	return n
}
