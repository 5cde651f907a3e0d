package args

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/confedit/textedit"
)

// Set gives the option that name is a spelling of a value: the last occurrence
// is edited in its place and spelling; if there is none, the option is added
// behind the first command's last argument as "--name=value" or "-n value". A
// switch takes no value ("") and is added if it is not there. The edit's
// offsets are of the list's text.
func (l *List) Set(g Grammar, name, value string) (textedit.Edit, error) {
	g, o, err := g.named(name, value)
	if err != nil {
		return textedit.Edit{}, err
	}
	occ, ok := l.Get(g, name)
	if ok && !o.Arg {
		return textedit.Edit{}, nil
	}
	if ok {
		return l.SetAt(occ, value)
	}
	return l.add(g, o, name, value)
}

// Add gives one more value to an option that may stand several times. It is
// written where Set would add the option.
func (l *List) Add(g Grammar, name, value string) (textedit.Edit, error) {
	g, o, err := g.named(name, value)
	if err != nil {
		return textedit.Edit{}, err
	}
	return l.add(g, o, name, value)
}

// named is the option that name is a spelling of, which can take the value.
func (g Grammar) named(name, value string) (Grammar, Option, error) {
	g, o := g.with(name)
	if len(name) < 2 || name[0] != '-' || name == "--" || strings.ContainsAny(name, " \t\r\n=\x00'\"\\$%`") {
		return g, o, fmt.Errorf("set option %q: an option begins with -, holds no white space, quote or =, and is not -- alone", name)
	}
	if !o.Arg && value != "" {
		return g, o, fmt.Errorf("set option %s to %q: it takes no value; list it with Arg if it does", name, value)
	}
	return g, o, nil
}

// SetAt changes the value of one occurrence, as All or Get have returned it
// since the last edit.
func (l *List) SetAt(occ Occurrence, value string) (textedit.Edit, error) {
	if err := l.Err(); err != nil {
		return textedit.Edit{}, fmt.Errorf("set option %s: %w", occ.Name, err)
	}
	if !occ.option.Arg || occ.Word >= len(l.Words) || occ.attached && value == "" && len(occ.Name) == 2 {
		return textedit.Edit{}, fmt.Errorf("set option %s to %q: it cannot be written in this place", occ.Name, value)
	}
	w := l.Words[occ.Word]
	if occ.Literal && occ.Value == value {
		return textedit.Edit{}, nil
	}
	e, err := l.replacement(w, occ.from, value)
	if err != nil {
		return textedit.Edit{}, fmt.Errorf("set option %s: %w", occ.Name, err)
	}
	want := l.values()
	want[occ.Word] = w.Value[:occ.from] + value
	return e, l.apply(want, e)
}

// SetWord gives a word another value; only bytes that differ are written anew.
func (l *List) SetWord(i int, value string) (textedit.Edit, error) {
	if err := l.Err(); err != nil {
		return textedit.Edit{}, fmt.Errorf("set word %d: %w", i+1, err)
	}
	w := l.Words[i]
	from, end := 0, len(w.Value)
	for from < min(end, len(value)) && w.Value[from] == value[from] {
		from++
	}
	to := len(value)
	for end > from && to > from && w.Value[end-1] == value[to-1] {
		end, to = end-1, to-1
	}
	if from == end && from > 0 { // nothing but new bytes: they take the place of the one before
		from--
	}
	want := l.values()
	want[i] = value
	if from < end {
		a, b := w.value.Span(from, end, 0)
		if s, err := inside(value[from:to], w.quotes[from], l.quoting); err == nil {
			e := textedit.Edit{From: a, To: b, New: s}
			return e, l.apply(want, e)
		}
	}
	if !w.Literal {
		return textedit.Edit{}, fmt.Errorf("set word %d: it holds what is only put in when it is used", i+1)
	}
	e, err := l.replacement(w, from, value[from:])
	if err != nil {
		return textedit.Edit{}, fmt.Errorf("set word %d: %w", i+1, err)
	}
	return e, l.apply(want, e)
}

// replacement is the edit by which w's value reads tail from byte from on.
func (l *List) replacement(w Word, from int, tail string) (textedit.Edit, error) {
	if n := len(w.Value); from < n {
		quote, same := w.quotes[from], true
		for _, q := range w.quotes[from:] {
			same = same && q == quote
		}
		a, b := w.value.Span(from, n, 0)
		s, err := inside(tail, quote, l.quoting)
		ok := err == nil && same && tail != "" && (quote != 0 || l.quoting == Plain || bare(tail, l.quoting))
		if ok {
			return textedit.Edit{From: a, To: b, New: s}, nil
		}
	}
	s, err := Encode(w.Value[:from]+tail, l.text[w.From:w.To], l.quoting)
	return textedit.Edit{From: w.From, To: w.To, New: s}, err
}

// add puts a new option behind the first command's last argument.
func (l *List) add(g Grammar, o Option, name, value string) (textedit.Edit, error) {
	if err := l.Err(); err != nil {
		return textedit.Edit{}, fmt.Errorf("add option %s: %w", name, err)
	}
	words := []string{name}
	if o.Arg && strings.HasPrefix(name, "--") {
		words = []string{name + "=" + value}
	} else if o.Arg {
		words = append(words, value)
	}
	var raw []string
	for _, w := range words {
		s, err := Encode(w, "", l.quoting)
		if err != nil {
			return textedit.Edit{}, fmt.Errorf("add option %s: %w", name, err)
		}
		raw = append(raw, s)
	}
	n := l.walk(g, func(Occurrence) {})
	e := textedit.Edit{New: strings.Join(raw, " ")}
	if n > 0 {
		e.From = l.Words[n-1].To
		e.New = " " + e.New
	} else if len(l.Words) > 0 {
		e.From = l.Words[0].From
		e.New += " "
	}
	e.To = e.From
	was := *l
	if err := l.apply(slices.Insert(l.values(), n, words...), e); err != nil {
		return e, err
	}
	// An option before it that lacks its value would take this one as such.
	if occ, ok := l.Get(g, name); !ok || o.Arg && occ.Value != value {
		*l = was
		return textedit.Edit{}, fmt.Errorf("add option %s: %q would not read it; does its last option lack a value?", name, was.text)
	}
	return e, nil
}

func (l *List) values() []string {
	var out []string
	for _, w := range l.Words {
		out = append(out, w.Value)
	}
	return out
}

// apply makes edits if the new text reads as the words that are wanted.
func (l *List) apply(want []string, edits ...textedit.Edit) error {
	fresh := Parse(textedit.Apply(l.text, edits...), l.quoting)
	if fresh.broken != "" || !slices.Equal(fresh.values(), want) {
		return errors.New("edit arguments: the new text would be split into other words")
	}
	*l = *fresh
	return nil
}
