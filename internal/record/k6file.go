package record

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// maxK6File of a file that a script opens: larger ones are no examples.
const maxK6File = 256 << 10

// opened is the text of a file below the script's folder, as open() gives it; what
// cannot be read is not known.
func (s *k6Script) opened(v any, line int) any {
	name, ok := v.(string)
	if !ok {
		return unknownJS("open(…)")
	}
	data := fileBelow(s.dir, name)
	if data == nil || !s.spend(len(data)) {
		s.leave(line, "what stands in the file %s: it is not below the script's folder, or no text of at most %d KiB", shortText(name, 60), maxK6File>>10)
		return unknownJS("the file " + shortText(name, 60))
	}
	return strings.TrimPrefix(string(data), "\xef\xbb\xbf")
}

// fileBelow a folder; nil if it is not there, is too large or is no text.
func fileBelow(dir, name string) []byte {
	if dir == "" {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil
	}
	defer root.Close()
	f, err := root.Open(filepath.Clean(name))
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxK6File+1))
	if err != nil || len(data) > maxK6File || !utf8.Valid(data) {
		return nil
	}
	return data
}

// parsed is what JSON.parse gives.
func (s *k6Script) parsed(v any) any {
	text, ok := v.(string)
	if !ok {
		if u, unknown := v.(unknownJS); unknown {
			return u
		}
		return unknownJS("JSON.parse(…)")
	}
	var out any
	if !s.spend(len(text)) || json.Unmarshal([]byte(text), &out) != nil {
		return unknownJS("JSON.parse(…)")
	}
	return out
}

// sharedArray is what the function of new SharedArray("name", function) returns,
// if that is a value; at is before the name.
func (s *k6Script) sharedArray(line int) any {
	unknown := unknownJS("a SharedArray")
	s.at += 2
	var v any = unknown
	depth := 1
	for s.at < len(s.tokens) && depth > 0 && s.spend(1) {
		switch {
		case s.is(0, "return"), s.is(0, "=>") && !s.is(1, "{"):
			s.at++
			v = s.expression()
			continue
		case (s.is(0, "const") || s.is(0, "let")) && s.is(2, "=") && s.peek(1).kind == jsName: // const data = JSON.parse(…); return data
			name := s.peek(1).text
			s.at += 3
			s.values[name] = s.expression()
			continue
		case s.is(0, "("), s.is(0, "{"), s.is(0, "["):
			depth++
		case s.is(0, ")"), s.is(0, "}"), s.is(0, "]"):
			depth--
		}
		s.at++
	}
	if _, list := v.([]any); !list {
		return unknown
	}
	return v
}

// element of a list or an object. Which one it is may not be known, as where one
// is drawn: the first of the list is taken then, and told.
func (s *k6Script) element(v, key any, name string, line int) any {
	list, ok := v.([]any)
	if _, unknown := key.(unknownJS); ok && unknown && len(list) > 0 {
		s.leave(line, "which of %d values the script draws: the first one is taken; make a pool of them", len(list))
		return list[0]
	}
	return element(v, key, name)
}
