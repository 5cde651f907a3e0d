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
