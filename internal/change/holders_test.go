package change

import (
	"context"
	"strings"
	"testing"

	"kasoku/internal/regulation"
)

// Who holds connections to a database that is restarted is restarted after it, on the
// way there and back, also by a process that only finds the journal; a reload, and a
// service that may not be restarted, leave it alone.
func TestHoldersAreRestarted(t *testing.T) {
	f := newFixture(t)
	asked := ""
	holders := func(_ context.Context, service string) []string {
		asked += service + " "
		if service == "db" {
			return []string{"php"}
		}
		return nil
	}
	f.x.options.Holders = holders
	my := f.file("my.cnf", "a\n")
	tx, err := f.apply(edit1(my, "a\n", "b\n", "db", Restart))
	must(t, err)
	wantEqual(t, "applied", f.did(), "restart db, restart php")
	must(t, f.x.Revert(t.Context(), tx.ID))
	wantEqual(t, "reverted", f.did(), "restart db, restart php")

	tx, err = f.apply(edit1(my, "a\n", "b\n", "db", Restart))
	must(t, err)
	must(t, f.x.Keep(t.Context(), tx.ID))
	f.reopen() // without holders: a guard knows none
	f.did()
	must(t, f.x.UndoAll(t.Context()))
	wantEqual(t, "undone by another process", f.did(), "restart db, restart php")

	f.x.options.Holders, asked = holders, ""
	web := f.file("nginx.conf", "a\n")
	tx, err = f.apply(edit1(web, "a\n", "b\n", "web", Restart), edit1(my, "a\n", "c\n", "db", Reload))
	must(t, err)
	wantEqual(t, "reloaded", f.did(), "reload db, restart web")
	wantEqual(t, "asked", asked, "")
	must(t, f.x.Revert(t.Context(), tx.ID))
	f.did()

	f.x.options.Stack.Regulation = regulation.Regulation{NoRestart: []string{"php"}}
	var warned []string
	f.x.options.Warn = func(s string) { warned = append(warned, s) }
	tx, err = f.apply(edit1(my, "a\n", "b\n", "db", Restart))
	must(t, err)
	wantEqual(t, "not permitted", f.did(), "restart db")
	if len(warned) != 1 || !strings.Contains(warned[0], "php holds connections to db") || !strings.Contains(warned[0], "no_restart") {
		t.Errorf("warned: %q", warned)
	}
	must(t, f.x.Revert(t.Context(), tx.ID))
}
