// Package memory has what the tests of the editors share: files that are held
// in memory and read by the functions that an editor's Load is given, and the
// corpus of real files.
package memory

import (
	"io/fs"
	"maps"
	"path"
	"sort"
)

// Files are texts by their absolute path.
type Files map[string]string

// Read is os.ReadFile for them.
func (m Files) Read(name string) ([]byte, error) {
	s, ok := m[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(s), nil
}

// Glob is filepath.Glob for them, folders included. The order is the reverse of
// what Load must bring it into.
func (m Files) Glob(pattern string) ([]string, error) {
	found := map[string]bool{}
	for name := range m {
		for at := name; at != "/" && at != "."; at = path.Dir(at) {
			ok, err := path.Match(pattern, at)
			if err != nil {
				return nil, err
			}
			if ok {
				found[at] = true
			}
		}
	}
	var out []string
	for name := range found {
		out = append(out, name)
	}
	sort.Sort(sort.Reverse(sort.StringSlice(out)))
	return out, nil
}

// With is a copy in which the changed files have their new bytes.
func (m Files) With(changed map[string][]byte) Files {
	out := maps.Clone(m)
	if out == nil {
		out = Files{}
	}
	for name, text := range changed {
		out[name] = string(text)
	}
	return out
}
