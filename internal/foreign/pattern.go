package foreign

import (
	"regexp"
	"sync"
)

// pattern is a regular expression that is compiled when it is first used: there are
// more than a hundred, most commands need none of them, and a short load pays for
// what every start of the program does.
type pattern struct {
	text string
	get  func() *regexp.Regexp
}

// patterns are all, for the test that each can be compiled.
var patterns []*pattern

// lazy is the pattern of a text in the syntax of package regexp.
func lazy(text string) *pattern {
	p := &pattern{text, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
	patterns = append(patterns, p)
	return p
}

// The methods are those of regexp.Regexp.

func (p *pattern) MatchString(s string) bool            { return p.get().MatchString(s) }
func (p *pattern) FindString(s string) string           { return p.get().FindString(s) }
func (p *pattern) FindStringIndex(s string) []int       { return p.get().FindStringIndex(s) }
func (p *pattern) FindStringSubmatch(s string) []string { return p.get().FindStringSubmatch(s) }
func (p *pattern) FindAllStringIndex(s string, n int) [][]int {
	return p.get().FindAllStringIndex(s, n)
}
func (p *pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return p.get().FindAllStringSubmatch(s, n)
}
