package apache

import (
	"fmt"
	"slices"
	"strings"
)

// alive refuses edits of what was removed or is written out from a macro.
func (d *Directive) alive() error {
	switch {
	case d.gone:
		return fmt.Errorf("edit %s: it was removed before", d.where())
	case d.IsMacro():
		return fmt.Errorf("edit %s: it comes from a macro; edit the macro or its Use", d.where())
	}
	return nil
}

// guarded makes an edit of d's file and reads everything again. If the text
// does not give the lines that the edit meant (a backslash has joined two of
// them), if the configuration cannot be read any more, or if check fails, all
// is put back.
func (d *Directive) guarded(edit func() error, check func() error) error {
	f := d.File
	was := slices.Clone(f.lines)
	texts := make([]string, len(was))
	for i, l := range was {
		texts[i] = l.text
	}
	err := edit()
	if err == nil {
		err = f.readsBack()
	}
	if err == nil {
		err = f.nest()
	}
	if err == nil {
		err = d.config.rebuild()
	}
	if err == nil && check != nil {
		err = check()
	}
	if err == nil {
		return nil
	}
	f.lines = was
	for i, l := range was {
		l.text = texts[i]
	}
	if back := f.nest(); back != nil {
		return fmt.Errorf("%w; and the file cannot be read as before: %w", err, back)
	}
	if back := d.config.rebuild(); back != nil {
		return fmt.Errorf("%w; and the configuration cannot be read as before: %w", err, back)
	}
	return err
}

// readsBack requires that the file's text is cut into the lines it has.
func (f *File) readsBack() error {
	fresh := cutLines(f.text())
	if !slices.EqualFunc(fresh, f.lines, func(a, b *line) bool { return a.text == b.text }) {
		return fmt.Errorf("%s: the new text would change how a line beside it is read; look for a backslash at a line's end", f.Path)
	}
	return nil
}

// SetArgs replaces the arguments. An argument that stays the same keeps its
// spelling; a new one takes the quotes of the one it replaces. ${NAME} in an
// argument is a variable.
func (d *Directive) SetArgs(args ...string) error {
	if d.Parent == nil {
		return fmt.Errorf("set arguments of %s: a file has none", d.where())
	}
	if err := d.alive(); err != nil {
		return err
	}
	for _, a := range args {
		if strings.ContainsAny(a, "\x00\n") {
			return fmt.Errorf("set arguments of %s: %q cannot be written in such a file", d.where(), a)
		}
	}
	if slices.Equal(args, d.Args) {
		return nil
	}
	name := d.Name
	return d.guarded(func() error {
		d.line.text = d.rewritten(args)
		return nil
	}, func() error {
		if d.gone || d.Name != name || !d.means(args) {
			return fmt.Errorf("set arguments of %s: %q would not be read back as written", d.where(), args)
		}
		return nil
	})
}

// means reports whether the line's own words are args, or those of the
// directive once variables are replaced.
func (d *Directive) means(args []string) bool {
	s, _ := d.line.logical()
	return slices.Equal(values(split(s).args), args) || slices.Equal(d.Args, args)
}

// rewritten returns the line's text with new arguments.
func (d *Directive) rewritten(args []string) string {
	s, at := d.line.logical()
	old := split(s).args
	same := len(old) == len(d.Args) // else a variable holds several
	name, _ := nextWord(s, 0)
	end := name.to // where the word before ends
	var b strings.Builder
	b.WriteString(d.line.text[:at[end]])
	if strings.HasSuffix(s[:end], ">") && d.IsSection && len(args) > 0 { // <Name>
		b.Reset()
		end--
		b.WriteString(d.line.text[:at[end]])
	}
	for i, a := range args {
		if i >= len(old) {
			b.WriteString(" " + Quote(a))
			continue
		}
		w := old[i]
		gap, raw := d.line.text[at[end]:at[w.from]], d.line.text[at[w.from]:at[w.to]]
		if w.value != a && (!same || d.Args[i] != a) {
			raw = requote(s[w.from], a)
		}
		b.WriteString(gap + raw)
		end = w.to
	}
	if n := len(old); n > len(args) {
		end = old[n-1].to
	}
	return b.String() + d.line.text[at[end]:]
}

func requote(first byte, a string) string {
	if first == '"' || first == '\'' {
		return quoteWith(a, first)
	}
	return Quote(a)
}

// Remove takes the directive out, with the lines it stands on and all that is
// in a section; comments above it stay.
func (d *Directive) Remove() error {
	if d.Parent == nil {
		return fmt.Errorf("remove %s: a whole file cannot be removed here", d.where())
	}
	if err := d.alive(); err != nil {
		return err
	}
	return d.guarded(func() error {
		f, i := d.File, d.File.index(d.line)
		to := i
		if d.end != nil {
			to = f.index(d.end)
		}
		whole := strings.HasSuffix(f.lines[to].text, "\n")
		f.lines = slices.Delete(slices.Clone(f.lines), i, to+1)
		if !whole && i > 0 { // the file had no line end at its end
			l := f.lines[i-1]
			l.text = strings.TrimSuffix(strings.TrimSuffix(l.text, "\n"), "\r")
		}
		return nil
	}, nil)
}
