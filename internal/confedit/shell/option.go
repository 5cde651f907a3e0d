package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// FindOption finds the number that a script gives to an option of a program: the value of
// one of names ("-w", "--workers"). runs tells the program by the words of a command, of
// which those that are computed are "". It returns nil where no command of the script runs
// it, where several do, or where the number is computed or not given.
func FindOption(script string, runs func(words []string) bool, names []string, environment func(name string) (string, bool)) *Number {
	file, r := read(script, environment)
	if file == nil {
		return nil
	}
	var found []*syntax.Word
	for node := range nodes(file) {
		call, ok := node.(*syntax.CallExpr)
		if !ok || !runs(r.words(call.Args)) {
			continue
		}
		if value := option(call.Args, names); value != nil { // else it is only named: pip install gunicorn
			found = append(found, value)
		}
	}
	if len(found) != 1 {
		return nil
	}
	return r.number(found[0], "")
}

func (r *reader) words(all []*syntax.Word) []string {
	var out []string
	for _, w := range all {
		text, _ := r.text(w)
		out = append(out, text)
	}
	return out
}

// option is the value that counts, the last one: the next word, or what stands behind
// --name= or -n.
func option(words []*syntax.Word, names []string) *syntax.Word {
	var value *syntax.Word
	for i, w := range words {
		if len(w.Parts) == 0 {
			continue
		}
		first, ok := w.Parts[0].(*syntax.Lit)
		if !ok {
			continue
		}
		for _, name := range names {
			glued := name
			if strings.HasPrefix(name, "--") {
				glued += "="
			}
			switch {
			case first.Value == name && len(w.Parts) == 1:
				if i+1 < len(words) {
					value = words[i+1]
				}
			case strings.HasPrefix(first.Value, glued):
				rest := slices.Clone(w.Parts[1:])
				if text := first.Value[len(glued):]; text != "" {
					at := first.ValuePos
					lit := &syntax.Lit{ValuePos: syntax.NewPos(at.Offset()+uint(len(glued)), at.Line(), at.Col()+uint(len(glued))), Value: text}
					rest = append([]syntax.WordPart{lit}, rest...)
				}
				value = &syntax.Word{Parts: rest}
			}
		}
	}
	return value
}
