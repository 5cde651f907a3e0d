package evidence

import (
	"slices"
	"strings"
)

// Database is a database server as it is configured and what it holds.
type Database struct {
	Version   string            `json:"version"` // SELECT VERSION()
	MariaDB   bool              `json:"mariadb"`
	Variables map[string]string `json:"variables"`  // SHOW GLOBAL VARIABLES
	Tables    []Table           `json:"tables"`     // of user schemas
	DataBytes int64             `json:"data_bytes"` // InnoDB data + indexes
	// Accounts that may log in; nil if they could not be read.
	Accounts []Account `json:"accounts,omitempty"`
	// Foreign are options of its files that this server does not know or
	// ignores, by its own word.
	Foreign []ForeignOption `json:"foreign,omitempty"`
	// Persisted are variables that SET PERSIST wrote into the server's own file
	// in datadir (MySQL 8.0), which counts above its option files.
	Persisted map[string]string `json:"persisted,omitempty"`
	// Replicas that read its binary log now; -1 if that cannot be told.
	Replicas int `json:"replicas,omitempty"`
	// DataFree is what the file system of datadir has left, bytes; 0 unknown.
	DataFree int64 `json:"data_free,omitempty"`
}

// Account of a database server.
type Account struct{ User, Host string }

// ForeignOption is an option that is for another version of the server.
type ForeignOption struct {
	Name string `json:"name"` // as the file spells it
	Why  string `json:"why"`  // what the server says
}

// Table of a user schema.
type Table struct {
	Schema, Name, Engine string
	Rows                 int64 // estimate
	RowBytes             int64 // mean length, an estimate; 0 unknown
	DataBytes            int64
	IndexBytes           int64
	// AutoIncrement is the next value of its AUTO_INCREMENT column; 0: it has
	// none.
	AutoIncrement int64
	Columns       []Column
	Indexes       []TableIndex
	// ForeignKeys that it declares. Triggers on it, as far as the account sees
	// them.
	ForeignKeys []ForeignKey
	Triggers    int
	Partitioned bool `json:",omitempty"`
}

// ForeignKey of a table, with what it refers to.
type ForeignKey struct {
	Name                string
	Columns             []string
	RefSchema, RefTable string
	RefColumns          []string
	// Acts: rows of the table change with those that they refer to (CASCADE, SET NULL).
	Acts bool `json:",omitempty"`
}

// Column of a table.
type Column struct {
	Name, Type string // Type as in SHOW COLUMNS: varchar(255)
	Nullable   bool
	// Distinct values estimated from a bounded sample of rows; 0 unknown.
	Distinct int64
	// Nulls is the share (0–1) of rows that have none, from a sample; 0 unknown, or every
	// row has one.
	Nulls float64 `json:",omitempty"`
	// Prefix is how many characters of a text of more than 255 tell its values
	// apart nearly as well as its first 191 do, from a sample; 0 unknown.
	Prefix int `json:",omitempty"`
}

// TableIndex is one index as SHOW INDEX tells it.
type TableIndex struct {
	Name   string
	Unique bool
	// Columns in order; "col(10)" for a prefix, "(lower(`col`))" for an
	// expression (MySQL 8.0.13 on).
	Columns []string
	Type    string // BTREE, HASH, FULLTEXT, SPATIAL, RTREE
	// Descending says which columns are in descending order (MySQL 8.0,
	// MariaDB 10.8 on); nil if none is.
	Descending []bool `json:",omitempty"`
	// Hidden from the optimizer, by ALTER TABLE … ALTER INDEX … INVISIBLE
	// (MySQL 8.0) or IGNORED (MariaDB 10.6): kept up, but no statement uses it.
	Hidden bool `json:",omitempty"`
	// Cardinality estimates the distinct values of all its columns together;
	// 0 unknown.
	Cardinality int64
	// Reads of rows through it since the server began; -1 unknown.
	Reads int64
}

// Mixed reports whether some columns ascend and others descend. Without that an
// index gives its order forwards and backwards.
func (x TableIndex) Mixed() bool {
	for i := range x.Columns {
		if x.descends(i) != x.descends(0) {
			return true
		}
	}
	return false
}

func (x TableIndex) descends(i int) bool { return i < len(x.Descending) && x.Descending[i] }

// Specs are its columns as an index of them is made: "col", "col(10)", "col DESC".
func (x TableIndex) Specs() []string {
	out := slices.Clone(x.Columns)
	for i := range out {
		if x.descends(i) {
			out[i] += " DESC"
		}
	}
	return out
}

// HasExpression reports whether a column of it is computed.
func (x TableIndex) HasExpression() bool {
	return slices.ContainsFunc(x.Columns, func(c string) bool { return strings.HasPrefix(c, "(") })
}

// Begins reports whether y begins with x's columns, in the same directions or
// all in the opposite ones.
func (x TableIndex) Begins(y TableIndex) bool {
	n := len(x.Columns)
	if n == 0 || n > len(y.Columns) || !slices.Equal(x.Columns, y.Columns[:n]) {
		return false
	}
	for i := range n {
		if (x.descends(i) == x.descends(0)) != (y.descends(i) == y.descends(0)) {
			return false
		}
	}
	return true
}
