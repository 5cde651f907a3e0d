package source

import (
	"path"
	"strings"
)

// lang is how a language writes comments, strings and functions.
type lang struct {
	name         string
	line         []string // what begins a comment to the line's end
	block        bool     // /* … */
	interpolates string   // characters that quote text with holes
	concat       string   // operators that join texts, each one character
	adjacent     bool     // texts side by side are one
	indented     bool     // functions end where the indentation does (or with "end")
	regex        bool     // has /…/ literals
	dollar       bool     // names begin with $, and "$name" in a text is a hole
}

// languages by the end of a file's name.
var languages = map[string]*lang{}

func init() {
	goLang := &lang{name: "go", line: []string{"//"}, block: true, concat: "+"}
	php := &lang{name: "php", line: []string{"//", "#"}, block: true, interpolates: `"`, concat: ".", dollar: true}
	ruby := &lang{name: "ruby", line: []string{"#"}, interpolates: "\"`", concat: "+<", adjacent: true, indented: true, regex: true}
	python := &lang{name: "python", line: []string{"#"}, concat: "+%", adjacent: true, indented: true}
	perl := &lang{name: "perl", line: []string{"#"}, interpolates: "\"`", concat: ".", dollar: true, regex: true}
	js := &lang{name: "javascript", line: []string{"//"}, block: true, interpolates: "`", concat: "+", regex: true}
	java := &lang{name: "java", line: []string{"//"}, block: true, concat: "+"}
	kotlin := &lang{name: "kotlin", line: []string{"//"}, block: true, interpolates: `"`, concat: "+", dollar: true}
	for l, ends := range map[*lang]string{
		goLang: "go", php: "php phtml inc php5 module", ruby: "rb rake ru erb", python: "py",
		perl: "pl pm cgi psgi t", js: "js mjs cjs ts tsx jsx mts cts", java: "java", kotlin: "kt",
	} {
		for _, end := range strings.Fields(ends) {
			languages["."+end] = l
		}
	}
}

// languageOf a file by its name; nil if it is none that is read.
func languageOf(name string) *lang { return languages[strings.ToLower(path.Ext(name))] }
