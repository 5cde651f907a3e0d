package idle_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/cases/lib/played"
	"kasoku/internal/load"
)

// game is one running copy of the case.
type game struct{ *played.Case }

func up(t *testing.T, variant string) *game {
	t.Helper()
	return &game{played.Up(t, "idle", variant)}
}

// play plays the whole scenario.
func (g *game) play() {
	g.T.Helper()
	g.Play(g.Scenario, window)
}

// newcomers is the scenario with newcomers only: few routes, so that a short run
// sees all of a visit.
func (g *game) newcomers() *load.Scenario {
	g.T.Helper()
	text, err := os.ReadFile("scenario.yaml")
	if err != nil {
		g.T.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(text), "\n  # Presents, in pages.\n")
	_, rest, _ = strings.Cut(rest, "\n  - name: newcomer\n")
	newcomer, rest, _ := strings.Cut(rest, "\n  # An old client")
	_, end, _ := strings.Cut(rest, "\nteardown:\n")
	end, _, _ = strings.Cut(end, "\nscore:\n") // it names routes of the others
	file := filepath.Join(g.Dir, "newcomers.yaml")
	if err := os.WriteFile(file, []byte(head+"\n  - name: newcomer\n"+newcomer+"\nteardown:\n"+end), 0o644); err != nil {
		g.T.Fatal(err)
	}
	return g.Load(file)
}

// rows is a fingerprint of every table of the game that a player changes.
func (g *game) rows() string {
	g.T.Helper()
	return g.SQL(`CHECKSUM TABLE users, user_devices, user_bans, user_sessions, user_one_time_tokens, user_cards, user_decks,
		user_items, user_presents, user_present_all_history, user_login_bonuses, user_coin_logs, version_masters,
		item_masters, lottery_masters, lottery_item_masters, present_all_masters`)
}

// wrong is what the books find wrong.
func (g *game) wrong() []string {
	g.T.Helper()
	var admin struct{ Session string }
	g.Call("POST", "/admin/login", nil, `{"user_id":1,"password":"admin"}`, &admin)
	var books struct{ Wrong, Purses []string }
	if status := g.Call("GET", "/admin/books", map[string]string{"X-Admin-Session": admin.Session}, "", &books); status != 200 || len(books.Purses) == 0 {
		g.T.Fatalf("books: %d, %d purses", status, len(books.Purses))
	}
	return books.Wrong
}

// visit lets a newcomer register, look at his presents, receive them and draw: the
// same requests each time. rows is how many the database read for them.
func (g *game) visit() (rows int64) {
	g.T.Helper()
	const read = "SELECT CAST(SUM(VARIABLE_VALUE) AS SIGNED) FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME LIKE 'HANDLER_READ_%'"
	before := g.Number(read)
	head := map[string]string{"X-Master-Version": g.SQL("SELECT master_version FROM version_masters"), "X-Viewer": "visitor"}
	var in struct {
		Session string
		User    struct{ ID int64 }
	}
	g.Call("POST", "/user", head, `{"viewer":"visitor","platform":1}`, &in)
	head["X-Session"] = in.Session
	path := fmt.Sprintf("/user/%d/", in.User.ID)
	var list struct {
		IDs []int64 `json:"present_ids"`
	}
	g.Call("GET", path+"presents/1", head, "", &list)
	ids, err := json.Marshal(list)
	if err != nil || len(list.IDs) < 2 {
		g.T.Fatalf("presents of a newcomer: %v %v", list, err)
	}
	var out struct {
		Token string `json:"one_time_token"`
		User  struct{ Coins int64 }
		Error string
	}
	g.Call("POST", path+"presents/receive", head, string(ids), &out)
	if want := g.Number("SELECT 400 + SUM(amount) FROM present_all_masters WHERE item_type = 1"); out.User.Coins != want {
		g.T.Errorf("a newcomer has %d coins, want %d", out.User.Coins, want)
	}
	g.Call("GET", path+"lottery", head, "", &out)
	if status := g.Call("POST", path+"lottery/1/draw/10", head, `{"one_time_token":"`+out.Token+`"}`, &out); status != 200 {
		g.T.Errorf("draw: %d %s", status, out.Error)
	}
	return g.Number(read) - before
}
