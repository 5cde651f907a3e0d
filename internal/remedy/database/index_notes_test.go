package database

import (
	"testing"

	"kasoku/internal/remedy/index"
)

// What holds for several columns is told once: a search over nine columns had filled a page.
func TestNotesAreToldOnce(t *testing.T) {
	wrapped := func(statement int, column string) index.Note {
		return index.Note{Statement: statement, Columns: []string{column}, Text: "a condition puts " + column + " inside LCASE(…): no index on it can be used", DDL: "ALTER " + column}
	}
	like := index.Note{Columns: []string{"name"}, Text: "LIKE with a leading wildcard"}
	for _, c := range []struct {
		name  string
		notes []index.Note
		want  string
	}{
		{"none", nil, "no scanning statement has a usable column"},
		{"one", []index.Note{wrapped(0, "ean")}, "a condition puts ean inside LCASE(…): no index on it can be used: ALTER ean"},
		{"several", []index.Note{like, wrapped(0, "ean"), wrapped(0, "isbn"), like, wrapped(1, "sku"), wrapped(1, "ean")},
			"LIKE with a leading wildcard; a condition puts ean, isbn and sku inside LCASE(…): no index on it can be used: for example ALTER ean"},
		{"many kinds", []index.Note{{Text: "1"}, {Text: "2"}, {Text: "3"}, {Text: "4"}, {Text: "5"}, {Text: "6"}}, "1; 2; 3; 4; and 2 more reasons"},
	} {
		if got := joinNotes(c.notes); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}
