package sysctl

import (
	"path"
	"strings"

	"kasoku/internal/confedit/textedit"
)

// File is one file of a configuration.
type File struct {
	Path string

	was, text string
	entries   []entry
}

// Bytes returns the file's text with all edits so far.
func (f *File) Bytes() []byte { return []byte(f.text) }

// entry is one line that sets a parameter, or keeps it from being set by a
// pattern (-key).
type entry struct {
	line   textedit.Line
	key    string // normalized: slashes between parts
	value  string // without white space around
	hasSep bool   // there is a =; without one the line is "-key"
	ignore bool   // "-key = value": a failure to set is passed over
	keyEnd int    // offset in the file's text behind the key
	from   int    // text[from:to] is the value
	to     int
}

const spaces = " \t\r\n"

// Normalize returns a parameter's name with slashes between its parts. If the
// first separator is a slash, slashes part and dots are text; else it is the
// other way round (sysctl_normalize in systemd's sysctl-util.c).
func Normalize(key string) string {
	if i := strings.IndexAny(key, "/."); i >= 0 && key[i] == '.' {
		b := []byte(key)
		for i, c := range b {
			switch c {
			case '.':
				b[i] = '/'
			case '/':
				b[i] = '.'
			}
		}
		key = string(b)
	}
	for strings.Contains(key, "//") {
		key = strings.ReplaceAll(key, "//", "/")
	}
	if key = strings.TrimPrefix(key, "./"); len(key) > 1 {
		key = strings.TrimPrefix(key, "/")
	}
	return key
}

// isGlob reports whether a key is a shell pattern.
func isGlob(key string) bool { return strings.ContainsAny(key, "*?[") }

// matches reports whether a line's key stands for the normalized key.
func (e entry) matches(key string) bool {
	if e.key == key {
		return true
	}
	ok, err := path.Match(e.key, key)
	return isGlob(e.key) && err == nil && ok
}

// parse fills f from its text. Lines that are neither a comment nor a setting
// are passed over, as both readers do.
func (f *File) parse() {
	f.entries = nil
	for _, l := range textedit.Lines(f.text) {
		if e, ok := f.entry(l); ok {
			f.entries = append(f.entries, e)
		}
	}
}

func (f *File) entry(l textedit.Line) (entry, bool) {
	body := f.text[l.From:l.Body]
	start := len(body) - len(strings.TrimLeft(body, spaces))
	rest := body[start:]
	if rest == "" || rest[0] == '#' || rest[0] == ';' {
		return entry{}, false
	}
	e := entry{line: l}
	if rest[0] == '-' {
		e.ignore = true
		start++
	}
	key := body[start:]
	if eq := strings.IndexByte(key, '='); eq >= 0 {
		e.hasSep = true
		value := key[eq+1:]
		key = key[:eq]
		e.from = l.From + start + eq + 1 + len(value) - len(strings.TrimLeft(value, spaces))
		e.value = strings.Trim(value, spaces)
		e.to = e.from + len(e.value)
		if e.value == "" {
			e.from = l.From + start + eq + 1
			e.to = e.from
		}
	} else if !e.ignore {
		return entry{}, false
	}
	trimmed := strings.Trim(key, spaces)
	e.keyEnd = l.From + start + len(strings.TrimRight(key, spaces))
	e.key = Normalize(trimmed)
	return e, trimmed != ""
}
