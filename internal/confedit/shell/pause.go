package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Pause is how long the one loop of a script waits between two rounds.
type Pause struct {
	Number
	// Programs that a round starts, each once, as they are written; URLs that their
	// words hold, "?" for a word that is computed.
	Programs, URLs []string
}

// units of sleep(1), seconds.
var units = map[string]float64{"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}

// FindPause finds the loop that goes round and round with a pause: one `sleep` with one
// number within `while`, `until` or `for`. environment tells the variables that the
// script is started with. It returns nil where there is no such loop, where there are
// several pauses, where the number is computed, and where the text is no script.
func FindPause(script string, environment func(name string) (string, bool)) *Pause {
	file, r := read(script, environment)
	if file == nil {
		return nil
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
	n := r.number(r.sleeps[0], "")
	if n == nil {
		return nil
	}
	return &Pause{Number: *n, Programs: r.programs, URLs: r.urls}
}

// read parses a script; nil if it is none.
func read(script string, environment func(string) (string, bool)) (*syntax.File, *reader) {
	var file *syntax.File
	for _, lang := range []syntax.LangVariant{syntax.LangPOSIX, syntax.LangBash} {
		var err error
		if file, err = syntax.NewParser(syntax.Variant(lang)).Parse(strings.NewReader(script), ""); err == nil {
			break
		}
		file = nil
	}
	if file == nil {
		return nil, nil
	}
	r := &reader{environment: environment, assigned: map[string][]*syntax.Assign{}}
	for node := range nodes(file) {
		if a, ok := node.(*syntax.Assign); ok && a.Name != nil {
			r.assigned[a.Name.Value] = append(r.assigned[a.Name.Value], a)
		}
	}
	return file, r
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
