package memcached

import (
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/confedit/args"
	"kasoku/internal/confedit/textedit"
)

// Set gives an option a value; a switch takes "". The last occurrence is
// edited in its place and spelling; if there is none, a line is added behind a
// commented-out line of the option, or else at the end.
func (c *Config) Set(name, value string) (textedit.Edit, error) {
	known, arg := takesValue(name)
	if !known {
		return textedit.Edit{}, fmt.Errorf("set %s: memcached has no such option", name)
	}
	if err := c.Err(); err != nil {
		return textedit.Edit{}, fmt.Errorf("set %s in %s: %w", name, c.Path, err)
	}
	if strings.ContainsAny(value, " #\t\r\n\v\f\x00"+shellBytes) || arg == (value == "") {
		return textedit.Edit{}, fmt.Errorf("set %s to %q in %s: the file cannot hold such a value", name, value, c.Path)
	}
	occ, ok := c.list.Get(Options, name)
	switch {
	case ok && (!arg || occ.Literal && occ.Value == value):
		return textedit.Edit{}, nil
	case ok:
		scratch := args.Parse(c.list.String(), c.quoting())
		e, err := scratch.SetAt(occ, value)
		if err != nil {
			return textedit.Edit{}, fmt.Errorf("set %s in %s: %w", name, c.Path, err)
		}
		from, to := c.joined.Span(e.From, e.To, 0)
		return c.apply(name, value, textedit.Edit{Path: c.Path, From: from, To: to, New: e.New})
	}
	line := name
	if arg && strings.HasPrefix(name, "--") {
		line += "=" + value
	} else if arg {
		line += " " + value
	}
	return c.apply(name, value, textedit.InsertLine(c.Path, c.text, c.example(name), line))
}

// SetExtended gives a setting of -o a value, "" for one that takes none. The
// last -o that has it is edited; else it is added to the last -o, or to a new
// line.
func (c *Config) SetExtended(name, value string) (textedit.Edit, error) {
	if name == "" || strings.ContainsAny(name+value, ",=") {
		return textedit.Edit{}, fmt.Errorf("set -o %s to %q: commas and = part the settings", name, value)
	}
	item := name
	if value != "" {
		item += "=" + value
	}
	all := c.list.All(Options, "-o")
	if len(all) == 0 {
		return c.Set("-o", item)
	}
	at, parts := len(all)-1, []string(nil)
	for i, occ := range all {
		for _, p := range strings.Split(occ.Value, ",") {
			if key, _, _ := strings.Cut(p, "="); key == name {
				at = i
			}
		}
	}
	done := false
	for _, p := range strings.Split(all[at].Value, ",") {
		if key, _, _ := strings.Cut(p, "="); key == name {
			p, done = item, true
		}
		parts = append(parts, p)
	}
	if !done {
		parts = append(parts, item)
	}
	if at != len(all)-1 {
		return textedit.Edit{}, fmt.Errorf("set -o %s in %s: it stands in an earlier -o than the last; join them first", name, c.Path)
	}
	return c.Set("-o", strings.Join(parts, ","))
}

// Unset takes every occurrence of an option out, with its line if nothing else
// is on it.
func (c *Config) Unset(name string) ([]textedit.Edit, error) {
	if err := c.Err(); err != nil {
		return nil, fmt.Errorf("unset %s in %s: %w", name, c.Path, err)
	}
	var out []textedit.Edit
	for _, occ := range c.list.All(Options, name) {
		a, b := c.list.Span(occ)
		from, to := c.joined.Span(a, b, 0)
		if occ.Bundled() || strings.Contains(c.text[from:to], "\n") {
			return nil, fmt.Errorf("unset %s in %s: it shares %q with others; part them first", name, c.Path, c.text[from:to])
		}
		start, end := strings.LastIndexByte(c.text[:from], '\n')+1, len(c.text)
		if i := strings.IndexByte(c.text[to:], '\n'); i >= 0 {
			end = to + i + 1
		}
		if before, after := c.text[start:from], c.text[to:end]; strings.Trim(before, spaces) == "" && strings.Trim(after, spaces) == "" {
			from, to = start, end
		}
		out = append(out, textedit.Edit{Path: c.Path, From: from, To: to})
	}
	was := c.text
	c.text = textedit.Apply(was, out...)
	c.parse()
	if _, still := c.Get(name); still || c.Err() != nil {
		c.text = was
		c.parse()
		return nil, fmt.Errorf("unset %s in %s: the new text would be read differently", name, c.Path)
	}
	return out, nil
}

func (c *Config) quoting() args.Quoting {
	if strings.ContainsAny(c.joined.String(), shellBytes) {
		return args.Shell
	}
	return args.Plain
}

// example is the place behind a commented-out line of the option, the end of
// the text if there is none.
func (c *Config) example(name string) int {
	for _, l := range textedit.Lines(c.text) {
		body, ok := strings.CutPrefix(strings.TrimLeft(c.text[l.From:l.Body], spaces), "#")
		fields := strings.Fields(body)
		if ok && len(fields) > 0 && len(fields) < 3 && fields[0] == name && l.To > l.Body {
			return l.To
		}
	}
	return len(c.text)
}

// apply makes an edit and takes it back if the option does not read as value
// or another argument would be read differently.
func (c *Config) apply(name, value string, e textedit.Edit) (textedit.Edit, error) {
	was, others := c.text, c.others(name)
	c.text = textedit.Apply(was, e)
	c.parse()
	v, ok := c.Get(name)
	if !ok || v.Text != value || c.Err() != nil || !slices.Equal(others, c.others(name)) {
		c.text = was
		c.parse()
		return textedit.Edit{}, fmt.Errorf("set %s to %q in %s: the new text would be read differently", name, value, c.Path)
	}
	return e, nil
}

// others are the words of the list that do not belong to the last occurrence
// of the option.
func (c *Config) others(name string) []string {
	skipFrom, skipTo := -1, -1
	if occ, ok := c.list.Get(Options, name); ok {
		skipFrom, skipTo = c.list.Span(occ)
	}
	var out []string
	for _, w := range c.list.Words {
		if w.From < skipFrom || w.To > skipTo {
			out = append(out, w.Value)
		}
	}
	return out
}
