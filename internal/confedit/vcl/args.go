package vcl

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// withValue are varnishd's options that take a value (varnishd 7.1,
// bin/varnishd/mgt/mgt_main.c); all others are flags.
const withValue = "abEfhiIjlMnPprSstTWx"

// Args are varnishd's arguments: a list, or a line of a unit or defaults file
// of which every byte that is not about an edit stays.
type Args struct {
	words []argument
	tail  string
	line  bool
}

// ParseArgs takes a list of arguments, with or without the program.
func ParseArgs(argv []string) *Args {
	a := &Args{}
	for _, v := range argv {
		a.words = append(a.words, argument{raw: v, value: v})
	}
	return a
}

// ParseLine takes a command line: the value of ExecStart= in a unit, which may
// go over lines that end in a backslash, or of DAEMON_OPTS between its quotes.
// A quote that is not closed is an error.
func ParseLine(line string) (*Args, error) {
	words, tail, err := cutLine(line)
	if err != nil {
		return nil, err
	}
	return &Args{words: words, tail: tail, line: true}, nil
}

// Line returns the line with all edits; for a list, one that a shell takes.
func (a *Args) Line() string {
	var b strings.Builder
	for i, w := range a.words {
		if a.line {
			b.WriteString(w.gap + w.raw)
			continue
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(writeWord(w.value))
	}
	return b.String() + a.tail
}

// option is one option with its value.
type option struct {
	letter byte
	value  string
	word   int // the word that holds the value
	offset int // of the value in that word: 2 in -p=…, 0 in a word of its own
	first  int // the word that holds the letter
}

// options lists the options as getopt(3) reads them.
func (a *Args) options() []option {
	var out []option
	for i := 0; i < len(a.words); i++ {
		v := a.words[i].value
		if v == "--" {
			return out
		}
		if len(v) < 2 || v[0] != '-' {
			continue // the program, or a stray word
		}
		for j := 1; j < len(v); j++ {
			o := option{letter: v[j], word: i, first: i}
			if strings.IndexByte(withValue, v[j]) < 0 {
				out = append(out, o)
				continue
			}
			switch {
			case j+1 < len(v):
				o.value, o.offset = v[j+1:], j+1
			case i+1 < len(a.words):
				i++
				o.value, o.word = a.words[i].value, i
			}
			out = append(out, o)
			break
		}
	}
	return out
}

// Values lists the values of an option ('a', 'f', 's' …) in order; a flag that
// is there gives "".
func (a *Args) Values(letter byte) []string {
	var out []string
	for _, o := range a.options() {
		if o.letter == letter {
			out = append(out, o.value)
		}
	}
	return out
}

// Param returns a run-time parameter's value as -p sets it. Where it is set
// twice the last counts.
func (a *Args) Param(param string) (value string, ok bool) {
	for _, o := range a.options() {
		if n, v, has := strings.Cut(o.value, "="); o.letter == 'p' && has && n == param {
			value, ok = v, true
		}
	}
	return value, ok
}

// SetParam sets a parameter with -p: the one that counts is edited in place,
// else one is added behind the last -p, or at the end.
func (a *Args) SetParam(param, value string) error {
	if param == "" || strings.ContainsAny(param, "= \t\r\n\x00") || strings.ContainsAny(value, "\r\n\x00") {
		return fmt.Errorf("set varnishd parameter %q to %q: that cannot be an argument", param, value)
	}
	return a.guarded(func() error { a.setParam(param, value); return nil })
}

func (a *Args) setParam(param, value string) {
	var last, same *option
	for _, o := range a.options() {
		if o.letter != 'p' {
			continue
		}
		last = &o
		if n, _, has := strings.Cut(o.value, "="); has && n == param {
			same = &o
		}
	}
	if same != nil {
		a.setValue(*same, param+"="+value)
		return
	}
	at, gap := a.end(), " "
	if last != nil {
		at, gap = last.word+1, a.words[last.first].gap
	}
	if gap == "" {
		gap = " "
	}
	text := param + "=" + value
	a.words = slices.Insert(a.words, at,
		argument{gap: gap, raw: "-p", value: "-p"}, argument{gap: " ", raw: writeWord(text), value: text})
}

// guarded makes an edit; if the line would then not be read as the words that
// were meant (a backslash at its end takes up what follows), it is undone.
func (a *Args) guarded(edit func() error) error {
	was := slices.Clone(a.words)
	err := edit()
	if err == nil && a.line {
		fresh, _, bad := cutLine(a.Line())
		if bad != nil || !slices.EqualFunc(fresh, a.words, func(x, y argument) bool { return x.value == y.value }) {
			err = fmt.Errorf("edit varnishd's arguments: the new text would change how %q is read; mend its quotes and backslashes first", a.Line())
		}
	}
	if err != nil {
		a.words = was
	}
	return err
}

// Storage is one -s option: [name=]kind[,size[,…]].
type Storage struct {
	Name string // "s0", "s1" … where it has none, as Varnish names it
	Kind string // "malloc", "file", "default" …
	Rest []string
}

// Size returns the storage's size as written: the first option of malloc and
// default, the second of file; "" if it is not given (malloc is then without
// bound; varnishd(1)).
func (s Storage) Size() string {
	if i := s.sizeAt(); i < len(s.Rest) {
		return s.Rest[i]
	}
	return ""
}

func (s Storage) sizeAt() int {
	if s.Kind == "file" {
		return 1
	}
	return 0
}

func parseStorage(value string, n int) Storage {
	f := strings.Split(value, ",")
	s := Storage{Name: fmt.Sprint("s", n), Kind: f[0], Rest: f[1:]}
	if own, kind, named := strings.Cut(f[0], "="); named {
		s.Name, s.Kind = own, kind
	}
	return s
}

// Storages lists the -s options.
func (a *Args) Storages() []Storage {
	var out []Storage
	unnamed := 0
	for _, v := range a.Values('s') {
		s := parseStorage(v, unnamed)
		if !strings.Contains(strings.SplitN(v, ",", 2)[0], "=") {
			unnamed++
		}
		out = append(out, s)
	}
	return out
}

// SetStorageSize sets the size ("256m") of a storage by name. If there is no
// -s at all, one for "s0" of kind malloc is added at the end.
func (a *Args) SetStorageSize(storage, size string) error {
	if size == "" || strings.ContainsAny(size, ", \t\r\n\x00") {
		return fmt.Errorf("set size of varnishd storage %s: %q is no size", storage, size)
	}
	return a.guarded(func() error { return a.setStorageSize(storage, size) })
}

func (a *Args) setStorageSize(storage, size string) error {
	list := a.Storages()
	if len(list) == 0 && storage == "s0" {
		text := "malloc," + size
		a.words = slices.Insert(a.words, a.end(),
			argument{gap: " ", raw: "-s", value: "-s"}, argument{gap: " ", raw: text, value: text})
		return nil
	}
	i := 0
	for _, o := range a.options() {
		if o.letter != 's' {
			continue
		}
		s := list[i]
		i++
		if s.Name != storage {
			continue
		}
		f := strings.Split(o.value, ",")
		at := s.sizeAt() + 1
		if len(f) < at {
			return errors.New("set size of varnishd storage " + storage + ": its file is not named, so the size has no place")
		}
		if at == len(f) {
			f = append(f, "")
		}
		f[at] = size
		a.setValue(o, strings.Join(f, ","))
		return nil
	}
	return fmt.Errorf("set size of varnishd storage %s: there is no such -s", storage)
}

// end is where a new option goes: before a -- that is no option's value.
func (a *Args) end() int {
	taken := map[int]bool{}
	for _, o := range a.options() {
		taken[o.word] = o.word != o.first
	}
	for i, w := range a.words {
		if w.value == "--" && !taken[i] {
			return i
		}
	}
	return len(a.words)
}

// setValue gives an option another value, keeping the word's quotes.
func (a *Args) setValue(o option, value string) {
	w := &a.words[o.word]
	fresh := w.value[:o.offset] + value
	if fresh == w.value {
		return
	}
	if !a.line {
		w.raw, w.value = fresh, fresh
		return
	}
	raw := writeWord(fresh)
	q := w.raw[0]
	if len(w.raw) > 1 && w.raw[len(w.raw)-1] == q && (q == '\'' && !strings.Contains(fresh, "'") || q == '"' && !strings.ContainsAny(fresh, "\"\\$`")) {
		raw = string(q) + fresh + string(q)
	}
	w.raw, w.value = raw, fresh
}

// ReplaceStorage gives a storage by name another kind and size, "malloc,256m";
// its name stays.
func (a *Args) ReplaceStorage(storage, spec string) error {
	if spec == "" || strings.ContainsAny(spec, "= \t\r\n\x00") {
		return fmt.Errorf("replace varnishd storage %s: %q is no storage", storage, spec)
	}
	return a.guarded(func() error {
		list, i := a.Storages(), 0
		for _, o := range a.options() {
			if o.letter != 's' {
				continue
			}
			s := list[i]
			i++
			if s.Name != storage {
				continue
			}
			if own, _, named := strings.Cut(strings.SplitN(o.value, ",", 2)[0], "="); named {
				spec = own + "=" + spec
			}
			a.setValue(o, spec)
			return nil
		}
		return errors.New("replace varnishd storage " + storage + ": there is none of that name")
	})
}
