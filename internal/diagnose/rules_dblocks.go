package diagnose

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"kasoku/internal/ui"
)

// waitedMuch is the share of statement time that is waiting for locks of tables from which
// on it is told of, however seldom the server counted a wait: one can take seconds.
const waitedMuch = 0.05

// tableLocks are the waits of a run's statements for tables that are locked whole.
type tableLocks struct {
	waited, all float64 // seconds of the statements that use such tables, and of all
	written     []string
}

// judgeMyISAM: MyISAM locks whole tables for each write.
func judgeMyISAM(m *model) ([]Finding, string) {
	return m.eachDB(func(v dbView) []Finding {
		waits, _ := v.delta("Table_locks_waited")
		names := map[string]bool{}
		for _, t := range v.db.Tables {
			if strings.EqualFold(t.Engine, "MyISAM") {
				names[strings.ToLower(t.Schema+"."+t.Name)] = true
			}
		}
		locks := m.tableLocks(v, names)
		if len(names) == 0 || waits/m.window < rare && locks.waited < waitedMuch*locks.all {
			return nil
		}
		shown := locks.written
		if len(shown) == 0 {
			shown = slices.Sorted(maps.Keys(names))
		}
		text := fmt.Sprintf("Table_locks_waited rose by %.0f in %.0f s; %s use MyISAM, which locks the table for each write and loses data in a crash.", waits, m.window, strings.Join(shown[:min(len(shown), 5)], ", "))
		f := about(v.svc.Name, "Writers lock whole tables in "+v.svc.Name, text, "Table_locks_waited of "+v.svc.Name)
		if len(locks.written) == 0 || locks.waited == 0 {
			return []Finding{f.with("tables", strings.Join(locks.written, " ")).bounded(m.boundWait())}
		}
		f.Text += fmt.Sprintf(" %s of the statement time is waiting for them.", ui.Share(locks.waited/locks.all))
		f.Evidence = append(f.Evidence, "lock time of the statements of "+v.svc.Name)
		f = f.with("tables", strings.Join(locks.written, " ")).with("reach", strconv.FormatFloat(rowLockReach, 'f', -1, 64))
		return []Finding{f.bounded(m.boundDelay(locks.waited / (m.x * m.window)))}
	})
}

// rowLockReach is the part of that waiting that row locks end: the rest is taken by what
// then runs at the same time. An estimate.
const rowLockReach = 0.7

// tableLocks sums it up; written are the tables among them that statements write, in the
// order of their names.
func (m *model) tableLocks(v dbView, among map[string]bool) (out tableLocks) {
	written := map[string]bool{}
	for _, s := range m.in.Evidence.Statements {
		if s.Service != v.svc.Name {
			continue
		}
		out.all += s.Total.Seconds()
		uses := false
		for _, t := range tablesOf(s) {
			uses = uses || among[t]
			if among[t] && !readsOnly(s.Fingerprint) {
				written[t] = true
			}
		}
		if uses {
			out.waited += s.LockTime.Seconds()
		}
	}
	out.written = slices.Sorted(maps.Keys(written))
	return out
}
