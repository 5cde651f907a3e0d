package diagnose

import "fmt"

// minLockSamples: fewer looks at the waits than these say little about where
// most of them are.
const minLockSamples = 3

// oneRow is the share of a table's waits from which one row is to blame.
const oneRow = 0.8

// judgeHotRow finds the one row that transactions queue for (I03): the server's
// own count of row-lock time says that they wait, looks at the waits during the
// run say for which row and in which statement.
func judgeHotRow(m *model) ([]Finding, string) {
	why := ""
	out, missing := m.eachDB(func(v dbView) []Finding {
		waiting := m.lockWait[v.svc.Name]
		// A twentieth of the requests' time is about what a run can show.
		if waiting < 0.05*max(m.inSystem, 1) {
			return nil
		}
		looked := false
		for _, w := range m.in.Evidence.LockWaits {
			if w.Service != v.svc.Name {
				continue
			}
			looked = true
			if w.Samples < minLockSamples || w.Hottest < oneRow || w.Waiting < 0.05*max(m.inSystem, 1) || w.Waiting < waiting/4 {
				continue
			}
			f := about(v.svc.Name, fmt.Sprintf("Transactions queue for one row of %s.%s", w.Schema, w.Table),
				fmt.Sprintf("%.1f transactions wait for rows of %s.%s on average, %s of them for the same row, in %d of %d looks; Innodb_row_lock_time counts %.1f that wait for any row. They wait in %s: whoever has changed the row keeps it locked until commit, so all that do it go one after the other.",
					w.Waiting, w.Schema, w.Table, percent(w.Hottest), w.Seen, w.Samples, waiting, w.Statement),
				"InnoDB's lock waits of "+v.svc.Name, "Innodb_row_lock_time of "+v.svc.Name)
			f.Subject = map[string]string{"schema": w.Schema, "table": w.Table, "statement": w.Statement}
			return []Finding{f.bounded(m.boundWait())}
		}
		if !looked {
			why = v.svc.Name + ": transactions wait for rows, but nobody looked for which (a diagnostic run does, with the PROCESS privilege)"
		}
		return nil
	})
	if why == "" {
		why = missing
	}
	return out, why
}
