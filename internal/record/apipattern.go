package record

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// maxSampleText bytes are made for a pattern or a minimum length.
const maxSampleText = 10_000

// maxPatternSteps are taken to make a text for a pattern.
const maxPatternSteps = 1_000_000

// patternText makes a text of at least minLength characters that matches a
// pattern; "" if none is found. Patterns are ECMA 262's; what they have beyond
// RE2, such as look-ahead, is not understood.
func patternText(pattern string, minLength, maxLength int) string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return ""
	}
	check, err := regexp.Compile(pattern)
	if err != nil {
		return ""
	}
	re = re.Simplify()
	steps := maxPatternSteps
	for more := 0; more <= min(minLength, maxSampleText); more += 1 + more/4 {
		var b strings.Builder
		if !writePattern(&b, re, more, 0, &steps) {
			return ""
		}
		text := b.String()
		n := len([]rune(text))
		if n >= minLength && (maxLength < 0 || n <= maxLength) && check.MatchString(text) {
			return text
		}
		if maxLength >= 0 && n > maxLength {
			return ""
		}
	}
	return ""
}

// writePattern writes what matches, with more repetitions than need be.
// false: it would be too long, or no steps are left.
func writePattern(b *strings.Builder, re *syntax.Regexp, more, depth int, steps *int) bool {
	if *steps--; *steps < 0 || depth > 100 || b.Len() > maxSampleText {
		return false
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		b.WriteRune(ofClass(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('a')
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			if !writePattern(b, sub, more, depth+1, steps) {
				return false
			}
		}
	case syntax.OpAlternate:
		return writePattern(b, re.Sub[0], more, depth+1, steps)
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		least, most := re.Min, re.Max
		switch re.Op {
		case syntax.OpStar:
			least, most = 0, -1
		case syntax.OpPlus:
			least, most = 1, -1
		case syntax.OpQuest:
			least, most = 0, 1
		}
		n := least + more
		if most >= 0 {
			n = min(n, most)
		}
		for range n {
			if !writePattern(b, re.Sub[0], more, depth+1, steps) {
				return false
			}
		}
	}
	return true
}

// ofClass picks a character that reads well: a letter, a digit, else the
// class's first.
func ofClass(ranges []rune) rune {
	for _, want := range "a1A" {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= want && want <= ranges[i+1] {
				return want
			}
		}
	}
	for i := 0; i+1 < len(ranges); i += 2 {
		if ranges[i+1] > ' ' && ranges[i] < 0x7f {
			return max(ranges[i], '!')
		}
	}
	if len(ranges) == 0 {
		return 'a'
	}
	return ranges[0]
}
