package sqllog

import (
	"html"
	"strconv"
	"strings"
	"time"
)

// PostgresMessage is one message of PostgreSQL's log, whatever form it stood in
// (PostgreSQL manual, "Error Reporting and Logging").
type PostgresMessage struct {
	Time     time.Time // zero if the log has none
	Process  string    // its id, "" if the log has none
	Database string
	Severity string // "LOG", "ERROR", "STATEMENT", …
	Text     string // at most 2 × MaxStatement bytes
	Zone     string // a zone's name that is not known; Time is UTC then
}

// PostgresStatements makes statements with their times of a log's messages:
// those of log_min_duration_statement and log_duration, and those of
// auto_explain that no such message repeats.
type PostgresStatements struct {
	// Each is called for each statement.
	Each func(*SlowEntry) error
	// Phases count parse and bind messages of prepared statements, PhaseTime is
	// what they took; they are no runs of a statement.
	Phases    int64
	PhaseTime time.Duration
	// Bare are durations whose statement is not known.
	Bare int64
	// Messages, and those that are durations but could not be read.
	Messages, Bad int64
	// Foreign are durations in another language than English, which are not read.
	Foreign int64
	// Zones that are not known, by name.
	Zones map[string]int64

	said  map[string]string       // process → its last "statement:" message
	plans map[string][]*SlowEntry // process → auto_explain's that may be a part of what follows
}

const (
	// mostProcesses that are remembered; a message's counterpart follows it soon.
	mostProcesses = 4096
	// mostPlans of a process: those of the statements within a function.
	mostPlans = 64
)

const durationPrefix = "duration: "

// Message takes the log's next message.
func (p *PostgresStatements) Message(m *PostgresMessage) error {
	p.Messages++
	if m.Zone != "" {
		if p.Zones == nil {
			p.Zones = map[string]int64{}
		}
		if p.Zones[m.Zone] > 0 || len(p.Zones) < 8 {
			p.Zones[m.Zone]++
		}
	}
	if m.Severity != "LOG" {
		return nil
	}
	if sql, ok := strings.CutPrefix(m.Text, "statement: "); ok {
		p.remember(m.Process, sql)
		return nil
	}
	if _, sql, ok := cutPhase(m.Text, "execute "); ok { // log_statement of a prepared one
		p.remember(m.Process, sql)
		return nil
	}
	rest, ok := strings.CutPrefix(m.Text, durationPrefix)
	if !ok {
		if foreignDuration.MatchString(m.Text[:min(len(m.Text), 128)]) {
			p.Foreign++
		}
		return nil
	}
	number, rest, ok := strings.Cut(rest, " ms")
	took, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(took >= 0 && took <= 1e11) { // NaN
		p.Bad++
		return nil
	}
	e := &SlowEntry{Time: m.Time, Schema: m.Database, QueryTime: time.Duration(took * float64(time.Millisecond))}
	if strings.TrimSpace(rest) == "" { // what carries a log may leave blanks at a line's end
		rest = ""
	}
	return p.duration(m, e, strings.TrimPrefix(rest, "  "))
}

func (p *PostgresStatements) duration(m *PostgresMessage, e *SlowEntry, what string) error {
	switch {
	case what == "":
		sql, ok := p.said[m.Process]
		if !ok {
			p.Bare++
			return nil
		}
		delete(p.said, m.Process)
		e.SQL = sql
	case strings.HasPrefix(what, "plan:"):
		e.SQL = planQuery(what[len("plan:"):])
		if e.SQL == "" {
			p.Bad++
			return nil
		}
		return p.hold(m.Process, e)
	default:
		phase, sql, ok := postgresPhase(what)
		if !ok {
			p.Bad++
			return nil
		}
		if phase == "parse" || phase == "bind" {
			p.Phases++
			p.PhaseTime += e.QueryTime
			return nil
		}
		e.SQL = sql
	}
	e.SQL = strings.TrimRight(strings.TrimSpace(e.SQL), "; \t\r\n")
	e.SQL = e.SQL[:min(len(e.SQL), MaxStatement)]
	if e.SQL == "" {
		p.Bad++
		return nil
	}
	delete(p.said, m.Process)
	if err := p.flush(m.Process, e); err != nil {
		return err
	}
	return p.Each(e)
}

