package diagnose

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	"kasoku/internal/accesslog"
	"kasoku/internal/stack"
	"kasoku/internal/trace"
)

// Findings ask for facts, not for an instrument: where no single request was followed
// (somebody else's benchmark is the load), the digests of statements and the access log
// still tell how often each statement is sent for an answer, on the average of all.

// pages is how many answers of the run with statements were made by an application,
// and who tells: the access log of the service that saw the most, without files, or the
// load. 0 if nobody does.
func (m *model) pages() (n float64, source string) {
	by := map[string]float64{}
	for _, r := range m.in.Evidence.Routes {
		if !accesslog.IsAsset(r.Route) {
			by[r.Service] += float64(r.Count)
		}
	}
	for service, count := range by {
		if count > n || count == n && service < source {
			n, source = count, service
		}
	}
	if n > 0 {
		return n, "access log of " + source
	}
	return float64(m.asked.Succeeded), "answers that the load counted"
}

// perPage is one class of statements in the digest.
type perPage struct {
	service, fingerprint string
	each                 float64 // sent for each page
	rows                 float64 // sent or written by each
	count                float64
}

// statementsPerPage are all classes of a run's digest, and where the facts come from.
func (m *model) statementsPerPage() (out []perPage, sources []string) {
	pages, source := m.pages()
	if pages <= 0 || len(m.in.Evidence.Statements) == 0 {
		return nil, nil
	}
	for _, s := range m.in.Evidence.Statements {
		if s.Count == 0 || m.isLookup(s.Service, s.Fingerprint) { // app.object-cache tells those
			continue
		}
		out = append(out, perPage{s.Service, s.Fingerprint, float64(s.Count) / pages, float64(max(s.RowsSent, s.RowsAffected)) / float64(s.Count), float64(s.Count)})
	}
	return out, []string{"statement digests", source}
}

var (
	byKey     = regexp.MustCompile(`^SELECT .*\bFROM\b.*\bWHERE\b.*[^<>!]= ?\?`)
	writesRow = regexp.MustCompile(`^(INSERT|REPLACE)\b`)
	idCounter = regexp.MustCompile(`^UPDATE\b.*\bLAST_INSERT_ID ?\(`)
)

const (
	// manyPerPage of one class of statements, on the average of all pages, are more than
	// a page needs of one row each.
	manyPerPage = 2
	// someIDs per page are a sign already: each one waits for all others.
	someIDs = 0.02
	// titled is how much of a statement stands in a title, characters.
	titled = 70
)

// sign tells of one kind of pattern whether a class of statements shows it in the
// digest, and how many for a page would do. Kinds that only the order or the values of a
// request's calls tell are not in it.
var sign = map[string]func(s perPage) (could float64, is bool){
	trace.NPlusOne: func(s perPage) (float64, bool) {
		return 1, byKey.MatchString(s.fingerprint) && s.each >= manyPerPage && s.rows <= 1.5
	},
	trace.RowWrites: func(s perPage) (float64, bool) {
		// Further rows of VALUES are not in a fingerprint: without a count of rows (a log
		// that does not tell it) one of many rows would look alike.
		return 1, writesRow.MatchString(s.fingerprint) && s.each >= manyPerPage && s.rows > 0 && s.rows <= 1.5
	},
	trace.IDByUpdate: func(s perPage) (float64, bool) {
		return 0, idCounter.MatchString(s.fingerprint) && s.each >= someIDs
	},
}

// patternsOfDigests judges one kind of pattern without requests that were followed.
func (m *model) patternsOfDigests(kind string) ([]Finding, string) {
	shows := sign[kind]
	if shows == nil {
		return nil, notWalked
	}
	all, sources := m.statementsPerPage()
	if len(all) == 0 {
		return nil, notWalked
	}
	var out []Finding
	for _, s := range all {
		could, is := shows(s)
		if !is {
			continue
		}
		text := fmt.Sprintf("%.3g for each answer, on the average of all pages: %s.", s.each, s.fingerprint)
		if better := (trace.Pattern{Kind: kind, What: s.fingerprint, System: trace.SQL}).Form().Text; better != "" {
			text += " Better: " + better + "."
		}
		text += " Which page sends them is told by requests that are followed (a scenario, or evidence.otlp)."
		f := about(s.service, patternTitle[kind]+": "+cut(s.fingerprint, titled), text, sources...)
		f.Subject = map[string]string{"statement": s.fingerprint, "kind": kind, "source": "yes"}
		out = append(out, f.bounded(m.boundOf(m.needless(s, could))))
	}
	return out, ""
}

// needless is the CPU per answer of the statements of a class beyond could for a page:
// their part of the database's, and of what the applications spend, by number.
func (m *model) needless(s perPage, could float64) map[string]float64 {
	all := 0.0
	for _, other := range m.in.Evidence.Statements {
		if other.Service == s.service {
			all += float64(other.Count)
		}
	}
	part := math.Max(s.each-could, 0) / s.each
	cost := map[string]float64{s.service: part * m.statementCost(s.service, s.fingerprint)}
	for _, svc := range m.in.Stack.OfKind(stack.PHPFPM, stack.App) {
		cost[svc.Name] += part * s.count / math.Max(all, 1) * m.perReq[svc.Name]
	}
	return cost
}

// manyCallsOfDigests finds databases that are asked many times for each answer.
func (m *model) manyCallsOfDigests() ([]Finding, string) {
	all, sources := m.statementsPerPage()
	if len(all) == 0 {
		return nil, notWalked
	}
	var out []Finding
	for _, svc := range m.in.Stack.OfKind(stack.MariaDB, stack.MySQL) {
		sum, cites := 0.0, []string(nil)
		for _, s := range all {
			if s.service == svc.Name {
				sum += s.each
				cites = append(cites, fmt.Sprintf("%.3g × %s", s.each, cut(s.fingerprint, titled)))
			}
		}
		if sum < manyCalls {
			continue
		}
		f := about(svc.Name, fmt.Sprintf("%s is asked %.0f times for each answer", svc.Name, sum),
			"On the average of all pages. What is assembled from so many parts at each view can be kept as one entry and thrown away when a part changes: "+strings.Join(cites[:min(len(cites), 5)], "; ")+".", sources...)
		f.Subject = map[string]string{"source": "yes"}
		cost := map[string]float64{svc.Name: m.perReq[svc.Name]}
		for _, app := range m.in.Stack.OfKind(stack.PHPFPM, stack.App) {
			cost[app.Name] = m.perReq[app.Name]
		}
		out = append(out, f.bounded(m.boundOf(cost)))
	}
	return out, ""
}

// masterDataOfDigests finds statements without a value that nearly each answer sends.
func (m *model) masterDataOfDigests() ([]Finding, string) {
	all, sources := m.statementsPerPage()
	if len(all) == 0 {
		return nil, notWalked
	}
	var out []Finding
	for _, s := range all {
		if !strings.HasPrefix(s.fingerprint, "SELECT") || strings.Contains(s.fingerprint, "?") || !strings.Contains(s.fingerprint, " FROM ") || s.each < 0.9 {
			continue
		}
		f := about(s.service, "The same statement for everybody is sent in nearly each request",
			fmt.Sprintf("%s is sent %.3g times for each answer with nothing that differs; kept in the process and read anew when it changes, it costs nothing.", s.fingerprint, s.each), sources...)
		f.Subject = map[string]string{"statement": s.fingerprint, "source": "yes"}
		out = append(out, f.bounded(m.boundBy(s.service, m.statementCost(s.service, s.fingerprint))))
	}
	return out, ""
}
