package diagnose

import (
	"fmt"
	"strings"

	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

// about begins a finding; bounded ends it.
func about(service, title, text string, cites ...string) Finding {
	return Finding{Service: service, Title: title, Text: text, Evidence: cites}
}

// bounded takes what model.bound and its like return.
func (f Finding) bounded(c ceiling, formula string) Finding {
	f.Bound, f.Spares, f.Formula = c.most, c.spares, formula
	return f
}

// atMost is bounded for a factor of throughput, ≥ 1, that is not of CPU.
func (f Finding) atMost(factor float64, formula string) Finding {
	return f.bounded(ceiling{most: factor}, formula)
}

// with tells the remedy something.
func (f Finding) with(key, value string) Finding {
	if f.Subject == nil {
		f.Subject = map[string]string{}
	}
	f.Subject[key] = value
	return f
}

// asks adds settings.
func (f Finding) asks(s ...Setting) Finding {
	f.Settings = append(f.Settings, s...)
	return f
}

// dbView is one database with what is known of it.
type dbView struct {
	svc *stack.Service
	db  *evidence.Database
	// delta looks a counter up that counts up, value one as it stands at the
	// end, variable a server variable that is a number.
	delta, value, variable func(string) (float64, bool)
	perReq                 float64 // CPU seconds per request
}

// rate is a counter's increase per second; 0 if it is unknown.
func (v dbView) rate(m *model, name string) float64 {
	n, _ := v.delta(name)
	return n / m.window
}

// eachDB calls judge for every database whose variables and counters are known.
func (m *model) eachDB(judge func(v dbView) []Finding) ([]Finding, string) {
	var out []Finding
	why := ""
	for _, svc := range m.in.Stack.OfKind(stack.MariaDB, stack.MySQL) {
		db := m.in.Snapshot.Databases[svc.Name]
		if db == nil {
			why = fmt.Sprintf("%s: its variables could not be read", svc.Name)
			continue
		}
		if _, ok := m.in.Evidence.Counters[svc.Name]; !ok {
			why = m.unread(svc.Name)
			continue
		}
		out = append(out, judge(dbView{svc: svc, db: db, delta: m.counters(svc.Name), value: m.values(svc.Name), perReq: m.perReq[svc.Name],
			variable: func(name string) (float64, bool) {
				text, ok := fold(db.Variables, name)
				if !ok {
					return 0, false
				}
				return number(text)
			}})...)
	}
	return out, why
}

// eachCounted calls judge for every service of the kinds whose counters are known.
func (m *model) eachCounted(judge func(svc *stack.Service, delta, value func(string) (float64, bool)) []Finding, kinds ...stack.Kind) ([]Finding, string) {
	return m.eachOf(m.in.Stack.OfKind(kinds...), judge)
}

// eachOf is eachCounted for a list of services.
func (m *model) eachOf(services []*stack.Service, judge func(svc *stack.Service, delta, value func(string) (float64, bool)) []Finding) ([]Finding, string) {
	var out []Finding
	why := ""
	for _, svc := range services {
		if _, ok := m.in.Evidence.Counters[svc.Name]; !ok {
			why = m.unread(svc.Name)
			continue
		}
		out = append(out, judge(svc, m.counters(svc.Name), m.values(svc.Name))...)
	}
	return out, why
}

// unread says that a service's counters are missing, and what the sources that
// should have told them said of it, which is what to do about it.
func (m *model) unread(service string) string {
	text := service + ": its counters were not read"
	var said []string
	for _, h := range m.in.Evidence.Health {
		switch h.Source {
		case "counters of " + service, "status of " + service, "OPcache of " + service:
			said = append(said, h.Source+": "+strings.TrimPrefix(h.Text, "not judged: "))
		}
	}
	if len(said) > 0 {
		text += " (" + strings.Join(said, "; ") + ")"
	}
	return text
}

// perSecond prints a rate.
func perSecond(n, window float64) string { return fmt.Sprintf("%.3g/s", n/window) }

// percent prints a share.
func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// serviceBound is the bound when all CPU of a service went away.
func (m *model) serviceBound(name string) (ceiling, string) { return m.boundBy(name, m.perReq[name]) }

// boundOfStatements is the bound when the statements of a database for which ours holds
// cost nothing any more, by their part of all recorded statement time: what a buffer
// is for is at most that part of the database's CPU. Where nothing was recorded, or the
// record does not tell (MySQL's without log_slow_extra), it is all of it.
func (m *model) boundOfStatements(service string, ours func(*evidence.Statement) bool) (ceiling, string) {
	var all, part float64
	for i := range m.in.Evidence.Statements {
		s := &m.in.Evidence.Statements[i]
		if s.Service != service {
			continue
		}
		all += s.Total.Seconds()
		if ours(s) {
			part += s.Total.Seconds()
		}
	}
	if part == 0 {
		return m.serviceBound(service)
	}
	return m.boundBy(service, m.perReq[service]*part/all)
}

// readTime is the mean time of the statements that a database answers with rows, in
// seconds; 0 if none is known.
func (m *model) readTime(service string) float64 {
	var total, count float64
	for i := range m.in.Evidence.Statements {
		if s := &m.in.Evidence.Statements[i]; s.Service == service && s.RowsSent > 0 && s.RowsAffected == 0 {
			total, count = total+s.Total.Seconds(), count+float64(s.Count)
		}
	}
	if count == 0 {
		return 0
	}
	return total / count
}
