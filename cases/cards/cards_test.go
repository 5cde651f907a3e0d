// Package cards_test plays the card game in short, with its real servers and the small
// data: it answers rightly as found and by hand with its source changed, the books
// balance and find what is lost or doubled, a reset brings every row back, and undo
// leaves the service byte for byte as it was.
package cards_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/cases/lib/played"
	"kasoku/internal/await"
	"kasoku/internal/remedy"
)

// window is how long players begin sessions.
const window = 700 * time.Millisecond

func TestCards(t *testing.T) {
	await.SkipShort(t)
	t.Parallel()
	c := played.Up(t, "cards", "php")
	asFound := rows(c)
	c.Play(c.Scenario, window)
	checkBooks(c)
	c.Must("reset")
	if rows(c) != asFound {
		t.Error("after reset the rows are not as found")
	}
	found := statements(c)
	taken := false
	c.Undone(c.Scenario, window, func(p remedy.Plan) bool {
		// One: each edits files that the next was planned from.
		want := !taken && slices.Contains([]string{"cache.socket", "app.cache-persistent", "app.db-persistent", "php.session-persistent"}, p.Remedy)
		taken = taken || want
		return want
	}, func(int) { c.Play(c.Scenario, window) })
	c.Must("reset")
	c.Must("hand", "--source")
	c.Reload()
	c.Play(c.Scenario, window)
	c.Must("reset")
	if rows(c) != asFound {
		t.Error("by source: after reset the rows are not as found")
	}
	// All decks come of one question instead of one for each card.
	if by := statements(c); by*10 > found {
		t.Errorf("with the source changed a visit takes %d statements, as found %d: want at most a tenth", by, found)
	} else {
		t.Logf("statements of a visit: as found %d, with the source changed %d", found, by)
	}
}

// statements is how many the database runs while a player logs in, looks at his decks
// and saves one, which nobody has looked at since the last reset.
func statements(c *played.Case) int64 {
	c.T.Helper()
	const ran = "SELECT CAST(SUM(VARIABLE_VALUE) AS SIGNED) FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME IN ('COM_SELECT', 'COM_INSERT', 'COM_DELETE', 'COM_UPDATE')"
	before := c.Number(ran)
	deck := c.SQL("SELECT GROUP_CONCAT(id) FROM user_cards WHERE id BETWEEN 3801 + 25 AND 3801 + 49")
	browse(c, []visited{
		{"/login", url.Values{"name": {"player20"}, "password": {"secret20"}}},
		{"/decks/4", url.Values{"cards": {deck}}}, // and on to all decks
	})
	return c.Number(ran) - before
}

// rows is a fingerprint of every table that a player changes.
func rows(c *played.Case) string {
	c.T.Helper()
	return c.SQL("CHECKSUM TABLE players, user_cards, deck_cards, guild_battles, attacks, attack_cards, ledger")
}

// checkBooks: what is lost, doubled or had for nothing is found, and nothing else.
func checkBooks(c *played.Case) {
	c.T.Helper()
	visit(c)
	const someone = "id = (SELECT MIN(player_id) FROM ledger WHERE id > 100000000)"
	for _, k := range []struct{ why, do, undo, want string }{
		{"nothing", "SELECT 1", "SELECT 1", ""},
		{"a lost coin", "UPDATE players SET coins = coins - 1 WHERE " + someone, "UPDATE players SET coins = coins + 1 WHERE " + someone, "has 1 of coins too few"},
		{"a doubled coin", "UPDATE players SET coins = coins + 1 WHERE " + someone, "UPDATE players SET coins = coins - 1 WHERE " + someone, "has 1 of coins too many"},
		{"points of nobody", "UPDATE guild_battles SET points = points + 1 WHERE id = 1", "UPDATE guild_battles SET points = points - 1 WHERE id = 1", "guild 1 has 1 of points too many"},
		{"a ranking that missed an attack", "UPDATE guild_battles SET points = points + 1 WHERE id = 2; UPDATE books.guild_battles SET points = points + 1 WHERE id = 2",
			"UPDATE guild_battles SET points = points - 1 WHERE id = 2; UPDATE books.guild_battles SET points = points - 1 WHERE id = 2", "and is ranked with"},
		{"a place in a deck", "UPDATE deck_cards SET player_id = player_id + 100000000 WHERE id > 100000000 ORDER BY id LIMIT 1",
			"UPDATE deck_cards SET player_id = player_id - 100000000 WHERE player_id > 100000000", "has 1 of cards in decks too few"},
		{"a lost card", "DELETE FROM user_cards WHERE id > 100000000 ORDER BY id LIMIT 1", "SELECT 1", "has 1 of cards too few"},
		{"a card of a battle", "DELETE FROM attack_cards WHERE id > 100000000 ORDER BY id LIMIT 1", "SELECT 1", "has 1 of cards in battles too few"},
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

// visit lets a player whom the scenario does not draw draw cards, save a deck and fight.
func visit(c *played.Case) {
	c.T.Helper()
	enemy := c.SQL("SELECT MIN(q.id) FROM players p JOIN guild_battles b ON b.guild_id = p.guild_id JOIN players q ON q.guild_id = b.enemy_id WHERE p.id = 10")
	deck := c.SQL("SELECT GROUP_CONCAT(id) FROM user_cards WHERE id BETWEEN 1801 + 25 AND 1801 + 49")
	browse(c, []visited{
		{"/login", url.Values{"name": {"player10"}, "password": {"secret10"}}},
		{"/gacha/1/draw", url.Values{"count": {"3"}}},
		{"/decks/4", url.Values{"cards": {deck}}},
		{"/guild/attack", url.Values{"deck": {"4"}, "enemy": {enemy}}},
	})
}

// visited is a form that was sent.
type visited struct {
	path string
	form url.Values
}

// browse sends one form after the other in one session, and follows where they lead.
func browse(c *played.Case, forms []visited) {
	c.T.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		c.T.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	for _, f := range forms {
		resp, err := client.PostForm(c.Stack.Load.URL+f.path, f.form)
		if err != nil {
			c.T.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			c.T.Fatalf("POST %s: %s", f.path, resp.Status)
		}
	}
}
