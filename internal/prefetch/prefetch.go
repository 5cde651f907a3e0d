// Package prefetch learns rules of the accelerator (accelerator/): which read by key follows
// which other read, and by which column of its rows.
//
// In: reads that come again and again within transactions (trace.Follows), and a database
// that the reads before them can be asked of again. Out: a rule for each where the column
// could be shown, else the reason why not. Values stay in memory.
package prefetch

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kasoku/accelerator"
	"kasoku/internal/sqllog"
	"kasoku/internal/trace"
)

// Rule is one that was learned, in the names of the accelerator's files.
type Rule struct {
	ID        string `json:"id"`
	Kind      string `json:"kind"` // "prefetch"
	After     string `json:"after"`
	Column    string `json:"column"`
	Statement string `json:"statement"`
}

// Learned is what was found out about one statement: a rule, or why there is none.
type Learned struct {
	Rule    *Rule  `json:"rule,omitempty"`
	Refused string `json:"refused,omitempty"`
	// Statement with its placeholder, or what it looks like without its values.
	Statement string `json:"statement"`
	Runs      int    `json:"runs"`
	// Turns are the transactions that were compared, Keys the values that the program read
	// by in them, Held how many the column had.
	Turns int `json:"turns"`
	Keys  int `json:"keys"`
	Held  int `json:"held,omitempty"`
}

// Asked are the rows of a plain read: the columns' names, and the values of each, NULL left
// out. An error says why it could not be asked again.
type Asked func(ctx context.Context, query string) (names []string, values [][]string, err error)

// Bounds of what is compared.
const (
	mostTurns   = 20  // transactions; each asks for the rows of a few reads
	fewestTurns = 2   // one transaction may fit by chance
	leastUsed   = 0.5 // of the keys in the rows that the program reads by: the others would be read in vain
)

// Learn finds rules for reads.
func Learn(ctx context.Context, all []trace.Follow, ask Asked) ([]Learned, error) {
	var out []Learned
	ids := map[string]int{}
	for _, f := range all {
		l := Learned{Statement: f.Statement, Runs: f.Runs}
		if f.Statement == "" {
			l.Statement = f.Fingerprint
		}
		if l.Refused = unfit(f); l.Refused == "" {
			s := &search{follow: f, ask: ask, Learned: &l}
			if err := s.run(ctx); err != nil {
				return nil, err
			}
		}
		if l.Rule != nil {
			ids[l.Rule.ID]++
			if n := ids[l.Rule.ID]; n > 1 {
				l.Rule.ID += "-" + strconv.Itoa(n)
			}
		}
		out = append(out, l)
	}
	return out, nil
}

// unfit says why no rule can be made of a read, whatever came before it.
func unfit(f trace.Follow) string {
	switch {
	case f.Statement == "":
		return "its text is not in the log: the values were put in before it was sent (interpolateParams), or it was prepared before the log began"
	case len(f.Turns) == 0:
		return fmt.Sprintf("it is read outside of transactions (%d of %d runs), where each read sees the newest state", f.Outside, f.Runs)
	}
	if _, err := accelerator.Parse(file(Rule{ID: "a", Kind: "prefetch", After: "SELECT 1", Column: "a", Statement: f.Statement})); err != nil {
		_, reason, _ := strings.Cut(err.Error(), "statement: ")
		return reason
	}
	wrote := 0
	for _, t := range f.Turns {
		if t.Wrote > 0 {
			wrote++
		}
		for _, k := range t.Keys {
			if n, err := strconv.ParseInt(k, 10, 64); err != nil || strconv.FormatInt(n, 10) != k {
				return "its keys are no integers"
			}
		}
	}
	if 2*wrote > len(f.Turns) {
		return fmt.Sprintf("a write comes between the reads in %d of %d transactions, and ends what was read ahead", wrote, len(f.Turns))
	}
	if len(f.Turns) < fewestTurns {
		return fmt.Sprintf("it was seen in %d transaction; %d are needed", len(f.Turns), fewestTurns)
	}
	return ""
}

// file is a file of rules.
func file(rules ...Rule) []byte {
	data, err := json.MarshalIndent(map[string]any{"format": 1, "rules": rules}, "", "  ")
	if err != nil {
		return nil // strings always become JSON
	}
	return append(data, '\n')
}

// File is a file of the rules that were learned, nil if there is none.
func File(all []Learned) []byte {
	var rules []Rule
	for _, l := range all {
		if l.Rule != nil {
			rules = append(rules, *l.Rule)
		}
	}
	if rules == nil {
		return nil
	}
	return file(rules...)
}

