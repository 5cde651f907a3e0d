// Package shell reads scripts of sh(1), and sets the pause of a loop in them. All
// other bytes stay.
//
// In: a script's text. Out: what its loop does, and the text with another pause.
package shell

import (
	"math"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Pause is how long the one loop of a script waits between two rounds.
type Pause struct {
	// Seconds are what the script itself says; 0 where only Variable tells.
	Seconds float64
	// Variable of the environment that says the number, "" if the script does.
	Variable string
	// Programs that a round starts, each once, as they are written; URLs that their
	// words hold, "?" for a word that is computed.
	Programs, URLs []string

	from, to int    // of the number in the script
	unit     string // behind the number: "", s, m, h or d (sleep(1))
	outside  bool   // the unit stands behind a variable, not in its value
}

// units of sleep(1), seconds.
var units = map[string]float64{"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}

// FindPause finds the loop that goes round and round with a pause: one `sleep` with one
// number within `while`, `until` or `for`. environment tells the variables that the
// script is started with. It returns nil where there is no such loop, where there are
// several pauses, where the number is computed, and where the text is no script.
func FindPause(script string, environment func(name string) (string, bool)) *Pause {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(script), "")
	if err != nil {
		return nil
	}
	r := reader{environment: environment, assigned: map[string][]*syntax.Assign{}}
	for node := range nodes(file) {
		if a, ok := node.(*syntax.Assign); ok && a.Name != nil {
			r.assigned[a.Name.Value] = append(r.assigned[a.Name.Value], a)
		}
	}
	for node := range nodes(file) {
		switch loop := node.(type) {
		case *syntax.WhileClause:
			r.round(append(loop.Cond[:len(loop.Cond):len(loop.Cond)], loop.Do...))
		case *syntax.ForClause:
			r.round(loop.Do)
		}
	}
	if len(r.sleeps) != 1 {
		return nil
	}
	p := r.pause(r.sleeps[0], "")
	if p != nil {
		p.Programs, p.URLs = r.programs, r.urls
	}
	return p
}

// nodes of a tree, from the top down.
func nodes(of syntax.Node) func(func(syntax.Node) bool) {
	return func(yield func(syntax.Node) bool) {
		more := true
		syntax.Walk(of, func(n syntax.Node) bool {
			more = more && (n == nil || yield(n))
			return more
		})
	}
}

// reader gathers what stands in a script's loops.
type reader struct {
	environment func(string) (string, bool)
	assigned    map[string][]*syntax.Assign
	sleeps      []*syntax.Word
	seen        map[syntax.Node]bool // loops stand within loops
	programs    []string
	urls        []string
}

// round reads the commands of one round.
func (r *reader) round(body []*syntax.Stmt) {
	if r.seen == nil {
		r.seen = map[syntax.Node]bool{}
	}
	for _, s := range body {
		for node := range nodes(s) {
			call, ok := node.(*syntax.CallExpr)
			if !ok || len(call.Args) == 0 || r.seen[call] {
				continue
			}
			r.seen[call] = true
			r.call(call.Args)
		}
	}
}

func (r *reader) call(words []*syntax.Word) {
	program := words[0].Lit()
	if program[strings.LastIndex(program, "/")+1:] == "sleep" {
		switch len(words) {
		case 2:
			r.sleeps = append(r.sleeps, words[1])
		default:
			r.sleeps = append(r.sleeps, nil, nil) // several numbers are a sum
		}
		return
	}
	switch program {
	case "true", ":", "[", "test", "echo", "printf", "date", "exit", "break", "continue", "cd", "export", "set":
		return
	}
	r.programs = appendNew(r.programs, program)
	for _, w := range words[1:] {
		switch text, known := r.text(w); {
		case !known:
			r.urls = appendNew(r.urls, "?")
		case strings.HasPrefix(text, "http://"), strings.HasPrefix(text, "https://"):
			r.urls = appendNew(r.urls, text)
		}
	}
}

// text is a word with its variables put in, as far as they are known; false if it is
// computed.
func (r *reader) text(w *syntax.Word) (string, bool) {
	var out strings.Builder
	for _, part := range flat(w.Parts) {
		switch x := part.(type) {
		case *syntax.Lit:
			out.WriteString(x.Value)
		case *syntax.SglQuoted:
			out.WriteString(x.Value)
		case *syntax.ParamExp:
			value, ok := r.environment(x.Param.Value)
			if as := r.assigned[x.Param.Value]; len(as) == 1 && as[0].Value != nil {
				value, ok = as[0].Value.Lit(), as[0].Value.Lit() != ""
			}
			if !ok || !plain(x) {
				return "", false
			}
			out.WriteString(value)
		default:
			return "", false
		}
	}
	return out.String(), true
}

// flat takes double quotes away.
func flat(parts []syntax.WordPart) []syntax.WordPart {
	var out []syntax.WordPart
	for _, p := range parts {
		if q, ok := p.(*syntax.DblQuoted); ok {
			out = append(out, flat(q.Parts)...)
			continue
		}
		out = append(out, p)
	}
	return out
}

// plain reports whether a parameter is only put in: $NAME or ${NAME}.
func plain(x *syntax.ParamExp) bool {
	return x.Exp == nil && x.Index == nil && x.Slice == nil && x.Repl == nil && !x.Length && !x.Excl
}

// pause finds the number behind a word: itself, that of a variable which the script sets
// once, of the environment, or the default in ${NAME:-number}. within is the variable
// whose own value is read: NAME=${NAME:-1}.
func (r *reader) pause(w *syntax.Word, within string) *Pause {
	if w == nil {
		return nil
	}
	parts := flat(w.Parts)
	if len(parts) == 2 { // "$NAME"s
		if unit, ok := parts[1].(*syntax.Lit); ok && units[unit.Value] > 0 {
			p := r.pause(&syntax.Word{Parts: parts[:1]}, within)
			if p == nil || p.unit != "" {
				return nil
			}
			p.unit, p.outside = unit.Value, true
			p.Seconds *= units[unit.Value]
			return p
		}
	}
	if len(parts) != 1 {
		return nil
	}
	switch x := parts[0].(type) {
	case *syntax.Lit:
		return number(x.Value, int(x.Pos().Offset()))
	case *syntax.SglQuoted:
		return number(x.Value, int(x.Pos().Offset())+1)
	case *syntax.ParamExp:
		return r.variable(x, within)
	}
	return nil
}

func (r *reader) variable(x *syntax.ParamExp, within string) *Pause {
	name := x.Param.Value
	byDefault := x.Exp != nil && (x.Exp.Op == syntax.DefaultUnset || x.Exp.Op == syntax.DefaultUnsetOrNull)
	if !plain(x) && !byDefault {
		return nil
	}
	if all := r.assigned[name]; len(all) > 0 && name != within {
		if len(all) > 1 || within != "" {
			return nil
		}
		return r.pause(all[0].Value, name)
	}
	if value, ok := r.environment(name); ok {
		p := number(value, 0)
		if p == nil {
			return nil
		}
		return &Pause{Seconds: p.Seconds, Variable: name, unit: p.unit}
	}
	if byDefault {
		return r.pause(x.Exp.Word, within)
	}
	return nil
}

func number(text string, at int) *Pause {
	digits := strings.TrimRight(text, "smhd")
	unit := text[len(digits):]
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || n <= 0 || units[unit] == 0 || strings.ContainsAny(digits, "+-xXeEpPiInN_") {
		return nil
	}
	return &Pause{Seconds: n * units[unit], from: at, to: at + len(digits), unit: unit}
}

// Number is a pause of so many seconds as it is to be written in the old one's place.
func (p *Pause) Number(seconds float64) string {
	return strconv.FormatFloat(math.Round(1e6*seconds/units[p.unit])/1e6, 'f', -1, 64)
}

// Value is Number for Variable, with the unit that it holds itself.
func (p *Pause) Value(seconds float64) string {
	if p.outside {
		return p.Number(seconds)
	}
	return p.Number(seconds) + p.unit
}

// Set returns the script with another pause. Variable must be "".
func (p *Pause) Set(script string, seconds float64) string {
	return script[:p.from] + p.Number(seconds) + script[p.to:]
}

func appendNew(list []string, s string) []string {
	if s == "" {
		s = "?" // computed
	}
	for _, have := range list {
		if have == s {
			return list
		}
	}
	return append(list, s)
}
