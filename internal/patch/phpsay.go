package patch

import (
	"fmt"
	"strings"
)

// say gives the place the words of its commit.
func (w *phpWriter) say() {
	r, place := w.read, w.place
	if place.lead != nil {
		return
	}
	in := place.Function
	if in == "" {
		in = place.File
	}
	where := "The loop sent this statement in each turn:"
	if w.via != nil {
		where = "The loop calls " + w.via.fn.node.Name() + ", which sent this statement in each turn:"
	}
	where += "\n\n" + strings.Join(strings.Fields(r.text), " ") + "\n\n"
	table := r.sql.table
	switch {
	case r.list:
		place.Subject = "Read the lists of " + table + " together in " + in
		place.Body = where + fmt.Sprintf("When it asks for a list, one statement now reads those of up to %s keys of the loop, from that key on, joined by UNION ALL; each branch is the statement as it was, with the key as a last column, and the turns take their rows by it. "+
			"Only keys that are integers are among them; any other key, one that comes again later, and all of a statement that fails are read alone as before.", r.most())
	case r.sql.sum:
		place.Subject = "Read the sums of " + table + " at once in " + in
		place.Body = where + "When it asks for the first one, one statement with IN and GROUP BY now reads those of all keys of the loop, " + phpChunk + " at a time, and the turns take theirs from an array. " +
			"Its last row, of no key, is what the statement gives for a key without rows. " +
			"Only keys that are integers are among them, and the column is one of integers; " +
			"any other key, and all where that statement fails, are read alone as before."
	default:
		place.Subject = "Read the rows of " + table + " at once in " + in
		place.Body = where + "When it asks for the first row, one statement with IN now reads the rows of all keys of the loop, " + phpChunk + " at a time, and the turns take theirs from an array. " +
			"Only keys that are integers are among them, and the column is one of integers and unique; " +
			"any other key, and all where that statement fails, are read alone as before."
	}
}
