package ini

import (
	"fmt"
	"slices"
	"strings"
)

// Set gives key a value. The occurrence that wins is edited in place, keeping
// its quotes, spacing and comment; if there is none the key is added to the
// section, behind a commented-out line of the same key or else behind the
// section's last key; if the section is missing it is added to the main file.
func (c *Config) Set(section, key, value string) error {
	if err := c.check(section, key); err != nil {
		return fmt.Errorf("set %s in [%s]: %w", key, section, err)
	}
	return c.guarded(func() error { return c.set(section, key, value) })
}

func (c *Config) set(section, key, value string) error {
	if p, ok := c.winner(section, key); ok {
		raw, err := c.dialect.encode(value, p.line.text[p.line.from:p.line.to])
		if err != nil {
			return fmt.Errorf("set %s at %s:%d: %w", key, p.file.Path, p.line.num, err)
		}
		return c.rewrite(p, key, raw)
	}
	raw, err := c.dialect.encode(value, "")
	if err != nil {
		return fmt.Errorf("set %s in [%s]: %w", key, section, err)
	}
	if at, ok := c.placeFor(section, key); ok {
		c.addLine(at.file, at.file.index(at.line)+1, key, raw, c.neighbour(at))
		return nil
	}
	if c.dialect == PHP || c.dialect == FPM && section == "" {
		i := c.plainEnd()
		c.addLine(c.main, i, key, raw, nil)
		return nil
	}
	c.addSection(section)
	c.addLine(c.main, len(c.main.lines), key, raw, nil)
	return nil
}

// Unset takes every occurrence of key in section out. Under a PHP [PATH=] or
// [HOST=] section it stays. A key that is not set is no error.
func (c *Config) Unset(section, key string) error {
	if err := c.check(section, key); err != nil {
		return fmt.Errorf("unset %s in [%s]: %w", key, section, err)
	}
	return c.guarded(func() error {
		for _, p := range c.matches(section, key) {
			if i := p.file.index(p.line); i >= 0 { // a file included twice shows it twice
				p.file.lines = slices.Delete(p.file.lines, i, i+1)
			}
		}
		return nil
	})
}

// guarded makes an edit and then reads the files' new text again: if other
// lines would be read differently (a quote that was alone has found a partner)
// everything is put back.
func (c *Config) guarded(edit func() error) error {
	type saved struct {
		lines []*line
		texts []line
	}
	was := make([]saved, len(c.Files))
	for i, f := range c.Files {
		was[i].lines = slices.Clone(f.lines)
		for _, l := range f.lines {
			was[i].texts = append(was[i].texts, *l)
		}
	}
	err := edit()
	for _, f := range c.Files {
		f.renumber()
		if err == nil && !f.readsBack(c.dialect) {
			err = fmt.Errorf("edit %s: the new text would change how the file's other lines are read; mend its quotes first", f.Path)
		}
	}
	if err == nil {
		return nil
	}
	for i, f := range c.Files {
		f.lines = was[i].lines
		for j, l := range f.lines {
			*l = was[i].texts[j]
		}
	}
	return err
}

// readsBack reports whether f's text, read afresh, gives f's lines.
func (f *File) readsBack(d Dialect) bool {
	fresh, err := d.lines(f.text())
	return err == nil && slices.EqualFunc(f.lines, fresh, func(a, b *line) bool {
		return a.text == b.text && a.kind == b.kind && a.key == b.key && a.value == b.value && a.section == b.section
	})
}

// check refuses names that would not be read back as what they are.
func (c *Config) check(section, key string) error {
	if key == "" || strings.ContainsAny(key, "\"'\r\n\x00") {
		return fmt.Errorf("%q is not a key that such a file can hold", key)
	}
	probe := &line{text: key + "=0"}
	if _, err := c.dialect.parse(probe); err != nil || probe.kind != entry || probe.key != key {
		return fmt.Errorf("%q is not a key that such a file can hold", key)
	}
	if c.dialect == PHP || c.dialect == FPM && section == "" {
		return nil // sections do not matter, or it is the global one
	}
	head := &line{text: "[" + section + "]"}
	if _, err := c.dialect.parse(head); err != nil || head.section != section || section == "" || strings.ContainsAny(section, "\r\n\x00") {
		return fmt.Errorf("%q is not a section that such a file can hold", section)
	}
	return nil
}

// rewrite puts raw in the place of a line's value, and key in that of an
// opposite form.
func (c *Config) rewrite(p place, key, raw string) error {
	l := p.line
	head := l.text[:l.from]
	if p.implied != "" {
		head = strings.TrimSuffix(l.text[:l.keyEnd], l.key) + key
	}
	switch {
	case !l.hasSep:
		head += " = "
	case l.from == l.to && strings.HasSuffix(head, " ="):
		head += " "
	}
	fresh := line{text: head + raw + l.text[l.to:], num: l.num}
	if _, err := c.dialect.parse(&fresh); err != nil {
		return fmt.Errorf("set %s at %s:%d: %w", key, p.file.Path, l.num, err)
	}
	*l = fresh
	return nil
}

