package patch

import (
	"slices"
	"strings"
	"unicode"
)

// word is one token of a statement: a name without its quotes, a number, a string, a
// sign.
type word struct {
	text     string // as it stands; names in backquotes without them
	from, to int
	quoted   bool // a string or a name in quotes
	literal  bool // a string or a number
}

// is compares a keyword or sign.
func (w word) is(text string) bool { return !w.quoted && strings.EqualFold(w.text, text) }

// words of a statement of MySQL; false if there is a comment in it or a string without end.
func words(text string) ([]word, bool) {
	var out []word
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		case c == '#', strings.HasPrefix(text[i:], "--"), strings.HasPrefix(text[i:], "/*"):
			return nil, false
		case c == '\'' || c == '"' || c == '`':
			end := i + 1
			for end < len(text) && text[end] != c {
				if text[end] == '\\' && c != '`' {
					end++
				}
				end++
			}
			if end >= len(text) {
				return nil, false
			}
			out = append(out, word{text[i+1 : end], i, end + 1, true, c != '`'})
			i = end + 1
		case isWordByte(c):
			end := i
			for end < len(text) && isWordByte(text[end]) {
				end++
			}
			out = append(out, word{text[i:end], i, end, false, unicode.IsDigit(rune(c))})
			i = end
		default:
			n := 1
			if two := text[i:min(i+2, len(text))]; slices.Contains([]string{"<=", ">=", "<>", "!=", ":="}, two) {
				n = 2
			}
			out = append(out, word{text[i : i+n], i, i + n, false, false})
			i += n
		}
	}
	if n := len(out); n > 0 && out[n-1].is(";") {
		out = out[:n-1]
	}
	return out, true
}

func isWordByte(c byte) bool {
	return c == '_' || c == '$' || c == '@' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// isName reports a plain or quoted name.
func (w word) isName() bool {
	return !w.literal && w.text != "" && (w.quoted || isWordByte(w.text[0]) && w.text[0] != '@') && (w.quoted || !reserved[strings.ToUpper(w.text)])
}

var reserved = func() map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields("SELECT FROM WHERE AND OR NOT IN IS NULL ORDER GROUP BY HAVING LIMIT FOR LOCK JOIN LEFT RIGHT INNER OUTER CROSS NATURAL STRAIGHT_JOIN ON USING UNION DISTINCT ALL AS BETWEEN LIKE REGEXP RLIKE CASE WHEN THEN ELSE END INTERVAL VALUES VALUE SET INTO OFFSET PROCEDURE WINDOW FORCE USE IGNORE EXISTS XOR DIV MOD COLLATE BINARY") {
		out[w] = true
	}
	return out
}()

// read is a SELECT in the form that is understood.
type read struct {
	text  string
	table string
	alias string // of the table, as it stands; "" if it has none
	// columns between SELECT and FROM, each "name" or "alias.name", as far as they are
	// plain; with its name in the result.
	columns []column
	star    bool
	sum     bool // the only column is an aggregate
	count   bool // it is a COUNT
	equal   []equality
	// params are the placeholders in all.
	params int
	list   int // where the columns begin
	end    int // of the conditions
}

type column struct{ name, result string }

// equality is a condition `column = ?`.
type equality struct {
	column   string // without its table
	full     string // as it stands
	param    int    // from 0
	from, to int    // of "= ?" in the text
}

// parseRead understands a SELECT; the reason says what it does not, and then the read is
// what was understood until there.
func parseRead(text string) (*read, string) {
	ws, ok := words(text)
	if !ok {
		return &read{text: text}, "it has a comment or a string without end"
	}
	p := &sqlParser{ws: ws, read: &read{text: text}}
	return p.read, p.statement()
}

type sqlParser struct {
	ws    []word
	at    int
	read  *read
	alias string
}

func (p *sqlParser) peek() word {
	if p.at < len(p.ws) {
		return p.ws[p.at]
	}
	return word{}
}

// take the next word if it is text.
func (p *sqlParser) take(text string) bool {
	if p.at < len(p.ws) && p.ws[p.at].is(text) {
		p.at++
		return true
	}
	return false
}

func (p *sqlParser) statement() string {
	if !p.take("SELECT") {
		return "it is no SELECT"
	}
	p.read.list = p.peek().from
	if why := p.columns(); why != "" {
		return why
	}
	if !p.take("FROM") || !p.peek().isName() {
		return "its FROM is not that of one table"
	}
	p.read.table = p.peek().text
	p.at++
	p.take("AS")
	if p.peek().isName() {
		p.alias = p.peek().text
		p.read.alias = p.read.text[p.peek().from:p.peek().to]
		p.at++
	}
	if !p.take("WHERE") {
		return "what follows the table is no WHERE"
	}
	for {
		if why := p.condition(); why != "" {
			return why
		}
		if !p.take("AND") {
			break
		}
	}
	p.read.end = p.ws[p.at-1].to
	if p.at+1 < len(p.ws) && p.ws[p.at].is("LIMIT") && p.ws[p.at+1].text == "1" && p.at+2 == len(p.ws) && !p.read.sum {
		p.at += 2
	}
	if p.at < len(p.ws) {
		return "it goes on with " + strings.ToUpper(p.peek().text)
	}
	return ""
}

