package args

import "strings"

// Option is one option of a program.
type Option struct {
	Names []string // all its spellings: "-t", "--threads"; "--port" or "-port" alone too
	// Arg says that a value follows; without it the option is a switch.
	Arg bool
}

// Grammar is what a program's own reader knows of its options. Options that
// are not listed are passed over as switches, so one that takes a value which
// may begin with - should be listed.
type Grammar struct {
	Options []Option
	// Abbreviate lets a long name be cut short as long as only one fits, as
	// getopt_long has it.
	Abbreviate bool
}

// Occurrence is one place where an option is given.
type Occurrence struct {
	Name    string // as written: "-t"
	Value   string // "" for a switch
	Literal bool   // see Word
	Word    int    // the word in List.Words that holds the value or the switch

	first    int // the word with the name
	from     int // Value is Words[Word].Value[from:]
	bundle   int // a switch's letter in a bundle such as -vM, 0 if alone
	missing  bool
	attached bool
	option   Option
}

// Names are all names of an option, whatever dashes name has.
func (g Grammar) Names(name string) []string {
	o, _ := g.find(name)
	return o.Names
}

// find returns the option that word or its part before = names.
func (g Grammar) find(name string) (Option, bool) {
	var found []Option
	for _, o := range g.Options {
		for _, n := range o.Names {
			if n == name {
				return o, true
			}
			if g.Abbreviate && len(name) > 2 && strings.HasPrefix(name, "--") && strings.HasPrefix(n, name) {
				found = append(found, o)
				break
			}
		}
	}
	if len(found) == 1 {
		return found[0], true
	}
	return Option{}, false
}

func (o Option) has(name string) bool {
	for _, n := range o.Names {
		if n == name {
			return true
		}
	}
	return false
}

// walk calls visit for every option of the first command in the list, in
// order. It returns the number of words before "--" or the command's end.
func (l *List) walk(g Grammar, visit func(Occurrence)) int {
	for i := 0; i < len(l.Words); i++ {
		w := l.Words[i]
		if w.Operator || w.Value == "--" {
			return i
		}
		if len(w.Value) < 2 || w.Value[0] != '-' {
			continue
		}
		if o, ok := g.find(w.Value); ok {
			occ := Occurrence{Name: w.Value, Word: i, first: i, Literal: true, option: o}
			if o.Arg {
				if i+1 < len(l.Words) && !l.Words[i+1].Operator {
					i++
					occ.Word, occ.Value, occ.Literal = i, l.Words[i].Value, l.Words[i].Literal
				} else {
					occ.missing = true
				}
			}
			visit(occ)
			continue
		}
		if name, value, ok := strings.Cut(w.Value, "="); ok {
			if o, ok := g.find(name); ok && len(name) > 2 && o.Arg {
				visit(Occurrence{Name: name, Value: value, Literal: w.Literal, Word: i, first: i, from: len(name) + 1, attached: true, option: o})
				continue
			}
		}
		if !strings.HasPrefix(w.Value, "--") {
			i = l.bundle(g, i, visit)
		}
	}
	return len(l.Words)
}

// bundle takes a word of one-letter options: -vM, -t5, -vt5, -vt 5. It returns
// the last word that it used.
func (l *List) bundle(g Grammar, i int, visit func(Occurrence)) int {
	w := l.Words[i]
	for j := 1; j < len(w.Value); j++ {
		name := "-" + w.Value[j:j+1]
		o, ok := g.find(name)
		occ := Occurrence{Name: name, Word: i, first: i, Literal: w.Literal, bundle: j, option: o}
		switch {
		case !ok:
			return i // unknown: the rest may be its value
		case !o.Arg:
			visit(occ)
			continue
		case j+1 < len(w.Value):
			occ.Value, occ.from, occ.attached = w.Value[j+1:], j+1, true
		case i+1 < len(l.Words) && !l.Words[i+1].Operator:
			i++
			occ.Word, occ.Value, occ.Literal = i, l.Words[i].Value, l.Words[i].Literal
		default:
			occ.missing = true
		}
		visit(occ)
		return i
	}
	return i
}

// All returns every occurrence of the option that name is a spelling of, in
// order. An option that the grammar does not list is found as a switch, or
// with a value if it is written --name=value.
func (l *List) All(g Grammar, name string) []Occurrence {
	g, o := g.with(name)
	var out []Occurrence
	l.walk(g, func(occ Occurrence) {
		if occ.option.has(o.Names[0]) && !occ.missing {
			out = append(out, occ)
		}
	})
	return out
}

// with returns the grammar with name in it and name's option.
func (g Grammar) with(name string) (Grammar, Option) {
	for _, o := range g.Options {
		if o.has(name) {
			return g, o
		}
	}
	o := Option{Names: []string{name}}
	g.Options = append(g.Options[:len(g.Options):len(g.Options)], o)
	return g, o
}

// Get returns the occurrence that counts for most programs: the last one.
func (l *List) Get(g Grammar, name string) (Occurrence, bool) {
	all := l.All(g, name)
	if len(all) == 0 {
		return Occurrence{}, false
	}
	return all[len(all)-1], true
}

// Span returns where an occurrence stands in the list's text, from its name to
// the end of its value. In a bundle of letters that is the whole word.
func (l *List) Span(occ Occurrence) (from, to int) {
	return l.Words[occ.first].From, l.Words[occ.Word].To
}