// placeFor finds the line that a new key of section goes behind.
func (c *Config) placeFor(section, key string) (place, bool) {
	var best, example place
	ok, shown := false, false
	want := c.dialect.canonicalKey(key)
	// Asked once: each time it walks all lines, and a php.ini has thousands.
	has := c.dialect == PHP && slices.Contains(c.Sections(), section)
	for _, p := range c.places() {
		if p.special || !c.inSection(p, section, has) {
			continue
		}
		switch p.line.kind {
		case header, entry:
			best, ok = p, true
		case blank:
			if c.dialect.commented(p.line.text) == want {
				example, shown = p, true
			}
		}
	}
	if shown {
		return example, true
	}
	return best, ok
}

// inSection is stricter than what counts: a new key goes under the section
// that was asked for. For PHP that is the section where there is one (has).
func (c *Config) inSection(p place, section string, has bool) bool {
	if c.dialect == PHP {
		if has {
			return p.section == section
		}
		return p.line.kind == blank // only behind its commented-out line
	}
	if c.dialect == FPM {
		return c.dialect.sameSection(p.section, section)
	}
	return p.section == section
}

// commented returns the canonical key of a line like ";key = value", or "".
func (d Dialect) commented(text string) string {
	text = strings.TrimLeft(text, spaces)
	if text == "" {
		return ""
	}
	text = strings.TrimLeft(text[1:], spaces)
	key, _, ok := strings.Cut(text, "=")
	if !ok {
		return ""
	}
	return d.canonicalKey(strings.TrimSpace(key))
}

// plainEnd is where keys end in the main file that are not under [PATH=] or
// [HOST=], or for FPM before the first pool.
func (c *Config) plainEnd() int {
	end := 0
	for i, l := range c.main.lines {
		if l.kind == header && (c.dialect == FPM || c.dialect.elsewhere(l.section)) {
			break
		}
		end = i + 1
	}
	return end
}

func (f *File) index(l *line) int { return slices.Index(f.lines, l) }

// neighbour returns the nearest key at or above a place, whose spacing a new
// line follows; nil if the section has none.
func (c *Config) neighbour(p place) *line {
	for i := p.file.index(p.line); i >= 0; i-- {
		switch l := p.file.lines[i]; {
		case l.kind == entry && l.hasSep:
			return l
		case l.kind == header:
			return nil
		}
	}
	return nil
}

// addLine adds "key = raw" as the i-th line of f, spaced like next to it.
func (c *Config) addLine(f *File, i int, key, raw string, like *line) {
	text := key + " = " + raw
	if like != nil {
		text = strings.TrimSuffix(like.text[:like.keyEnd], like.key) + key + spacing(like, key) + raw
	}
	f.insert(i, text)
	fresh := f.lines[i]
	if _, err := c.dialect.parse(fresh); err != nil || fresh.kind != entry {
		fresh.kind = blank // guarded refuses it
	}
}

// spacing returns what goes between a new key and its value: the same as in
// the line like, with the = in the same column where like is aligned.
func spacing(like *line, key string) string {
	sep := like.text[like.keyEnd:like.from]
	before, after, _ := strings.Cut(sep, "=")
	if len(before) > 1 && strings.Trim(before, " ") == "" {
		before = strings.Repeat(" ", max(1, like.keyEnd-len(key)-strings.Index(like.text, like.key)+len(before)))
	}
	if like.from == like.to {
		after = before[:min(1, len(before))]
	}
	return before + "=" + after
}

// insert makes text, without line ending, the i-th line.
func (f *File) insert(i int, text string) {
	l := &line{text: text + f.eol}
	if i == len(f.lines) && i > 0 {
		if last := f.lines[i-1]; !strings.HasSuffix(last.text, "\n") {
			last.text += f.eol
			l.text = text
		}
	}
	f.lines = slices.Insert(f.lines, i, l)
}

// addSection adds a header at the end of the main file, an empty line before.
func (c *Config) addSection(name string) {
	f := c.main
	if n := len(f.lines); n > 0 && strings.TrimSpace(f.lines[n-1].text) != "" {
		f.insert(n, "")
	}
	f.insert(len(f.lines), "["+name+"]")
	l := f.lines[len(f.lines)-1]
	l.kind, l.section = header, name
}

// renumber brings the line numbers up to date.
func (f *File) renumber() {
	num := 1
	for _, l := range f.lines {
		l.num = num
		num += strings.Count(l.text, "\n")
	}
}