// search looks for the column of one read's keys.
type search struct {
	*Learned
	follow trace.Follow
	ask    Asked
	best   string // the reason that came nearest to a rule
	most   int    // keys that it had
}

// run tries the reads that came before, the nearest first.
func (s *search) run(ctx context.Context) error {
	turns := s.follow.Turns[:min(len(s.follow.Turns), mostTurns)]
	tried := map[string]bool{}
	for _, t := range turns {
		for _, e := range t.Before {
			if tried[e.Statement] {
				continue
			}
			tried[e.Statement] = true
			if err := s.after(ctx, turns, e.Statement); err != nil || s.Rule != nil {
				return err
			}
		}
	}
	if s.Refused = s.best; s.best == "" {
		s.Refused = "no plain read came before it in its transactions"
	}
	return nil
}

// column is one of a read's rows, over all transactions compared.
type column struct {
	keys, held, rows int
	ordered          bool // the keys came in the order of the rows
}

// after compares the rows of one read with the keys.
func (s *search) after(ctx context.Context, turns []trace.Turn, statement string) error {
	columns := map[string]*column{}
	compared, keys := 0, 0
	for _, t := range turns {
		at := slices.IndexFunc(t.Before, func(e trace.Earlier) bool { return e.Statement == statement })
		if at < 0 {
			continue
		}
		names, values, err := s.ask(ctx, t.Before[at].Text)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			s.reason(0, fmt.Sprintf("%s cannot be asked again: %v", shown(statement), err))
			return nil
		}
		compared, keys = compared+1, keys+len(t.Keys)
		for i, name := range names {
			if slices.Index(names, name) != i || slices.Contains(names[i+1:], name) {
				continue // the accelerator takes a name that is there once
			}
			if columns[name] == nil {
				columns[name] = &column{ordered: true}
			}
			columns[name].add(t.Keys, values[i])
		}
	}
	if len(columns) == 0 {
		s.reason(0, shown(statement)+" has no column whose name is there once")
	}
	s.judge(statement, columns, compared, keys)
	return nil
}

// add compares the values of one transaction.
func (c *column) add(keys, values []string) {
	var distinct []string
	at := map[string]int{}
	for _, v := range values {
		if _, ok := at[v]; !ok {
			at[v] = len(distinct)
			distinct = append(distinct, v)
		}
	}
	last := -1
	for _, k := range keys {
		n, ok := at[k]
		if ok {
			c.held++
		}
		c.ordered = c.ordered && ok && n > last
		last = n
	}
	c.keys, c.rows = c.keys+len(keys), c.rows+len(distinct)
}

// judge makes a rule if one column alone has all keys, or one alone in their order.
func (s *search) judge(statement string, columns map[string]*column, compared, keys int) {
	var fit, ordered []string
	for name, c := range columns {
		s.reason(c.held, fmt.Sprintf("column %s of %s has %d of its %d keys", name, shown(statement), c.held, c.keys))
		if c.keys == keys && c.held == c.keys {
			fit = append(fit, name)
			if c.ordered {
				ordered = append(ordered, name)
			}
		}
	}
	slices.Sort(fit)
	if len(ordered) == 1 {
		fit = ordered
	}
	switch {
	case len(fit) == 0:
		return
	case len(fit) > 1:
		s.reason(keys+1, fmt.Sprintf("columns %s of %s have all its keys; which is meant does not show", strings.Join(fit, ", "), shown(statement)))
		return
	case compared < fewestTurns:
		s.reason(keys+1, fmt.Sprintf("%s came before it in %d transaction; %d are needed", shown(statement), compared, fewestTurns))
		return
	}
	c := columns[fit[0]]
	if float64(c.keys) < leastUsed*float64(c.rows) {
		s.reason(keys+1, fmt.Sprintf("of %d keys in column %s of %s it is read by %d; the others would be read in vain", c.rows, fit[0], shown(statement), c.keys))
		return
	}
	table := "rows"
	if t := sqllog.Tables(s.Statement); len(t) > 0 {
		table = t[0]
	}
	s.Rule = &Rule{ID: table + "-by-" + fit[0], Kind: "prefetch", After: statement, Column: fit[0], Statement: s.Statement}
	s.Turns, s.Keys, s.Held, s.Refused = compared, c.keys, c.rows, ""
}

// reason notes why there is no rule, if it comes nearer to one than those before.
func (s *search) reason(keys int, text string) {
	if s.best == "" || keys > s.most {
		s.best, s.most = text, keys
	}
}

// shown is a statement in a sentence, without values.
func shown(statement string) string {
	r := []rune(sqllog.Fingerprint(statement))
	if len(r) > 100 {
		r = append(r[:100], '…')
	}
	return "“" + string(r) + "”"
}
