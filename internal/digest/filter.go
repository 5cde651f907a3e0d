package digest

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"kasoku/internal/accesslog"
	"kasoku/internal/lazyregexp"
	"kasoku/internal/sqllog"
)

// Filter keeps what fits all its conditions. E is an entry of a log, R a row
// of the digest: routes are known only when the whole log was read, so a
// condition about them takes rows away.
type Filter[E, R any] struct {
	entries []condition[E]
	rows    []condition[R]
}

// AccessFilter is one for access logs.
type AccessFilter = Filter[accesslog.Entry, Route]

// StatementFilter is one for slow logs.
type StatementFilter = Filter[sqllog.SlowEntry, Statement]

// FilterError is an expression that cannot be understood. At is where, in
// characters from 0.
type FilterError struct {
	Expr string
	At   int
	Why  string
}

func (e *FilterError) Error() string {
	return fmt.Sprintf("filter: %s\n  %s\n  %s^", e.Why, e.Expr, strings.Repeat(" ", e.At))
}

// ParseAccessFilter reads conditions such as status>=500 or route~^/api; all
// must hold. An error is a *FilterError.
func ParseAccessFilter(exprs []string) (*AccessFilter, error) {
	return parseFilter(exprs, accessFields, routeFields)
}

// ParseStatementFilter reads conditions such as rows_examined>1000 or no_index.
func ParseStatementFilter(exprs []string) (*StatementFilter, error) {
	return parseFilter(exprs, entryFields, classFields)
}

func parseFilter[E, R any](exprs []string, entries []field[E], rows []field[R]) (*Filter[E, R], error) {
	f := &Filter[E, R]{}
	names := append(fieldNames(entries), fieldNames(rows)...)
	for _, s := range exprs {
		x, err := parseExpr(s)
		if err != nil {
			return nil, err
		}
		if e := findField(entries, x.field); e != nil {
			c, err := newCondition(e, x)
			if err != nil {
				return nil, err
			}
			f.entries = append(f.entries, c)
			continue
		}
		if r := findField(rows, x.field); r != nil {
			c, err := newCondition(r, x)
			if err != nil {
				return nil, err
			}
			f.rows = append(f.rows, c)
			continue
		}
		return nil, &FilterError{s, x.fieldAt, fmt.Sprintf("there is no field %q; choose from %s", x.field, strings.Join(names, ", "))}
	}
	return f, nil
}

// Keep is the conditions on single entries; nil if there are none. It may be
// called from several goroutines.
func (f *Filter[E, R]) Keep() func(*E) bool {
	if len(f.entries) == 0 {
		return nil
	}
	return func(e *E) bool {
		for i := range f.entries {
			if !f.entries[i].holds(e) {
				return false
			}
		}
		return true
	}
}

// keepRow tells whether a row fits the conditions on rows.
func (f *Filter[E, R]) keepRow(r *R) bool {
	for i := range f.rows {
		if !f.rows[i].holds(r) {
			return false
		}
	}
	return true
}

// ApplyAccess takes the routes away that the filter's conditions on routes do
// not fit; their requests count as skipped, and shares are of what stays.
func ApplyAccess(f *AccessFilter, a *Access) {
	if len(f.rows) == 0 {
		return
	}
	kept := a.Routes[:0]
	for i := range a.Routes {
		if f.keepRow(&a.Routes[i]) {
			kept = append(kept, a.Routes[i])
			continue
		}
		a.Skipped += a.Routes[i].Count
	}
	a.Routes = kept
	share(a)
}

// share computes the shares anew.
func share(a *Access) {
	weight := func(r *Route) float64 {
		if a.Timed {
			return float64(r.Time.Total)
		}
		return float64(r.Count)
	}
	total := 0.0
	for i := range a.Routes {
		total += weight(&a.Routes[i])
	}
	for i := range a.Routes {
		if a.Routes[i].Share = 0; total > 0 {
			a.Routes[i].Share = weight(&a.Routes[i]) / total
		}
	}
}

// ApplyStatements takes the classes away that the filter's conditions on
// classes do not fit; their statements count as skipped.
func ApplyStatements(f *StatementFilter, s *Statements) {
	if len(f.rows) == 0 {
		return
	}
	kept := s.Classes[:0]
	for i := range s.Classes {
		if f.keepRow(&s.Classes[i]) {
			kept = append(kept, s.Classes[i])
			continue
		}
		s.Skipped = plus(s.Skipped, s.Classes[i].Count)
		s.Entries -= s.Classes[i].Count
	}
	s.Classes = kept
}

// expr is one condition as written.
type expr struct {
	text, field, op, value string
	fieldAt, opAt, valueAt int // in characters
	not                    bool
}

// operators, longer ones first.
var operators = []string{">=", "<=", "!=", "!~", "==", "=", "<", ">", "~"}

var fieldName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*`)

func parseExpr(s string) (expr, error) {
	x := expr{text: s}
	chars := func(rest string) int { return utf8.RuneCountInString(s) - utf8.RuneCountInString(rest) }
	rest := strings.TrimLeft(s, " \t")
	if after, ok := strings.CutPrefix(rest, "!"); ok {
		x.not, rest = true, strings.TrimLeft(after, " \t")
	}
	x.fieldAt = chars(rest)
	x.field = strings.ToLower(fieldName.FindString(rest))
	if x.field == "" {
		return x, &FilterError{s, x.fieldAt, "a field's name is expected, as in status>=500"}
	}
	rest = strings.TrimLeft(rest[len(x.field):], " \t")
	x.opAt = chars(rest)
	if rest == "" {
		x.valueAt = x.opAt
		return x, nil
	}
	for _, op := range operators {
		if after, ok := strings.CutPrefix(rest, op); ok {
			x.op = op
			after = strings.TrimLeft(after, " \t")
			x.valueAt = chars(after)
			x.value = strings.TrimRight(after, " \t")
			break
		}
	}
	switch {
	case x.op == "":
		return x, &FilterError{s, x.opAt, "one of = != > >= < <= ~ !~ is expected"}
	case x.not:
		return x, &FilterError{s, x.fieldAt - 1, "! is for a field without a value, as in !no_index; use != or !~"}
	case x.value != "" && strings.ContainsRune("=<>~", rune(x.value[0])) && x.op != "~" && x.op != "!~":
		return x, &FilterError{s, x.valueAt, fmt.Sprintf("a value is expected behind %s", x.op)}
	}
	if x.op == "==" {
		x.op = "="
	}
	return x, nil
}
