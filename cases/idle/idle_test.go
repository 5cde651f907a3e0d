// Package idle_test plays the idle game in short, with its real servers and the
// small data: both variants answer rightly as found and tuned by hand, the books
// balance and find what is lost or doubled, and a reset brings every row back.
package idle_test

import (
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/remedy"
)

// window is how long players begin sessions.
const window = 1500 * time.Millisecond

func TestIdle(t *testing.T) {
	await.SkipShort(t)
	t.Parallel()
	for _, variant := range []string{"php", "go"} {
		t.Run(variant, func(t *testing.T) {
			t.Parallel()
			g := up(t, variant)
			asFound := g.rows()
			g.play()
			found := g.visit()
			checkBooks(t, g)
			g.Must("reset")
			if g.rows() != asFound {
				t.Error("after reset the rows are not as found")
			}
			checkIndexes(t, g, found)
			g.Must("hand")
			g.Reload()
			g.play()
			checkRows(t, "by hand", found, g.visit(), 20)
			for _, more := range [][]string{{"reset"}, {"hand", "--source"}} {
				g.Must(more[0], more[1:]...)
			}
			g.Reload()
			g.play()
			checkRows(t, "by hand and by source", found, g.visit(), 50)
			g.Must("reset")
			if g.rows() != asFound {
				t.Error("by source: after reset the rows are not as found")
			}
		})
	}
}

// checkRows: a visit reads at most a part of the rows that it read as found.
func checkRows(t *testing.T, what string, found, rows, part int64) {
	t.Helper()
	t.Logf("rows that the database reads for a visit: as found %d, %s %d", found, what, rows)
	if rows > found/part {
		t.Errorf("%s: %d rows for a visit, as found %d: want at most 1/%d", what, rows, found, part)
	}
}

// checkBooks: a coin that is lost, a present that is there again, a piece of gear
// that is lost, and a draw that nobody paid for are each found, and nothing else.
func checkBooks(t *testing.T, g *game) {
	t.Helper()
	const late = "id > 100000000"
	for _, c := range []struct{ why, do, undo, want string }{
		{"nothing", "SELECT 1", "SELECT 1", ""},
		{"a lost coin", "UPDATE users SET coins = coins - 1 WHERE " + late + " ORDER BY id LIMIT 1",
			"UPDATE users SET coins = coins + 1 WHERE " + late + " ORDER BY id LIMIT 1", "has 1 of coins too few"},
		{"a doubled coin", "UPDATE users SET coins = coins + 1 WHERE " + late + " ORDER BY id LIMIT 1",
			"UPDATE users SET coins = coins - 1 WHERE " + late + " ORDER BY id LIMIT 1", "has 1 of coins too many"},
		{"a present that can be received again", "UPDATE user_presents SET deleted_at = NULL WHERE " + late + " AND amount = 1000 AND deleted_at IS NOT NULL ORDER BY id LIMIT 1",
			"SELECT 1", "has 1000 of coins of presents too many"},
		{"lost gear", "DELETE FROM user_cards WHERE " + late + " ORDER BY id DESC LIMIT 1", "SELECT 1", "has 1 of gear too few"},
	} {
		g.SQL(c.do)
		wrong := g.wrong()
		if c.want == "" && len(wrong) > 0 || c.want != "" && !strings.Contains(strings.Join(wrong, "\n"), c.want) {
			t.Errorf("%s: the books find %q, want %q", c.why, wrong, c.want)
		}
		g.SQL(c.undo)
	}
}

// checkIndexes: what Kasoku sees in one run as found makes it plan indexes, which
// leave fewer rows to be read, change no answer, and are kept;
// undo leaves the service byte for byte as it was.
func checkIndexes(t *testing.T, g *game, found int64) {
	t.Helper()
	g.Undone(g.newcomers(), 2*window, func(p remedy.Plan) bool { return p.Remedy == "mariadb.index" }, func(kept int) {
		g.play()
		// How many a short run calls for depends on how much of the load it saw.
		if rows := g.visit(); rows >= found {
			t.Errorf("%d indexes: %d rows for a visit, as found %d: want fewer", kept, rows, found)
		} else {
			t.Logf("rows that the database reads for a visit: as found %d, with Kasoku's %d indexes %d", found, kept, rows)
		}
	})
}
