// Package source finds where an application's source holds what evidence tells of: the
// file, line and function of a statement.
//
// In: a folder of source (Go, PHP, Ruby, Python, Perl, JavaScript, TypeScript, Java,
// Kotlin) and classes of statements as sqllog.Fingerprint makes them. Out: places, each
// with whether it is sure. Nothing is run and nothing is written.
//
// The texts of a program are its string literals, with what is concatenated, interpolated
// or formatted into them as holes. A text that begins like a statement becomes a pattern:
// its fingerprint, in which a hole stands for any words. A class that fits it is made there.
package source
