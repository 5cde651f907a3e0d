package patch

import "strings"

// insert is an INSERT of one row in the form that is understood.
type insert struct {
	table    string
	columns  []string
	params   int
	from, to int // of the row, "(?, ?)"
	upserts  bool
}

// parseInsert understands an INSERT of one row; the reason says what it does not.
func parseInsert(text string) (*insert, string) {
	ws, ok := words(text)
	if !ok {
		return nil, "it has a comment or a string without end"
	}
	p := &sqlParser{ws: ws, read: &read{text: text}}
	if !p.take("INSERT") {
		return nil, "it is no INSERT"
	}
	p.take("IGNORE")
	p.take("INTO")
	in := &insert{table: p.peek().text}
	if _, _, ok := p.name(); !ok {
		return nil, "its table is no plain name"
	}
	if !p.take("(") {
		return nil, "it names no columns"
	}
	for {
		name, _, ok := p.name()
		if !ok {
			return nil, "it names no columns"
		}
		in.columns = append(in.columns, name)
		if !p.take(",") {
			break
		}
	}
	if !p.take(")") || !p.take("VALUES") && !p.take("VALUE") || !p.peek().is("(") {
		return nil, "its VALUES are not one row"
	}
	in.from = p.peek().from
	p.at++
	for {
		w := p.peek()
		switch {
		case w.is("?"):
			in.params++
		case w.literal, w.is("NULL"), w.is("DEFAULT"), w.is("TRUE"), w.is("FALSE"):
		case p.at+1 < len(ws) && ws[p.at+1].is("("):
			return nil, "it calls " + strings.ToUpper(w.text) + "(), which may be another for each row"
		default:
			return nil, "a value is neither a placeholder nor a constant"
		}
		p.at++
		if !p.take(",") {
			break
		}
	}
	in.to = p.peek().to
	if !p.take(")") || p.at < len(ws) && !p.peek().is("ON") {
		return nil, "its VALUES are not one row"
	}
	if in.upserts = p.at < len(ws); in.upserts && !p.takesValues() {
		return nil, "it has ON DUPLICATE KEY with more than `column = VALUES(column)`"
	}
	return in, ""
}
