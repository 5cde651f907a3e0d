package ui

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentence is the first sentence of a text: up to a stop that a blank and a
// capital follow. Stops within numbers, names of files and abbreviations end none.
func Sentence(text string) string {
	text = strings.TrimSpace(text)
	for at := 0; ; {
		i := strings.Index(text[at:], ". ")
		if i < 0 {
			return text
		}
		at += i + 1
		next, _ := utf8.DecodeRuneInString(strings.TrimLeft(text[at:], " "))
		word := text[strings.LastIndexAny(text[:at-1], " (")+1 : at-1]
		if unicode.IsUpper(next) && len(word) > 1 && !strings.Contains(word, ".") {
			return text[:at]
		}
	}
}
