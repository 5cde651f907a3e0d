// Package envelope takes the entries of logs out of what carries them: JSON of
// exports and tables (CSV).
//
// In: bytes of a log. Out: one entry after the other, as the program wrote it or
// as an object of JSON in one line; what they mean is left to accesslog and
// sqllog. Memory is bounded, however long a value is.
package envelope