// remember keeps a statement whose duration follows.
func (p *PostgresStatements) remember(process, sql string) {
	if p.said == nil || len(p.said) >= mostProcesses {
		p.said = map[string]string{}
	}
	p.said[process] = sql
}

// hold keeps an auto_explain entry until it is known whether it is counted anyway.
func (p *PostgresStatements) hold(process string, e *SlowEntry) error {
	if p.plans == nil {
		p.plans = map[string][]*SlowEntry{}
	}
	if len(p.plans) >= mostProcesses && p.plans[process] == nil {
		if err := p.Flush(); err != nil {
			return err
		}
	}
	held := p.plans[process]
	if len(held) >= mostPlans {
		if err := p.Each(held[0]); err != nil {
			return err
		}
		held = append(held[:0], held[1:]...)
	}
	e.SQL = strings.TrimRight(strings.TrimSpace(e.SQL), "; \t\r\n")
	e.SQL = e.SQL[:min(len(e.SQL), MaxStatement)]
	p.plans[process] = append(held, e)
	return nil
}

// flush hands a process's auto_explain entries on, but not those that are a part
// of the statement whose time follows (nil: none does): they would count twice.
func (p *PostgresStatements) flush(process string, whole *SlowEntry) error {
	held := p.plans[process]
	delete(p.plans, process)
	for _, e := range held {
		if whole != nil && e.partOf(whole) {
			continue
		}
		if err := p.Each(e); err != nil {
			return err
		}
	}
	return nil
}

// partOf: e is the same statement as whole, or ran within it. Times are those of
// the ends, to the millisecond.
func (e *SlowEntry) partOf(whole *SlowEntry) bool {
	if e.SQL == whole.SQL {
		return true
	}
	began := whole.Time.Add(-whole.QueryTime).Truncate(time.Millisecond)
	return !e.Time.IsZero() && !whole.Time.IsZero() && !e.Time.Before(began)
}

// Flush ends the log.
func (p *PostgresStatements) Flush() error {
	for process := range p.plans {
		if err := p.flush(process, nil); err != nil {
			return err
		}
	}
	return nil
}

// postgresPhase reads "statement: …", "execute name: …", "parse name: …",
// "bind name: …" and "fastpath function call: …" (postgres.c).
func postgresPhase(what string) (phase, sql string, ok bool) {
	for _, phase := range []string{"statement: ", "fastpath function call: "} {
		if sql, ok := strings.CutPrefix(what, phase); ok {
			return phase[:len(phase)-2], sql, true
		}
	}
	for _, phase := range []string{"execute ", "parse ", "bind "} {
		if _, sql, ok := cutPhase(what, phase); ok {
			return phase[:len(phase)-1], sql, true
		}
	}
	return "", "", false
}

func cutPhase(what, phase string) (name, sql string, ok bool) {
	rest, ok := strings.CutPrefix(what, phase)
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, ": ")
}

// planQuery is the statement of an auto_explain message in its text, JSON, YAML or
// XML form: the plan's first line has "(cost=".
func planQuery(s string) string {
	if _, query, ok := strings.Cut(s, "<Query-Text>"); ok {
		query, _, _ = strings.Cut(query, "</Query-Text>")
		return html.UnescapeString(query)
	}
	_, query, ok := strings.Cut(s, "Query Text: ")
	if !ok {
		if _, query, ok = strings.Cut(s, `"Query Text": "`); ok {
			end := quotedLength(`"`+query, '"', true)
			if text, err := strconv.Unquote(`"` + query[:max(end-1, 0)]); err == nil {
				return text
			}
			return ""
		}
		return ""
	}
	if strings.HasPrefix(query, `"`) { // YAML
		if text, err := strconv.Unquote(query[:quotedLength(query, '"', true)]); err == nil {
			return text
		}
	}
	var out []string
	for line := range strings.Lines(query) {
		line = strings.TrimRight(line, "\r\n")
		if len(out) > 0 && (strings.Contains(line, "(cost=") || strings.HasPrefix(strings.TrimSpace(line), "Query Parameters:")) {
			break
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}
