package idle_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/patch"
	"kasoku/internal/report"
)

// What patches bring of what a person's source brings, in statements of one visit: the
// answers stay right, and the books balance.
func TestPatchesSaveStatements(t *testing.T) {
	await.SkipShort(t)
	t.Parallel()
	g := up(t, "go")
	g.play()
	asFound := g.statements()
	ctx := t.Context()
	found, err := report.FindPatches(ctx, []string{filepath.Join(g.Dir, "app")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	places := found.All()
	repo, err := patch.OpenRepo(ctx, places[0].Program())
	if err != nil {
		t.Fatal(err)
	}
	commit, err := repo.Commits(ctx, places)
	if err != nil {
		t.Fatal(err)
	}
	g.sh("git checkout -q " + commit + " && go build -o bin/idle-app .")
	g.Must("reset")
	g.Must("restart")
	g.play()
	patched := g.statements()
	if wrong := g.wrong(); len(wrong) > 0 {
		t.Errorf("patched: the books find %q", wrong)
	}
	g.sh("git checkout -q -")
	g.Must("reset")
	g.Must("hand", "--source")
	g.play()
	byHand := g.statements()
	t.Logf("%d patches; statements of a visit: as found %d, patched %d, by hand %d: %.0f %% of what a person saves",
		len(places), asFound, patched, byHand, 100*float64(asFound-patched)/float64(asFound-byHand))
	if patched > asFound-20 || patched < byHand {
		t.Errorf("statements: as found %d, patched %d, by hand %d", asFound, patched, byHand)
	}
}

// statements of a visit and of a look at the gear.
func (g *game) statements() int64 {
	g.T.Helper()
	const sent = "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'QUESTIONS'"
	own := -g.Number(sent)
	own += g.Number(sent) // of one question here; a visit has three
	version := g.SQL("SELECT master_version FROM version_masters")
	before := g.Number(sent)
	g.visit()
	head := map[string]string{"X-Master-Version": version, "X-Viewer": "visitor"}
	var in struct {
		Session string
		User    struct{ ID int64 }
	}
	g.Call("POST", "/user", head, `{"viewer":"visitor","platform":1}`, &in)
	head["X-Session"] = in.Session
	for _, path := range []string{"home", "items"} {
		if status := g.Call("GET", fmt.Sprintf("/user/%d/%s", in.User.ID, path), head, "", &struct{}{}); status != 200 {
			g.T.Errorf("%s: %d", path, status)
		}
	}
	return g.Number(sent) - before - 4*own
}
