package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

// term is a word that users shall not meet, and the one that stands for it in
// docs/reference/glossary.md.
type term struct {
	re      *regexp.Regexp
	instead string
}

// terms are split inside so that this file does not hold what it forbids.
var terms = []term{
	{forbid(`(?i)\b(what|else)\s+bi` + `nds\b|\bwhat would bi` + `nd\b`), "bottleneck"},
	{forbid(`(?i)\bfalse[\s-]ke` + `eps?\b`), "false positive"},
	{forbid(`(?i)\bk(?:eep|ept|eeps)\b[^.]{0,40}\bin\s+va` + `in\b`), "false positive"},
	{forbid(`(?i)\b(?:next|first|last)\s+lo` + `ok\s+at\s+(?:%d|[0-9])|\blo` + `oked\s+(?:%d|[0-9]+)\s+times`), "interim analysis"},
	{forbid(`(?i)\bsecond\s+lo` + `oks?\b`), "leave-one-out pass"},
	{forbid(`(?i)\bma(?:de|kes?)\s+w` + `ay\b`), "postponed"},
}

// measureCode is the code of a measure, which only the catalogue tells.
var measureCode = regexp.MustCompile(`\b[CWIGL][0-9]{2}\b`)

// toldApart are pages that speak of the words themselves, of codes, or of what was
// so at a time: the glossary, the catalogue, decisions, and what was measured.
var toldApart = []string{"docs/reference/glossary.md", "docs/reference/catalogue/", "docs/adr/", "docs/measured/"}

// codesApart are sources whose texts the catalogue alone shows.
var codesApart = []string{"internal/remedy/measures.go"}

func startsWithAny(s string, list []string) bool {
	for _, p := range list {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// userPage reports whether a file's whole text is read by users.
func userPage(file string) bool {
	if startsWithAny(file, toldApart) || strings.Contains(file, "testdata/") {
		return false
	}
	return file == "README.md" || strings.HasPrefix(file, "docs/") && strings.HasSuffix(file, ".md") ||
		strings.HasPrefix(file, "changelog/unreleased/") || strings.HasPrefix(file, "internal/") && strings.HasSuffix(file, ".html")
}

// checkTerms finds words of the project's own where the field has a term.
func checkTerms(file string, data []byte) []problem {
	if !userPage(file) {
		return nil
	}
	out := termsIn(file, string(data), 1)
	for _, at := range measureCode.FindAllIndex(data, -1) {
		out = append(out, codeProblem(file, string(data[at[0]:at[1]]), 1+bytes.Count(data[:at[0]], []byte("\n"))))
	}
	return out
}

func codeProblem(file, code string, line int) problem {
	return problem{file: file, line: line, text: fmt.Sprintf("%s is a code that only docs/reference/catalogue tells; say what it is", code)}
}

func termsIn(file, text string, line int) []problem {
	var out []problem
	for _, t := range terms {
		for _, at := range t.re.FindAllStringIndex(text, -1) {
			found := strings.Join(strings.Fields(text[at[0]:at[1]]), " ")
			out = append(out, problem{file: file, line: line + strings.Count(text[:at[0]], "\n"), text: fmt.Sprintf("users do not read %q; write %s (docs/reference/glossary.md)", found, t.instead)})
		}
	}
	return out
}

// checkTexts does the same for the texts in a Go file of the program: what is in
// quotes and has a space in it.
func checkTexts(s *source) []problem {
	if s.test || !strings.HasPrefix(s.file, "cmd/") && !strings.HasPrefix(s.file, "internal/") || strings.HasPrefix(s.file, "internal/lint/") {
		return nil
	}
	var out []problem
	ast.Inspect(s.tree, func(n ast.Node) bool {
		l, ok := n.(*ast.BasicLit)
		if !ok || l.Kind != token.STRING {
			return true
		}
		text, err := strconv.Unquote(l.Value)
		if err != nil || !strings.ContainsAny(text, " \n") {
			return true
		}
		line := s.fset.Position(l.Pos()).Line
		out = append(out, termsIn(s.file, text, line)...)
		if code := measureCode.FindString(text); code != "" && !startsWithAny(s.file, codesApart) {
			out = append(out, codeProblem(s.file, code, line))
		}
		return true
	})
	return out
}
