package apache

import (
	"fmt"
	"slices"
	"strings"
)

// Append adds text, one or more whole directives, as the last thing in the
// section d; on the Root, at the end of the main file. The text takes the
// surroundings' indentation and line ending.
func (d *Directive) Append(text string) error {
	if err := d.alive(); err != nil {
		return err
	}
	if d.Parent == nil {
		f := d.File
		return d.insert("append to", text, len(f.lines), "")
	}
	if !d.IsSection {
		return fmt.Errorf("append to %s: it is no section", d.where())
	}
	if opaque(d.Name) {
		return fmt.Errorf("append to %s: what is in it is text or code, not directives", d.where())
	}
	return d.insert("append to", text, d.File.index(d.end), d.childIndent())
}

// InsertBefore adds text before d, above the comment lines that stand directly
// over d.
func (d *Directive) InsertBefore(text string) error {
	if err := d.beside("insert before"); err != nil {
		return err
	}
	i := d.File.index(d.line)
	for i > 0 && d.File.lines[i-1].comment() {
		i--
	}
	return d.insert("insert before", text, i, d.line.indent())
}

// InsertAfter adds text after d.
func (d *Directive) InsertAfter(text string) error {
	if err := d.beside("insert after"); err != nil {
		return err
	}
	last := d.line
	if d.end != nil {
		last = d.end
	}
	return d.insert("insert after", text, d.File.index(last)+1, d.line.indent())
}

func (d *Directive) beside(what string) error {
	if err := d.alive(); err != nil {
		return err
	}
	if d.Parent == nil {
		return fmt.Errorf("%s %s: a file has nothing beside it; use Append", what, d.where())
	}
	return nil
}

// insert puts the lines of text before the file's i-th line.
func (d *Directive) insert(what, text string, i int, indent string) error {
	fresh, err := fragment(text, indent, d.File.eol)
	if err != nil {
		return fmt.Errorf("%s %s: %w", what, d.where(), err)
	}
	return d.guarded(func() error {
		f := d.File
		if n := len(f.lines); i == n && n > 0 && !strings.HasSuffix(f.lines[n-1].text, "\n") {
			// the file ends without a line end, and goes on to do so
			f.lines[n-1].text += f.eol
			last := fresh[len(fresh)-1]
			last.text = strings.TrimSuffix(last.text, f.eol)
		}
		f.lines = slices.Insert(slices.Clone(f.lines), i, fresh...)
		return nil
	}, nil)
}

// fragment cuts new text into lines and lays them out.
func fragment(text, indent, eol string) ([]*line, error) {
	text = strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), " \t\n")
	text = strings.TrimLeft(text, "\n")
	if strings.TrimSpace(text) == "" {
		return nil, fmt.Errorf("the new text is empty")
	}
	if strings.HasSuffix(text, `\`) || strings.IndexByte(text, 0) >= 0 {
		return nil, fmt.Errorf("the new text ends in a backslash or has a NUL in it; the line after it would be read otherwise")
	}
	lines := cutLines(text + "\n")
	if _, err := nest(lines); err != nil {
		return nil, fmt.Errorf("the new text: %w", err)
	}
	for _, l := range lines {
		l.text = strings.ReplaceAll(l.text, "\n", eol)
		if strings.TrimSpace(l.text) != "" {
			l.text = indent + l.text
		}
	}
	return lines, nil
}

// childIndent returns the indentation of the lines in section d.
func (d *Directive) childIndent() string {
	f := d.File
	for i := f.index(d.line) + 1; i < f.index(d.end); i++ {
		if !f.lines[i].plain() {
			return f.lines[i].indent()
		}
	}
	return d.line.indent() + f.unit()
}

// unit finds one step of the file's indentation: that of its first line that
// has any. Four spaces where no line tells.
func (f *File) unit() string {
	for _, l := range f.lines {
		if in := l.indent(); in != "" && !l.plain() {
			return in
		}
	}
	return "    "
}
