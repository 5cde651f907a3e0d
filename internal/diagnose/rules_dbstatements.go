package diagnose

import (
	"fmt"
	"strings"

	"kasoku/internal/stack"
	"kasoku/internal/ui"
)

// judgeSorts finds statements that sort or group in temporary tables (W06).
func judgeSorts(m *model) ([]Finding, string) {
	var out []Finding
	judged := false
	for _, svc := range m.in.Stack.OfKind(stack.MariaDB, stack.MySQL) {
		var all, sorting float64
		var cites []string
		for i, s := range m.in.Evidence.Statements {
			if s.Service != svc.Name {
				continue
			}
			judged = true
			all += s.Total.Seconds()
			// Sorting some rows is nothing; thousands of them in a temporary table
			// for each run is the statement's cost.
			if s.Count == 0 || s.TmpTables == 0 || s.Filesorts == 0 || s.RowsExamined/s.Count < scanRows {
				continue
			}
			sorting += s.Total.Seconds()
			cites = append(cites, fmt.Sprintf("statement #%d: %.2f s, %d rows examined each, %d of %d runs with a temporary table (%d on disk), %d sorted: %s",
				i+1, s.Total.Seconds(), s.RowsExamined/s.Count, s.TmpTables, s.Count, s.TmpDisk, s.Filesorts, s.Fingerprint))
		}
		// A twentieth of the statements' time is what a run can show.
		if sorting == 0 || sorting < 0.05*all {
			continue
		}
		out = append(out, about(svc.Name, svc.Name+" groups and sorts many rows in temporary tables",
			fmt.Sprintf("%s %s of the statement time. An index in the order of GROUP BY and ORDER BY avoids both; larger buffers do not.", ui.Plural(len(cites), "statement class takes", "statement classes take"), percent(sorting/all)), cites...).
			bounded(m.boundBy(svc.Name, m.perReq[svc.Name]*sorting/all)))
	}
	if !judged && len(m.in.Stack.OfKind(stack.MariaDB, stack.MySQL)) > 0 {
		return nil, "the run recorded no statements (a diagnostic run does)"
	}
	return out, ""
}

// judgePrepares: server-side prepared statements that are used once cost a
// round trip more (I06).
func judgePrepares(m *model) ([]Finding, string) {
	return m.eachDB(func(v dbView) []Finding {
		prepares, _ := v.delta("Com_stmt_prepare")
		executes, _ := v.delta("Com_stmt_execute")
		perRequest := prepares / (m.x * m.window)
		if perRequest < 0.5 || executes > 1.5*prepares {
			return nil
		}
		f := about(v.svc.Name, "Statements are prepared at the server and used once",
			fmt.Sprintf("%.0f prepared, %.0f executed in %.0f s (%.1f prepares per request): each costs a round trip and a parse more. The driver can fill the values in itself (PDO::ATTR_EMULATE_PREPARES, interpolateParams).",
				prepares, executes, m.window, perRequest),
			"Com_stmt_prepare, Com_stmt_execute of "+v.svc.Name).bounded(m.boundBy(v.svc.Name, min(v.perReq, perRequest*prepareCPU)))
		if !m.namesDriver(v.svc.Name) { // the program puts its data source name together itself
			f.Subject = map[string]string{"source": "yes"}
		}
		return []Finding{f}
	})
}

// judgeManyCommits finds a database that is asked to commit many times per request.
func judgeManyCommits(m *model) ([]Finding, string) {
	return m.eachDB(func(v dbView) []Finding {
		writes := 0.0
		for _, c := range []string{"Com_insert", "Com_update", "Com_delete", "Com_replace"} {
			n, _ := v.delta(c)
			writes += n
		}
		perRequest := writes / (m.x * m.window)
		commits, _ := v.delta("Com_commit")
		// Ten writes, each a transaction of its own, are ten flushes of the log.
		if perRequest < 5 || commits > 0 {
			return nil
		}
		return []Finding{about(v.svc.Name, "Each of many writes is a transaction of its own",
			fmt.Sprintf("%.1f writes per request and no COMMIT: each waits for the log. One transaction around them waits once.", perRequest),
			"Com_insert, Com_update, Com_delete, Com_commit of "+v.svc.Name).bounded(m.boundWait())}
	})
}

// judgeDatabaseApart: the database is most of the CPU, so what spreads it may
// help (I05, I13, I22).
func judgeDatabaseApart(m *model) ([]Finding, string) {
	k := m.busiest()
	if k.busy < saturatedCPU {
		return nil, ""
	}
	var db, app float64
	var dbs, apps []string
	for _, svc := range m.in.Stack.Services {
		switch {
		case m.hostOf(svc.Name) != k.name: // it is apart already
		case svc.IsDatabase():
			db += m.perReq[svc.Name]
			dbs = append(dbs, svc.Name)
		case m.perReq[svc.Name] > 0:
			app += m.perReq[svc.Name]
			apps = append(apps, svc.Name)
		}
	}
	// Below a quarter each, another host would hardly be used.
	if all := db + app; all == 0 || db < 0.25*all || app < 0.25*all {
		return nil, ""
	}
	left := max(db, app) + k.genCPU
	f := about("", "Database and application share a full machine",
		fmt.Sprintf("%s use %s of CPU per request, %s %s: on a host of its own each would have all of it. Network round trips are added.",
			strings.Join(dbs, ", "), seconds(db), strings.Join(apps, ", "), seconds(app)), "CPU by service").
		bounded(m.boundAt(map[string]float64{k.name: max(k.allCPU-left, 0)}))
	why := ""
	if len(dbs) == 1 && m.standbyOf(dbs[0]) != nil {
		f, why = m.apart(f, m.in.Stack.Service(dbs[0]))
	}
	return []Finding{f}, why
}
