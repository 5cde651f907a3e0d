package memcached

import (
	"strings"

	"kasoku/internal/confedit/args"
	"kasoku/internal/confedit/textedit"
)

// Config is one configuration file: arguments, one or a few on a line. Debian
// starts memcached with them through systemd-memcached-wrapper, a Perl script
// whose rules these are.
type Config struct {
	Path string

	was, text string
	joined    textedit.Mapped // the arguments as the wrapper joins them
	list      *args.List
}

// Value is what an option is set to and where.
type Value struct {
	Text string // "" for a switch
	Line int    // 1-based
}

// Parse reads a file. Every text is taken; Err says whether it can be split
// into arguments.
func Parse(path string, src []byte) *Config {
	c := &Config{Path: path, was: string(src), text: string(src)}
	c.parse()
	return c
}

// Bytes returns the file's text with all edits so far.
func (c *Config) Bytes() []byte { return []byte(c.text) }

// Err says why the arguments cannot be split, nil if they can.
func (c *Config) Err() error { return c.list.Err() }

// Changed returns the new bytes if edits have made them different from what
// was read.
func (c *Config) Changed() map[string][]byte {
	if c.text == c.was {
		return map[string][]byte{}
	}
	return map[string][]byte{c.Path: []byte(c.text)}
}

const spaces = " \t\r\n\v\f"

// shellBytes make Perl's exec start a shell, which then splits the arguments;
// without them they are split at white space (perlfunc, exec; do_exec3).
const shellBytes = "$&*(){}[]'\";\\|?<>~`\n"

// parse fills c from its text.
func (c *Config) parse() {
	c.joined = textedit.Mapped{}
	for _, l := range textedit.Lines(c.text) {
		line := c.line(l)
		if line.Len() == 0 {
			continue
		}
		from, _ := line.Span(0, line.Len(), 0)
		if c.joined.Len() > 0 {
			_, end := c.joined.Span(0, c.joined.Len(), 0)
			c.joined.Add(' ', end, from)
		}
		text := line.String()
		for i := range text {
			a, b := line.Span(i, i+1, 0)
			c.joined.Add(text[i], a, b)
		}
	}
	quoting := args.Plain
	if strings.ContainsAny(c.joined.String(), shellBytes) {
		quoting = args.Shell
	}
	c.list = args.Parse(c.joined.String(), quoting)
}

// line returns what the wrapper makes of one line, empty if it passes it over:
// comments go from a # without a backslash before it to the next #; -d and -h
// are left out; of lines that begin otherwise than with - only lone words stay.
func (c *Config) line(l textedit.Line) *textedit.Mapped {
	var kept []int
	raw := c.text[l.From:l.To]
	for i := 0; i < len(raw); i++ {
		if raw[i] == '#' && (i == 0 || raw[i-1] != '\\') {
			for i+1 < len(raw) && raw[i+1] != '#' {
				i++
			}
			continue
		}
		kept = append(kept, i)
	}
	for len(kept) > 0 && strings.IndexByte(spaces, raw[kept[len(kept)-1]]) >= 0 {
		kept = kept[:len(kept)-1]
	}
	for len(kept) > 0 && strings.IndexByte(spaces, raw[kept[0]]) >= 0 {
		kept = kept[1:]
	}
	m := &textedit.Mapped{}
	for _, i := range kept {
		m.Add(raw[i], l.From+i, l.From+i+1)
	}
	switch text := m.String(); {
	case strings.HasPrefix(text, "-d"), strings.HasPrefix(text, "-h"):
		m.Truncate(0)
	case !strings.HasPrefix(text, "-") && strings.ContainsAny(text, spaces):
		m.Truncate(0) // logfile /var/log/x
	}
	return m
}

// Get returns the value of an option, under any of its names ("-m" or
// "--memory-limit"). Of several the last counts; -l adds up, see All.
func (c *Config) Get(name string) (Value, bool) {
	all := c.All(name)
	if len(all) == 0 {
		return Value{}, false
	}
	return all[len(all)-1], true
}

// All returns every value of an option in order.
func (c *Config) All(name string) []Value {
	var out []Value
	for _, occ := range c.list.All(Options, name) {
		from, _ := c.list.Span(occ)
		raw, _ := c.joined.Span(from, from+1, 0)
		out = append(out, Value{Text: occ.Value, Line: 1 + strings.Count(c.text[:raw], "\n")})
	}
	return out
}
