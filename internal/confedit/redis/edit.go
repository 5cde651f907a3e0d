package redis

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"kasoku/internal/confedit/textedit"
)

// Set gives a directive its arguments. The line that wins is edited in place:
// an argument that stays keeps its spelling, a new one takes the quotes of the
// one it replaces. If there is none, a line is added behind a commented-out
// line of the same directive, or else at the end of the main file. Of a
// directive that is set per subject, the first argument is the subject.
func (c *Config) Set(name string, args ...string) ([]textedit.Edit, error) {
	if err := check(name, args); err != nil {
		return nil, err
	}
	want := canonical(name)
	if multi[want] < 0 {
		return nil, fmt.Errorf("set %s: its lines add up; use SetSave for save, and write an include by hand", name)
	}
	p, ok := c.winner(want, subject(want, args))
	if !ok {
		return c.add(name, args)
	}
	e := p.entry()
	if slices.Equal(e.values(), args) {
		return nil, nil
	}
	var out []textedit.Edit
	for i, v := range args {
		if i+1 >= len(e.args) {
			out = append(out, textedit.Edit{From: e.args[len(e.args)-1].to, New: " " + encode(v, "")})
			out[len(out)-1].To = out[len(out)-1].From
		} else if a := e.args[i+1]; a.value != v {
			out = append(out, textedit.Edit{From: a.from, To: a.to, New: encode(v, p.file.text[a.from:a.to])})
		}
	}
	if n := len(args); n+1 < len(e.args) {
		out = append(out, textedit.Edit{From: e.args[n].to, To: e.args[len(e.args)-1].to})
	}
	return c.apply(want, args, p.file, out...)
}

// add puts a new line into the main file.
func (c *Config) add(name string, args []string) ([]textedit.Edit, error) {
	f := c.Files[0]
	line := name
	for _, a := range args {
		line += " " + encode(a, "")
	}
	return c.apply(canonical(name), args, f, textedit.InsertLine(f.Path, f.text, f.example(name, len(args)), line))
}

// example is the place behind the first commented-out line of a directive, the
// end of the text if there is none. A comment with more words than arguments
// is taken for a sentence.
func (f *File) example(name string, args int) int {
	for _, l := range textedit.Lines(f.text) {
		body, ok := strings.CutPrefix(strings.TrimLeft(f.text[l.From:l.Body], " \t"), "#")
		fields := strings.Fields(body)
		if ok && len(fields) > 1 && len(fields) <= args+1 && canonical(fields[0]) == canonical(name) && l.To > l.Body {
			return l.To
		}
	}
	return len(f.text)
}

// point is one snapshot point.
var point = regexp.MustCompile(`^[0-9]+ [0-9]+$`)

// SetSave makes points ("seconds changes" each) the only snapshot points; none
// turns snapshots off. The first save line becomes the new ones and the others
// go; new ones stand before the first include (see Save). Lines in several
// files, and several points behind an include, are refused.
func (c *Config) SetSave(points ...string) ([]textedit.Edit, error) {
	lines := make([]string, 0, len(points)+1)
	for _, p := range points {
		if !point.MatchString(p) {
			return nil, fmt.Errorf("set save to %q: a point is two numbers, seconds and changes", p)
		}
		lines = append(lines, "save "+p)
	}
	if len(points) == 0 {
		lines = append(lines, `save ""`)
	}
	var found []place
	for _, p := range c.places() {
		if p.entry().name == "save" && !slices.Contains(found, p) { // a file included twice shows it twice
			found = append(found, p)
		}
	}
	if now, set := c.Save(); set && slices.Equal(now, points) {
		return nil, nil
	}
	f := c.Files[0]
	var edits []textedit.Edit
	eol := textedit.EOL(f.text)
	if len(found) == 0 {
		at := len(f.text)
		if i := slices.IndexFunc(f.entries, func(e entry) bool { return e.name == "include" }); i >= 0 {
			at = f.entries[i].line.From
		}
		edits = append(edits, textedit.InsertLine(f.Path, f.text, at, strings.Join(lines, eol)))
	} else if found[0].behind && len(points) > 1 {
		return nil, fmt.Errorf("set save in %s: its save lines stand behind an include, where only the last one counts; move them before it first", found[0].file.Path)
	}
	for i, p := range found {
		if p.file != found[0].file {
			return nil, fmt.Errorf("set save: %s and %s both have save lines; keep them in one file first", found[0].file.Path, p.file.Path)
		}
		f = p.file
		e := p.entry()
		if i == 0 {
			edits = append(edits, textedit.Edit{From: e.args[0].from, To: e.args[len(e.args)-1].to, New: strings.Join(lines, textedit.EOL(f.text))})
		} else {
			edits = append(edits, textedit.Edit{From: e.line.From, To: e.line.To})
		}
	}
	return c.apply("save", nil, f, edits...)
}

// check refuses names that would not be read back as what they are.
func check(name string, args []string) error {
	a, err := split(name, 0, len(name))
	if err != nil || len(a) != 1 || a[0].value != name || name[0] == '#' || name[0] == '"' || name[0] == '\'' || strings.HasPrefix(name, textedit.BOM) {
		return fmt.Errorf("%q is not a directive's name", name)
	}
	if len(args) == 0 {
		return fmt.Errorf("set %s: every directive has an argument; give one", name)
	}
	return nil
}

// replace gives f a new text; includes keep the files they stand for.
func (f *File) replace(text string) {
	files := map[string][]*File{}
	for _, e := range f.entries {
		if e.name == "include" && len(e.args) == 2 {
			files[e.args[1].value] = e.files
		}
	}
	f.text = text
	f.parse()
	for i, e := range f.entries {
		if e.name == "include" && len(e.args) == 2 {
			f.entries[i].files = files[e.args[1].value]
		}
	}
}

// apply makes edits of f and takes them back if other lines would be read
// differently or the directive does not read as args (nil: not looked at).
func (c *Config) apply(name string, args []string, f *File, edits ...textedit.Edit) ([]textedit.Edit, error) {
	was, others, broken := f.text, f.others(name, args), f.broken
	for i := range edits {
		edits[i].Path = f.Path
	}
	f.replace(textedit.Apply(was, edits...))
	var err error
	if p, ok := c.winner(name, subject(name, args)); args != nil && (!ok || !slices.Equal(p.entry().values(), args)) {
		err = fmt.Errorf("set %s in %s: it would not be read back as %q", name, f.Path, args)
	}
	if !slices.Equal(others, f.others(name, args)) || broken == nil && f.broken != nil {
		err = fmt.Errorf("set %s in %s: the new text would change how the file's other lines are read", name, f.Path)
	}
	if err != nil {
		f.replace(was)
		return nil, err
	}
	return edits, nil
}

// others are the entries of f that an edit of name must leave alone.
func (f *File) others(name string, args []string) []string {
	var out []string
	for _, e := range f.entries {
		if e.name != name || args != nil && subject(name, e.values()) != subject(name, args) {
			out = append(out, fmt.Sprintf("%s %q", e.name, e.values()))
		}
	}
	return out
}
