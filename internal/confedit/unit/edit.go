package unit

import (
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"

	"kasoku/internal/confedit/textedit"
)

// Set gives a setting that holds one value a value. If the assignment that
// counts stands in file own, or in no unit's directory around it, it is edited
// there; else one is added to own, a drop-in such as
// /etc/systemd/system/nginx.service.d/kasoku.conf, which is begun if it is not
// there. If a drop-in that is read after own sets it, that is an error naming
// it. The empty value puts the setting back to its default.
func (c *Config) Set(section, key, value, own string) (textedit.Edit, error) {
	if err := check(section, key, value); err != nil {
		return textedit.Edit{}, err
	}
	f, err := c.file(own)
	if err != nil {
		return textedit.Edit{}, fmt.Errorf("set %s: %w", key, err)
	}
	all := c.places(section, key)
	if n := len(all); n > 0 && all[n-1].file == f {
		e := all[n-1].entry()
		if e.value.String() == value {
			return textedit.Edit{}, nil
		}
		return c.apply(f, section, key, []string{value}, e.replace(f, value))
	}
	return c.apply(f, section, key, []string{value}, f.insertion(section, key+"="+value))
}

// SetList makes values all that a setting which holds a list has: in own an
// empty assignment and then one for each. What own already assigns to it is
// replaced.
func (c *Config) SetList(section, key string, values []string, own string) (textedit.Edit, error) {
	for _, v := range values {
		if err := check(section, key, v); err != nil || v == "" {
			return textedit.Edit{}, fmt.Errorf("set list %s to %q: an item must not be empty and must fit one line", key, values)
		}
	}
	f, err := c.file(own)
	if err != nil {
		return textedit.Edit{}, fmt.Errorf("set list %s: %w", key, err)
	}
	if now := texts(c.List(section, key)); slices.Equal(now, values) {
		c.drop(f)
		return textedit.Edit{}, nil
	}
	var lines []string
	if len(c.places(section, key)) > 0 { // what was said before is no longer
		lines = []string{key + "="}
	}
	for _, v := range values {
		lines = append(lines, key+"="+v)
	}
	var mine []place
	for _, p := range c.places(section, key) {
		if p.file == f {
			mine = append(mine, p)
		}
	}
	eol := textedit.EOL(f.text)
	e := f.insertion(section, strings.Join(lines, eol))
	if n := len(mine); n > 0 {
		if mine[n-1].i-mine[0].i != n-1 {
			return textedit.Edit{}, fmt.Errorf("set list %s in %s: other lines stand between its assignments; put them together first", key, own)
		}
		first, last := mine[0].entry(), mine[n-1].entry()
		to := first.from + len(strings.TrimRight(f.text[first.from:last.to], "\r\n"))
		e = textedit.Edit{Path: own, From: first.from, To: to, New: strings.Join(lines, eol)}
	}
	return c.apply(f, section, key, values, e)
}

// SetPart replaces bytes [from,to) of the text of one value, as Get or List
// have returned it, in its own file; everything around keeps its bytes, lines
// that go on included. Use it with package args on ExecStart.
func (c *Config) SetPart(section, key string, v Value, from, to int, text string) (textedit.Edit, error) {
	if from < 0 || from > to || to > len(v.Text) || strings.ContainsAny(text, "\r\n\x00") {
		return textedit.Edit{}, fmt.Errorf("set part of %s: %q does not fit [%d,%d) of %q", key, text, from, to, v.Text)
	}
	for _, p := range c.places(section, key) {
		if p.value() != v {
			continue
		}
		a, b := p.entry().value.Span(from, to, p.entry().at)
		want := v.Text[:from] + text + v.Text[to:]
		was, lines := p.file.text, p.file.others(nil)
		fresh := *p.entry()
		fresh.value = textedit.Mapped{}
		for j := range len(want) {
			fresh.value.Add(want[j], 0, 0)
		}
		lines[p.i] = fresh.print()
		p.file.text = textedit.Apply(was, textedit.Edit{From: a, To: b, New: text})
		p.file.parse()
		if !slices.Equal(lines, p.file.others(nil)) {
			p.file.text = was
			p.file.parse()
			return textedit.Edit{}, fmt.Errorf("set part of %s at %s:%d: the new text would be read differently", key, v.Path, v.Line)
		}
		return textedit.Edit{Path: p.file.Path, From: a, To: b, New: text}, nil
	}
	return textedit.Edit{}, fmt.Errorf("set part of %s: %q is no longer at %s:%d", key, v.Text, v.Path, v.Line)
}

// replace is the edit by which an assignment has another value.
func (e *entry) replace(f *File, value string) textedit.Edit {
	from, to := e.value.Span(0, e.value.Len(), e.at)
	if e.value.Len() == 0 {
		to = e.at + len(strings.TrimRight(f.text[e.at:e.to], "\r\n")) // drops "\" of an empty one that goes on
	}
	return textedit.Edit{Path: f.Path, From: from, To: to, New: value}
}

