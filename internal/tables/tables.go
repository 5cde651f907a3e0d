// Package tables is what a database tells of its tables that decides what may be changed in
// the statements of a program: evidence reads it, patches ask it, beside the .sql files of
// the program.
package tables

// Table of a database that programs use.
type Table struct {
	Name     string            `json:"name"`
	Columns  map[string]string `json:"columns"`            // type by name, as SHOW COLUMNS tells both
	Unique   []string          `json:"unique,omitempty"`   // columns that are a unique key by themselves
	Nullable []string          `json:"nullable,omitempty"` // columns that take NULL
	// Acts: a trigger is on it, or a foreign key of it changes its rows with those of another.
	Acts bool `json:"acts,omitempty"`
	// Itself: a foreign key of it refers to the table itself.
	Itself bool `json:"itself,omitempty"`
}