// name reads "column" or "table.column".
func (p *sqlParser) name() (name, full string, ok bool) {
	w := p.peek()
	if !w.isName() {
		return "", "", false
	}
	p.at++
	if !p.take(".") {
		return w.text, p.read.text[w.from:w.to], true
	}
	of := w
	if w = p.peek(); !w.isName() {
		return "", "", false
	}
	p.at++
	return w.text, p.read.text[of.from:w.to], true
}

var aggregates = map[string]bool{"COUNT": true, "SUM": true, "MIN": true, "MAX": true, "AVG": true}

func (p *sqlParser) columns() string {
	for {
		w := p.peek()
		switch {
		case w.is("*"):
			p.at++
			p.read.star = true
		case p.at+1 < len(p.ws) && p.ws[p.at+1].is("(") && aggregates[strings.ToUpper(w.text)]:
			if why := p.aggregate(); why != "" {
				return why
			}
		case w.literal && !w.quoted: // SELECT 1 FROM
			p.at++
			p.read.columns = append(p.read.columns, column{w.text, w.text})
		default:
			name, full, ok := p.name()
			if !ok && p.at > 0 && p.ws[p.at-1].is(".") && p.take("*") {
				p.read.star = true
				break
			}
			if !ok || p.peek().is("(") {
				return "it reads more than plain columns"
			}
			c := column{full, name}
			if p.take("AS") || p.peek().isName() {
				if !p.peek().isName() {
					return "it reads more than plain columns"
				}
				c.result = p.peek().text
				p.at++
			}
			p.read.columns = append(p.read.columns, c)
		}
		if !p.take(",") {
			break
		}
	}
	if p.read.sum && (len(p.read.columns) > 0 || p.read.star) {
		return "it reads columns beside an aggregate"
	}
	return ""
}

func (p *sqlParser) aggregate() string {
	if p.read.sum {
		return "it reads several aggregates"
	}
	p.read.sum, p.read.count = true, p.peek().is("COUNT")
	p.at += 2
	p.take("DISTINCT")
	if w := p.peek(); w.is("*") || w.literal && !w.quoted {
		p.at++
	} else if _, _, ok := p.name(); !ok {
		return "its aggregate is not of a plain column"
	}
	if !p.take(")") {
		return "its aggregate is not of a plain column"
	}
	if p.take("AS") || p.peek().isName() {
		p.at++
	}
	return ""
}

// condition reads `column op value` or `column IS [NOT] NULL`.
func (p *sqlParser) condition() string {
	const other = "its conditions are not all `column = value` joined by AND"
	name, full, ok := p.name()
	if !ok {
		return other
	}
	op := p.peek()
	p.at++
	switch {
	case op.is("IS"):
		p.take("NOT")
		if !p.take("NULL") {
			return other
		}
		return ""
	case slices.Contains([]string{"=", "<", ">", "<=", ">=", "<>", "!="}, op.text) && !op.quoted:
	default:
		return other
	}
	value := p.peek()
	p.at++
	switch {
	case value.is("?"):
		if op.is("=") {
			p.read.equal = append(p.read.equal, equality{name, full, p.read.params, op.from, value.to})
		}
		p.read.params++
	case value.literal, value.is("TRUE"), value.is("FALSE"):
	default:
		return other
	}
	return ""
}

// touched are the tables that a statement writes or locks; verb is its first word. all:
// it is not known which.
func touched(text string) (tables []string, writes, locks, all bool) {
	ws, ok := words(text)
	if !ok || len(ws) == 0 {
		return nil, true, true, true
	}
	verb := strings.ToUpper(ws[0].text)
	switch verb {
	case "SELECT", "SHOW", "DESCRIBE", "EXPLAIN":
		writes, locks = readsMore(ws)
		return nil, writes, locks, writes
	case "INSERT", "REPLACE", "UPDATE", "DELETE":
		for i, w := range ws {
			if i > 0 && w.isName() && (ws[i-1].is("INTO") || ws[i-1].is("UPDATE") || ws[i-1].is("FROM") || ws[i-1].is("INSERT") || ws[i-1].is("REPLACE") || ws[i-1].is("IGNORE") || ws[i-1].is("JOIN") || ws[i-1].is(",") && verb == "UPDATE" || ws[i-1].is(".")) {
				tables = append(tables, strings.ToLower(w.text))
			}
		}
		return tables, true, true, len(tables) == 0
	}
	return nil, true, true, true
}

// readsMore: a SELECT writes or locks as well.
func readsMore(ws []word) (writes, locks bool) {
	for i, w := range ws {
		locks = locks || w.is("FOR") && i+1 < len(ws) && (ws[i+1].is("UPDATE") || ws[i+1].is("SHARE")) || w.is("LOCK") || w.is(":=")
		// What it gives depends on the statement before it: nothing between may change.
		locks = locks || w.is("FOUND_ROWS") || w.is("ROW_COUNT")
		writes = writes || w.is("GET_LOCK") || w.is("LAST_INSERT_ID") && i+2 < len(ws) && !ws[i+2].is(")") || w.is("INTO")
	}
	return writes, locks
}