// insertion is the edit that adds lines at the end of a section of f, which is
// begun if it is not there.
func (f *File) insertion(section, lines string) textedit.Edit {
	at, found := len(f.text), false
	for i, e := range f.entries {
		if e.section != section {
			continue
		}
		last := i+1 == len(f.entries) || f.entries[i+1].section != section || f.entries[i+1].header
		if last {
			at, found = e.to, true
		}
	}
	if !found {
		eol := textedit.EOL(f.text)
		lines = "[" + section + "]" + eol + lines
		if strings.Trim(f.text, spaces+textedit.BOM) != "" {
			lines = eol + lines
		}
	}
	return textedit.InsertLine(f.Path, f.text, at, lines)
}

func texts(values []Value) []string {
	out := []string{}
	for _, v := range values {
		out = append(out, v.Text)
	}
	return out
}

// check refuses what would not be read back as what it is.
func check(section, key, value string) error {
	f := newFile("", []byte("["+section+"]\n"+key+"="+value+"\n"))
	if key == "" || strings.ContainsAny(section+key+value, "\r\n\x00") || len(f.entries) != 2 || f.entries[1].section != section ||
		f.entries[1].key != key || f.entries[1].value.String() != value || continued(value) {
		return fmt.Errorf("set %s in [%s] to %q: such a line would not be read back; the value must be one line without white space around it", key, section, value)
	}
	return nil
}

// apply makes an edit of f and takes it back if the setting does not read as
// want then or anything else would be read differently.
func (c *Config) apply(f *File, section, key string, want []string, e textedit.Edit) (textedit.Edit, error) {
	was := f.text
	skip := func(e entry) bool { return e.section == section && (e.key == key || e.header) }
	others := f.others(skip)
	e.Path = f.Path
	f.text = textedit.Apply(was, e)
	f.parse()
	var err error
	all := c.places(section, key)
	if n := len(all); n == 0 || all[n-1].file != f {
		if n > 0 {
			v := all[n-1].value()
			err = fmt.Errorf("set %s in %s: it would have no effect, because %s:%d is read later and sets it to %q; change it there, or take a file name that sorts behind", key, f.Path, v.Path, v.Line, v.Text)
		} else {
			err = fmt.Errorf("set %s in %s: the new text is not read as an assignment", key, f.Path)
		}
	} else if got := texts(c.List(section, key)); len(want) != 1 && !slices.Equal(got, want) || len(want) == 1 && all[n-1].value().Text != want[0] {
		err = fmt.Errorf("set %s in %s: it would be read as %q", key, f.Path, got)
	} else if !slices.Equal(others, f.others(skip)) {
		err = fmt.Errorf("set %s in %s: the new text would change how the file's other lines are read", key, f.Path)
	}
	if err != nil {
		f.text = was
		f.parse()
		c.drop(f)
		return textedit.Edit{}, err
	}
	return e, nil
}

func (e entry) print() string {
	return fmt.Sprintf("%q %q %v %q", e.section, e.key, e.header, e.value.String())
}

// others are f's entries but those that skip picks.
func (f *File) others(skip func(entry) bool) []string {
	var out []string
	for _, e := range f.entries {
		if skip == nil || !skip(e) {
			out = append(out, e.print())
		}
	}
	return out
}

// file returns the file at that path, which is begun as a drop-in if there is
// none.
func (c *Config) file(name string) (*File, error) {
	for _, f := range c.Files {
		if f.Path == name {
			return f, nil
		}
	}
	if c.alone {
		return nil, fmt.Errorf("%s was not read", name)
	}
	dirs, err := dropins(c.Name)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(dirs, path.Dir(name)) || !strings.HasSuffix(name, ".conf") {
		return nil, fmt.Errorf("%s is not a drop-in of %s; take one in %s that ends in .conf", name, c.Name, dirs[0])
	}
	for _, f := range c.Files[1:] {
		if path.Base(f.Path) == path.Base(name) {
			return nil, fmt.Errorf("%s and %s have the same name, so that only one of them counts; take another", name, f.Path)
		}
	}
	at := 1 + sort.Search(len(c.Files)-1, func(i int) bool { return path.Base(c.Files[i+1].Path) > path.Base(name) })
	f := newFile(name, nil)
	c.Files = slices.Insert(c.Files, at, f)
	return f, nil
}

// drop takes a file out that was begun for an edit which was not made.
func (c *Config) drop(f *File) {
	if i := slices.Index(c.Files, f); i > 0 && f.was == "" && f.text == "" {
		c.Files = slices.Delete(c.Files, i, i+1)
	}
}
