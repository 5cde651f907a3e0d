package unit

import (
	"strings"

	"kasoku/internal/confedit/textedit"
)

// EnvFile is an environment file (EnvironmentFile=, /etc/default/NAME).
type EnvFile struct {
	Path string

	was, text string
	vars      []variable
}

// variable is one assignment. text[keyFrom:end] is it, quotes included.
type variable struct {
	key     string
	keyFrom int
	at      int // behind the =
	end     int // before the line ending
	line    int
	value   textedit.Mapped
	quotes  []byte // the quote around each byte of value, 0 for none
}

// ParseEnv reads an environment file. Every text is taken.
func ParseEnv(path string, src []byte) *EnvFile {
	f := &EnvFile{Path: path, was: string(src), text: string(src)}
	f.parse()
	return f
}

// Bytes returns the file's text with all edits so far.
func (f *EnvFile) Bytes() []byte { return []byte(f.text) }

// Get returns a variable's value without quotes. Of several assignments the
// last one counts. systemd does not put other variables in (systemd.exec(5),
// EnvironmentFile=); a shell that reads the file would.
func (f *EnvFile) Get(key string) (Value, bool) {
	for i := len(f.vars) - 1; i >= 0; i-- {
		if v := f.vars[i]; v.key == key {
			return Value{Text: v.value.String(), Path: f.Path, Line: v.line}, true
		}
	}
	return Value{}, false
}

// Keys lists the variables in the order they first appear.
func (f *EnvFile) Keys() []string {
	var out []string
	seen := map[string]bool{}
	for _, v := range f.vars {
		if !seen[v.key] {
			seen[v.key] = true
			out = append(out, v.key)
		}
	}
	return out
}

// Changed returns the new bytes if edits have made them different from what
// was read.
func (f *EnvFile) Changed() map[string][]byte {
	if f.text == f.was {
		return map[string][]byte{}
	}
	return map[string][]byte{f.Path: []byte(f.text)}
}

// parse fills f from its text with the states of parse_env_file_internal
// (systemd, env-file.c).
func (f *EnvFile) parse() {
	f.vars = nil
	for i := 0; i < len(f.text); {
		c := f.text[i]
		switch {
		case strings.IndexByte(spaces, c) >= 0:
			i++
		case c == '#' || c == ';':
			i = f.comment(i)
		default:
			i = f.assignment(i)
		}
	}
}

// comment returns where a comment ends; a backslash takes the next byte along.
func (f *EnvFile) comment(i int) int {
	for ; i < len(f.text) && f.text[i] != '\n' && f.text[i] != '\r'; i++ {
		if f.text[i] == '\\' {
			i++
		}
	}
	return min(i, len(f.text))
}

// assignment reads KEY=VALUE at text[i:] and returns where it ends.
func (f *EnvFile) assignment(i int) int {
	v := variable{keyFrom: i, line: 1 + strings.Count(f.text[:i], "\n")}
	n := strings.IndexAny(f.text[i:], "=\n\r")
	if n < 0 {
		return len(f.text)
	}
	if f.text[i+n] != '=' {
		return i + n
	}
	v.key = strings.TrimRight(f.text[i:i+n], spaces)
	v.at = i + n + 1
	v.end = v.read(f.text, v.at)
	f.vars = append(f.vars, v)
	return v.end
}

// read takes the value at text[i:] and returns where it ends.
func (v *variable) read(text string, i int) int {
	const before, bare = 0, 1 // before a value or behind a quote; in a bare value
	state, trailing := before, -1
	add := func(c byte, from, to int, quote byte) {
		v.value.Add(c, from, to)
		v.quotes = append(v.quotes, quote)
	}
	for ; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\n' || c == '\r':
			if state == bare && trailing >= 0 {
				v.value.Truncate(trailing)
				v.quotes = v.quotes[:trailing]
			}
			return i
		case c == '\\':
			state, trailing = bare, -1
			if i++; i < len(text) && text[i] != '\n' && text[i] != '\r' {
				add(text[i], i-1, i+1, 0)
			}
		case state == before && (c == '\'' || c == '"'):
			i = v.quoted(text, i+1, c, add)
		case state == before && (c == ' ' || c == '\t'):
		default:
			state = bare
			if c != ' ' && c != '\t' {
				trailing = -1
			} else if trailing < 0 {
				trailing = v.value.Len()
			}
			add(c, i, i+1, 0)
		}
	}
	if state == bare && trailing >= 0 {
		v.value.Truncate(trailing)
		v.quotes = v.quotes[:trailing]
	}
	return min(i, len(text))
}

// quoted takes what stands between quotes and returns the place of the
// closing one, the end of text if there is none.
func (v *variable) quoted(text string, i int, quote byte, add func(c byte, from, to int, quote byte)) int {
	for ; i < len(text) && text[i] != quote; i++ {
		if quote == '\'' || text[i] != '\\' || i+1 == len(text) {
			if quote != '"' || text[i] != '\\' { // a backslash at the end of the file is dropped
				add(text[i], i, i+1, quote)
			}
			continue
		}
		i++
		switch c := text[i]; {
		case strings.IndexByte("\"\\`$", c) >= 0:
			add(c, i-1, i+1, quote)
		case c != '\n':
			add('\\', i-1, i, quote)
			add(c, i, i+1, quote)
		}
	}
	return min(i, len(text))
}
