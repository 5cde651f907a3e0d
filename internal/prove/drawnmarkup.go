package prove

import (
	"unicode"
	"unicode/utf8"
)

// markup takes a line of HTML or XML that varies as one thing: its values are what stands
// between tags and in the quotes of attributes, each with a letter or digit, or a word
// that varies. A line that is no markup has none.
func (l *Line) markup() (o object) {
	if len(l.Words) == 0 || !l.isMarkup() {
		return object{}
	}
	from, tag, quote := 0, false, ""
	end := func(at int) {
		says, varies := false, false
		for _, w := range l.Words[from:at] {
			says, varies = says || w == "" || tells(w), varies || w == ""
		}
		if says {
			o.values = append(o.values, span{from, at})
		}
		if varies {
			o.vary++
		}
	}
	for i, w := range l.Words {
		switch {
		case tag && quote == "" && (w == `"` || w == "'"):
			from, quote = i+1, w
		case tag && quote != "" && w == quote:
			end(i)
			quote = ""
		case tag && quote == "" && w == ">":
			from, tag = i+1, false
		case !tag && w == "<":
			end(i)
			tag = true
		}
	}
	if !tag {
		end(len(l.Words))
	}
	return o
}

// isMarkup reports whether a line begins with a tag, after blanks, and ends with one.
func (l *Line) isMarkup() bool {
	blank := func(w string) bool { return w == " " || w == "\t" || w == "\r" }
	first, last := 0, len(l.Words)-1
	for first < last && blank(l.Words[first]) {
		first++
	}
	for last > first && blank(l.Words[last]) {
		last--
	}
	return l.Words[first] == "<" && l.Words[last] == ">"
}

// tells reports whether a word is a name or a number, and no sign.
func tells(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}
