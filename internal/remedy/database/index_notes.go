package database

import (
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/remedy/index"
)

// mostNotes of different kinds are told where no index helps.
const mostNotes = 4

// alike are notes that say the same of several columns.
type alike struct {
	form    string // the text without columns
	columns []string
	first   index.Note
}

// joinNotes tells each kind of reason once, with all columns that it holds for.
func joinNotes(notes []index.Note) string {
	if len(notes) == 0 {
		return "no scanning statement has a usable column"
	}
	var kinds []alike
	for _, n := range notes {
		list := strings.Join(n.Columns, ", ")
		form := n.Text
		if list != "" {
			form = strings.ReplaceAll(" "+form, " "+list+" ", " … ")
		}
		at := slices.IndexFunc(kinds, func(k alike) bool { return k.form == form })
		if at < 0 {
			kinds, at = append(kinds, alike{form: form, first: n}), len(kinds)
		}
		if list != "" && !slices.Contains(kinds[at].columns, list) {
			kinds[at].columns = append(kinds[at].columns, list)
		}
	}
	var out []string
	for _, k := range kinds[:min(len(kinds), mostNotes)] {
		out = append(out, k.text())
	}
	if more := len(kinds) - mostNotes; more > 0 {
		out = append(out, fmt.Sprintf("and %d more reasons", more))
	}
	return strings.Join(out, "; ")
}

func (k alike) text() string {
	text, columns := k.first.Text, strings.Join(k.first.Columns, ", ")
	if len(k.columns) > 1 && strings.Contains(" "+text, " "+columns+" ") {
		all := strings.Join(k.columns[:len(k.columns)-1], ", ") + " and " + k.columns[len(k.columns)-1]
		text = strings.TrimPrefix(strings.Replace(" "+text, " "+columns+" ", " "+all+" ", 1), " ")
	}
	switch {
	case k.first.DDL == "":
		return text
	case len(k.columns) > 1:
		return text + ": for example " + k.first.DDL
	}
	return text + ": " + k.first.DDL
}
