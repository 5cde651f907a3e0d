package supervisor

import (
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/confedit/textedit"
)

// Set gives an option a value, written as it shall stand in the file (%% for a
// percent sign). The assignment that counts is edited: only the bytes between
// what the old and the new value have in common at both ends are replaced, so
// that lines and comments of a value over several lines stay. If there is
// none, a line is added to the section; if that is missing, it is added to the
// main file. A value may hold line feeds.
func (c *Config) Set(section, key, value string) (textedit.Edit, error) {
	if err := check(section, key, value); err != nil {
		return textedit.Edit{}, err
	}
	p, ok := c.winner(section, key)
	if !ok || p.entry().section != section {
		return c.add(section, key, value)
	}
	f, e := p.file, p.entry()
	old := e.value.String()
	if old == value {
		return textedit.Edit{}, nil
	}
	if old == "" {
		return c.apply(f, section, key, value, textedit.Edit{From: e.valueAt, To: e.valueAt, New: f.layout(value, e)})
	}
	from, to := 0, len(old)
	for from < min(len(old), len(value)) && old[from] == value[from] {
		from++
	}
	for to > from && to-len(old)+len(value) > from && old[to-1] == value[to-len(old)+len(value)-1] {
		to--
	}
	part := value[from : to-len(old)+len(value)]
	a, b := e.value.Span(from, to, e.valueAt)
	edit, err := c.apply(f, section, key, value, textedit.Edit{From: a, To: b, New: f.layout(part, e)})
	if err == nil {
		return edit, nil
	}
	a, b = e.value.Span(0, len(old), e.valueAt)
	return c.apply(f, section, key, value, textedit.Edit{From: a, To: b, New: f.layout(value, e)})
}

// layout writes part of a value: lines behind the first are indented deeper
// than the option.
func (f *File) layout(part string, e *entry) string {
	indent := "    "
	if e != nil {
		line := f.text[e.from:e.keyEnd]
		indent = line[:len(line)-len(strings.TrimLeft(line, pySpaces))] + indent
	}
	return strings.ReplaceAll(part, "\n", textedit.EOL(f.text)+indent)
}

// add puts a new option into a section.
func (c *Config) add(section, key, value string) (textedit.Edit, error) {
	headers := c.headers(section)
	if len(headers) == 0 {
		f := c.Files[0]
		eol := textedit.EOL(f.text)
		line := "[" + section + "]" + eol + key + "=" + f.layout(value, nil)
		if strings.Trim(f.text, pySpaces) != "" {
			line = eol + line
		}
		return c.apply(f, section, key, value, textedit.InsertLine(f.Path, f.text, len(f.text), line))
	}
	h := headers[len(headers)-1]
	f, last := h.file, h.entry()
	for i := h.i + 1; i < len(f.entries) && !f.entries[i].header; i++ {
		last = &f.entries[i]
	}
	sep, indent := "=", ""
	if !last.header {
		line := f.text[last.from:last.keyEnd]
		indent = line[:len(line)-len(strings.TrimLeft(line, pySpaces))]
		if last.valueAt < last.valueTo {
			sep = f.text[last.keyEnd:last.valueAt]
		}
	}
	line := indent + key + sep + strings.ReplaceAll(f.layout(value, nil), textedit.EOL(f.text), textedit.EOL(f.text)+indent)
	return c.apply(f, section, key, value, textedit.InsertLine(f.Path, f.text, last.to, line))
}

// check refuses what would not be read back as what it is.
func check(section, key, value string) error {
	f := newFile("", nil)
	f.text = "[" + section + "]\n" + key + "=" + f.layout(value, nil) + "\n"
	f.parse()
	if strings.ContainsAny(section+key, "\r\n\x00") || strings.ContainsAny(value, "\r\x00") || f.broken != "" ||
		len(f.entries) != 2 || f.entries[0].section != section || f.entries[1].keyText != key || f.entries[1].value.String() != value {
		return fmt.Errorf("set %s of [%s] to %q: such a line would not be read back; a ; or # behind white space starts a comment", key, section, value)
	}
	return nil
}

// apply makes an edit of f and takes it back if the option does not read as
// value then or another would be read differently.
func (c *Config) apply(f *File, section, key, value string, e textedit.Edit) (textedit.Edit, error) {
	was, broken, others := f.text, f.broken, f.others(section, key)
	e.Path = f.Path
	f.text = textedit.Apply(was, e)
	f.parse()
	var err error
	if v, ok := c.Get(section, key); !ok || v.Text != value {
		err = fmt.Errorf("set %s of [%s] in %s: it would be read as %q", key, section, f.Path, v.Text)
	} else if !slices.Equal(others, f.others(section, key)) || broken == "" && f.broken != "" {
		err = fmt.Errorf("set %s of [%s] in %s: the new text would change how other lines are read", key, section, f.Path)
	}
	if err != nil {
		f.text = was
		f.parse()
		return textedit.Edit{}, err
	}
	return e, nil
}

// others are f's options but one.
func (f *File) others(section, key string) []string {
	var out []string
	for _, e := range f.entries {
		if !e.header && (e.section != section || e.key != strings.ToLower(key)) {
			out = append(out, fmt.Sprintf("%q %q %q", e.section, e.key, e.value.String()))
		}
	}
	return out
}
