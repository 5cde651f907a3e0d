// Package api_test plays the game API in short, with its real servers and the small
// data: it answers rightly as found, by hand and with its source changed, the books
// balance and find what is lost or doubled, a reset brings every row back, and the
// scenario's mix is the play log's.
package api_test

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"kasoku/cases/lib/played"
	"kasoku/internal/await"
	"kasoku/internal/record"
	"kasoku/internal/remedy"
)

// window is how long players begin sessions.
const window = 700 * time.Millisecond

func TestAPI(t *testing.T) {
	await.SkipShort(t)
	t.Parallel()
	c := played.Up(t, "api", "go")
	asFound := rows(c)
	c.Play(c.Scenario, window)
	checkBooks(c)
	c.Must("reset")
	if rows(c) != asFound {
		t.Error("after reset the rows are not as found")
	}
	c.Play(c.Load(filepath.Join(c.Dir, "reroll.yaml")), window)
	found := statements(c)
	c.Undone(c.Scenario, window, func(p remedy.Plan) bool { return p.Remedy == "go.interpolate" || p.Remedy == "go.gc" },
		func(int) { c.Play(c.Scenario, window) })
	c.Must("reset")
	c.Must("hand", "--source")
	c.Reload()
	c.Play(c.Scenario, window)
	// Reading a user with his deck is one statement instead of eleven.
	if by := statements(c); by*4 > found {
		t.Errorf("with the source changed a visit takes %d statements, as found %d: want at most a fourth", by, found)
	} else {
		t.Logf("statements of a visit: as found %d, with the source changed %d", found, by)
	}
	c.Must("reset")
	if rows(c) != asFound {
		t.Error("by source: after reset the rows are not as found")
	}
}

// rows is a fingerprint of every table that a player changes.
func rows(c *played.Case) string {
	c.T.Helper()
	return c.SQL("CHECKSUM TABLE users, user_cards, decks, user_items, presents, friends, ledger")
}

// statements is how many the database runs while a player logs in and looks at his
// friends: the same each time.
func statements(c *played.Case) int64 {
	c.T.Helper()
	const ran = "SELECT CAST(SUM(VARIABLE_VALUE) AS SIGNED) FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME IN ('COM_SELECT', 'COM_STMT_EXECUTE')"
	before := c.Number(ran)
	var in struct{ Session string }
	c.Call("POST", "/login", nil, `{"user_id":35,"device":"device-35"}`, &in)
	var list struct{ Friends []struct{ ID int64 } }
	if c.Call("GET", "/friends", map[string]string{"X-Session": in.Session}, "", &list); len(list.Friends) < 2 {
		c.T.Fatalf("a player has the friends %v", list)
	}
	return c.Number(ran) - before
}

// checkBooks: what is lost, doubled or had for nothing is found, and nothing else.
func checkBooks(c *played.Case) {
	c.T.Helper()
	visit(c)
	const someone = "id = (SELECT MAX(user_id) FROM ledger WHERE id > 100000000)"
	for _, k := range []struct{ why, do, undo, want string }{
		{"nothing", "SELECT 1", "SELECT 1", ""},
		{"a lost coin", "UPDATE users SET coins = coins - 1 WHERE " + someone, "UPDATE users SET coins = coins + 1 WHERE " + someone, "has 1 of coins too few"},
		{"a doubled stone", "UPDATE users SET stones = stones + 1 WHERE " + someone, "UPDATE users SET stones = stones - 1 WHERE " + someone, "has 1 of stones too many"},
		{"a present that waits again", "UPDATE presents SET received_at = NULL WHERE received_at > UNIX_TIMESTAMP('2025-12-02') LIMIT 1", "SELECT 1", "of presents too many"},
		{"cards that nobody paid", "UPDATE ledger SET amount = amount + 1 WHERE id > 100000000 AND reason = 'gacha' AND thing = 'cards' LIMIT 1", "SELECT 1", "has 30 of stones for cards too few"},
		{"a lost card", "DELETE FROM user_cards WHERE id > 100000000 ORDER BY id LIMIT 1", "SELECT 1", "of cards too few"},
	} {
		c.SQL(k.do)
		var books struct{ Wrong, Purses []string }
		if status := c.Call("GET", "/admin/books", nil, "", &books); status != 200 || len(books.Purses) == 0 {
			c.T.Fatalf("books: %d, %d purses", status, len(books.Purses))
		}
		if k.want == "" && len(books.Wrong) > 0 || k.want != "" && !strings.Contains(strings.Join(books.Wrong, "\n"), k.want) {
			c.T.Errorf("%s: the books find %q, want %q", k.why, books.Wrong, k.want)
		}
		c.SQL(k.undo)
	}
}

// visit lets a player whom the scenario does not draw receive presents and draw cards.
func visit(c *played.Case) {
	c.T.Helper()
	user, ids, _ := strings.Cut(c.SQL("SELECT user, first FROM books.waiting WHERE user % 5 = 2 ORDER BY user LIMIT 1"), "\t")
	var out struct{ Session, Error string }
	c.Call("POST", "/login", nil, `{"user_id":`+user+`,"device":"device-`+user+`"}`, &out)
	head := map[string]string{"X-Session": out.Session}
	for path, body := range map[string]string{"/presents/receive": `{"present_ids":[` + ids + `]}`, "/gacha": `{"gacha_id":1,"count":3}`} {
		if status := c.Call("POST", path, head, body, &out); status != 200 {
			c.T.Fatalf("POST %s %s: %d %s", path, body, status, out.Error)
		}
	}
}

// TestMix: the scenario's requests come in the shares that `kasoku scenario from-log`
// learns from the play log, to one point in a hundred.
func TestMix(t *testing.T) {
	t.Parallel()
	log, err := exec.Command("awk", "-f", "playlog.awk").Output()
	if err != nil {
		t.Fatal(err)
	}
	draft, err := record.FromLog(bytes.NewReader(log), record.LogOptions{Writes: true, Sessions: 20})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("scenario.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var scenario struct {
		Sessions []struct {
			Weight float64
			Steps  []struct{ Request string }
		}
	}
	if err := yaml.Unmarshal(text, &scenario); err != nil {
		t.Fatal(err)
	}
	share, all := map[string]float64{}, 0.0
	for _, s := range scenario.Sessions {
		for _, step := range s.Steps {
			share[step.Request] += s.Weight
			all += s.Weight
		}
	}
	if len(share) != len(draft.Routes) {
		t.Errorf("%d routes are played, %d are in the log", len(share), len(draft.Routes))
	}
	for _, r := range draft.Routes {
		played, logged := share[r.Route]/all, float64(r.Recorded)/float64(draft.Requests)
		if math.Abs(played-logged) > 0.01 {
			t.Errorf("%s: %.1f %% of the scenario, %.1f %% of the play log", r.Route, 100*played, 100*logged)
		}
	}
}
