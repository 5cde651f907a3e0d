package patch

import "strings"

// say gives the place the words of its commit.
func (w *phpWriter) say() {
	table, place := w.read.sql.table, w.place
	if place.lead != nil {
		return
	}
	in := place.Function
	if in == "" {
		in = place.File
	}
	place.Subject = "Read the rows of " + table + " at once in " + in
	where := "The loop sent this statement in each turn:"
	if w.via != nil {
		where = "The loop calls " + w.via.fn.node.Name() + ", which sent this statement in each turn:"
	}
	place.Body = where + "\n\n" + strings.Join(strings.Fields(w.read.text), " ") + "\n\n" +
		"When it asks for the first row, one statement with IN now reads the rows of all keys of the loop, " + phpChunk + " at a time, and the turns take theirs from an array. " +
		"Only keys that are integers are among them, and the column is one of integers and unique; " +
		"any other key, and all where that statement fails, are read alone as before."
}
