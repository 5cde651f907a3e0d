package vcl

import (
	"fmt"
	"strings"
)

// SetProperty gives a property of a backend or probe a value, written as VCL:
// 0.5s, 200, "127.0.0.1" (see Quote). A property that is there is edited in
// place; else it is added behind the last one. A probe written inside a
// backend is not replaced by this.
func (c *Config) SetProperty(b *Block, property, value string) error {
	property = strings.TrimPrefix(property, ".")
	if err := c.editable(b); err != nil {
		return fmt.Errorf("set .%s: %w", property, err)
	}
	if err := plain(value); err != nil {
		return fmt.Errorf("set .%s of %s: %w", property, b.where(), err)
	}
	if tokens, err := lex(property); err != nil || len(tokens) != 1 || tokens[0].kind != name || tokens[0].raw != property {
		return fmt.Errorf("set .%s of %s: that is no property's name", property, b.where())
	}
	check := func() error {
		if p, ok := b.Property(property); b.gone || !ok || p.Value != value {
			return fmt.Errorf("set .%s of %s: %s would not be read back", property, b.where(), value)
		}
		return nil
	}
	f := b.File
	if p, ok := b.Property(property); ok {
		if f.tokens[p.from].raw == "{" {
			return fmt.Errorf("set .%s of %s: it is a block; edit what is in it", property, b.where())
		}
		if p.Value == value {
			return nil
		}
		return c.splice(f, f.tokens[p.from].from, f.tokens[p.to].to, value, check)
	}
	at, text := b.newProperty("." + property + " = " + value + ";")
	return c.splice(f, at, at, text, check)
}

// newProperty finds the place and layout of a new property.
func (b *Block) newProperty(text string) (int, string) {
	f := b.File
	list := b.Properties()
	if len(list) == 0 {
		open := f.tokens[b.open]
		if f.tokens[b.last].line == open.line {
			return open.to, " " + text
		}
		return open.to, f.eol + f.lineIndent(open.from) + f.unit() + text
	}
	last := list[len(list)-1]
	end := f.tokens[last.end]
	if line := f.tokens[last.dot].line; line == f.tokens[b.open].line {
		return end.to, " " + text
	}
	return end.to, f.eol + f.lineIndent(f.tokens[last.dot].from) + text
}

// UnsetProperty takes a property out, with its line if nothing else is on it.
// One that is not there is no error.
func (c *Config) UnsetProperty(b *Block, property string) error {
	if err := c.editable(b); err != nil {
		return fmt.Errorf("unset .%s: %w", property, err)
	}
	p, ok := b.Property(property)
	if !ok {
		return nil
	}
	f := b.File
	from, to := f.tokens[p.dot].from, f.tokens[p.end].to
	start := strings.LastIndexByte(f.src[:from], '\n') + 1
	rest := f.src[to:]
	blank := len(rest) - len(strings.TrimLeft(rest, " \t\r"))
	switch {
	case strings.TrimSpace(f.src[start:from]) == "" && strings.HasPrefix(rest[blank:], "\n"):
		from, to = start, to+blank+1
	case strings.HasSuffix(f.src[:from], " "):
		from--
	}
	return c.splice(f, from, to, "", nil)
}

func (c *Config) editable(b *Block) error {
	switch {
	case b.gone:
		return fmt.Errorf("%s was removed before", b.where())
	case b.Kind != "backend" && b.Kind != "probe":
		return fmt.Errorf("%s has no properties; backends and probes do", b.where())
	case b.open == 0:
		return fmt.Errorf("%s has no block to put a property in", b.where())
	}
	return nil
}

// plain requires that a value is one or more tokens without ; and braces.
func plain(value string) error {
	tokens, err := lex(value)
	if err != nil {
		return err
	}
	if len(tokens) == 0 || tokens[0].from != 0 || tokens[len(tokens)-1].to != len(value) {
		return fmt.Errorf("%q is no plain value", value)
	}
	for _, t := range tokens {
		if t.raw == ";" || t.raw == "{" || t.raw == "}" || t.kind == inlineC {
			return fmt.Errorf("%q is no plain value", value)
		}
	}
	return nil
}
