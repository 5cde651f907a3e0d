package patch

import (
	"slices"
	"strings"
)

// keyed is an UPDATE or DELETE of one table in the form that is understood.
type keyed struct {
	verb  string // "UPDATE"
	table string
	set   []string // columns that get a value, in lower case
	// params are its placeholders in their order, each with its condition; nil of a
	// column that is set.
	params []*where
}

// where is one condition. It is an equality with a placeholder if to is not 0.
type where struct {
	column   string
	from, to int // of "= ?" in the text
}

// parseKeyed understands an UPDATE or DELETE whose values are constants and placeholders
// and whose conditions are comparisons joined by AND; the reason says what it does not.
func parseKeyed(text string) (*keyed, string) {
	ws, ok := words(text)
	if !ok || len(ws) == 0 {
		return nil, "it has a comment or a string without end"
	}
	p := &sqlParser{ws: ws, read: &read{text: text}}
	k := &keyed{verb: strings.ToUpper(ws[0].text)}
	p.at++
	if k.verb == "DELETE" && !p.take("FROM") {
		return nil, "it is not of one table"
	}
	if p.peek().is("IGNORE") || p.peek().is("LOW_PRIORITY") || p.peek().is("QUICK") {
		return nil, "it has " + strings.ToUpper(p.peek().text)
	}
	k.table = p.peek().text
	if _, full, ok := p.name(); !ok || strings.Contains(full, ".") {
		return nil, "its table is no plain name"
	}
	if k.verb == "UPDATE" {
		if why := k.values(p); why != "" {
			return nil, why
		}
	}
	if !p.take("WHERE") {
		return nil, "it has no condition, or is of several tables"
	}
	for {
		if why := k.condition(p); why != "" {
			return nil, why
		}
		if !p.take("AND") {
			break
		}
	}
	if p.at < len(ws) {
		return nil, "after its conditions comes " + strings.ToUpper(p.peek().text)
	}
	return k, ""
}

// values reads SET column = value, …
func (k *keyed) values(p *sqlParser) string {
	if !p.take("SET") {
		return "it is not of one table"
	}
	for {
		name, _, ok := p.name()
		if !ok || !p.take("=") {
			return "what it sets is not understood"
		}
		k.set = append(k.set, strings.ToLower(name))
		placeholder, ok := p.constant()
		if !ok {
			return "it sets " + name + " to neither a placeholder nor a constant"
		}
		if placeholder {
			k.params = append(k.params, nil)
		}
		if !p.take(",") {
			return ""
		}
	}
}

// constant takes a placeholder or a constant.
func (p *sqlParser) constant() (placeholder, ok bool) {
	w := p.peek()
	placeholder = w.is("?")
	if !placeholder && !w.literal && !w.is("NULL") && !w.is("TRUE") && !w.is("FALSE") {
		return false, false
	}
	p.at++
	return placeholder, true
}

// condition reads column = value, another comparison, or IS [NOT] NULL.
func (k *keyed) condition(p *sqlParser) string {
	name, _, ok := p.name()
	if !ok {
		return "a condition is not understood"
	}
	c := &where{column: strings.ToLower(name)}
	op := p.peek()
	p.at++
	if op.is("IS") {
		p.take("NOT")
		if !p.take("NULL") {
			return "a condition is not understood"
		}
		return ""
	}
	if !slices.ContainsFunc([]string{"=", "<", ">", "<=", ">=", "<>", "!="}, op.is) {
		return "a condition is not understood"
	}
	at := p.peek()
	placeholder, ok := p.constant()
	if !ok {
		return "a condition compares with neither a placeholder nor a constant"
	}
	if placeholder {
		if op.is("=") {
			c.from, c.to = op.from, at.to
		}
		k.params = append(k.params, c)
	}
	return ""
}
