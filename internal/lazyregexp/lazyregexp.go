// Package lazyregexp has regular expressions that are compiled when they are first
// used. There are hundreds that most commands need none of, and a short load pays for
// what every start of the program does. In: texts in the syntax of package regexp.
// Out: what the methods of regexp.Regexp of the same name say.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression.
type Regexp struct {
	text string
	get  func() *regexp.Regexp
}

// all are those of the program, for Check.
var all []*Regexp

// New is for variables of packages; like regexp.MustCompile it panics where the text is
// wrong, but when it is first used, so a test of the package calls Check.
func New(text string) *Regexp {
	r := &Regexp{text, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
	all = append(all, r)
	return r
}

// Check compiles all that the program has made so far, and returns how many there are
// and the first that is wrong.
func Check() (n int, err error) {
	for _, r := range all {
		if _, err := regexp.Compile(r.text); err != nil {
			return len(all), err
		}
	}
	return len(all), nil
}

// The methods are those of regexp.Regexp.

func (r *Regexp) MatchString(s string) bool            { return r.get().MatchString(s) }
func (r *Regexp) FindString(s string) string           { return r.get().FindString(s) }
func (r *Regexp) FindStringIndex(s string) []int       { return r.get().FindStringIndex(s) }
func (r *Regexp) FindStringSubmatch(s string) []string { return r.get().FindStringSubmatch(s) }
func (r *Regexp) FindAllString(s string, n int) []string {
	return r.get().FindAllString(s, n)
}
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int {
	return r.get().FindAllStringIndex(s, n)
}
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.get().FindAllStringSubmatch(s, n)
}
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.get().FindAllStringSubmatchIndex(s, n)
}
func (r *Regexp) ReplaceAllStringFunc(s string, f func(string) string) string {
	return r.get().ReplaceAllStringFunc(s, f)
}
func (r *Regexp) ReplaceAllLiteralString(s, by string) string {
	return r.get().ReplaceAllLiteralString(s, by)
}
func (r *Regexp) ReplaceAllString(s, by string) string { return r.get().ReplaceAllString(s, by) }
