package sysctl

import (
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"

	"kasoku/internal/confedit/textedit"
)

// Set gives a parameter a value. If a line under /etc names it and wins, that
// line's value is edited. Else a line is added at the end of file own, such as
// /etc/sysctl.d/90-kasoku.conf, which is begun if it is not there. If a file that is
// applied after own sets the parameter, that is an error naming it.
func (c *Config) Set(key, value, own string) (textedit.Edit, error) {
	if err := check(key, value); err != nil {
		return textedit.Edit{}, err
	}
	if f, i, ok := c.winner(key); ok && f.entries[i].key == Normalize(key) && (strings.HasPrefix(f.Path, "/etc/") || len(c.Files) == 1 && f.Path == own) {
		e := f.entries[i]
		if e.value == value {
			return textedit.Edit{}, nil
		}
		text := value
		if e.from == e.to && e.keyEnd < e.from-1 { // "key =" gets its space
			text = " " + value
		}
		return c.apply(f, key, value, textedit.Edit{Path: f.Path, From: e.from, To: e.to, New: text})
	}
	f, err := c.file(own)
	if err != nil {
		return textedit.Edit{}, fmt.Errorf("set %s: %w", key, err)
	}
	e, err := c.apply(f, key, value, textedit.InsertLine(own, f.text, len(f.text), key+" = "+value))
	if err != nil {
		c.drop(f)
	}
	return e, err
}

// check refuses what would not be read back as what it is.
func check(key, value string) error {
	f := newFile("", []byte(key+" = "+value))
	if len(f.entries) != 1 || f.entries[0].key != Normalize(key) || f.entries[0].value != value || f.entries[0].ignore ||
		strings.ContainsAny(key+value, "\r\n\x00") || strings.Trim(key, spaces) != key || value == "" || isGlob(key) || strings.HasPrefix(key, textedit.BOM) {
		return fmt.Errorf("set %q to %q: such a line would not be read back; give one parameter's name and a value on one line", key, value)
	}
	return nil
}

// apply makes an edit of f, and takes it back if the parameter does not have
// the value then or another line would be read differently.
func (c *Config) apply(f *File, key, value string, e textedit.Edit) (textedit.Edit, error) {
	was, entries := f.text, f.entries
	f.text = textedit.Apply(was, e)
	f.parse()
	err := f.onlyChanged(entries, key)
	if v, ok := c.Get(key); err == nil && (!ok || v.Text != value) {
		err = fmt.Errorf("set %s in %s: it would have no effect, because %s:%d is applied later and sets it to %q; change it there, or take a file name that sorts behind", key, f.Path, v.Path, v.Line, v.Text)
	}
	if err != nil {
		f.text, f.entries = was, entries
		return textedit.Edit{}, err
	}
	return e, nil
}

// onlyChanged requires that entries of other parameters are as before.
func (f *File) onlyChanged(was []entry, key string) error {
	others := func(all []entry) []string {
		var out []string
		for _, e := range all {
			if e.key != Normalize(key) {
				out = append(out, fmt.Sprint(e.key, "\x00", e.value, "\x00", e.hasSep, e.ignore))
			}
		}
		return out
	}
	if !slices.Equal(others(was), others(f.entries)) {
		return fmt.Errorf("set %s in %s: the new text would change how the file's other lines are read", key, f.Path)
	}
	return nil
}

// file returns the file at that path, which is begun if there is none.
func (c *Config) file(name string) (*File, error) {
	for _, f := range c.Files {
		if f.Path == name {
			return f, nil
		}
	}
	known := c.reader == Procps && name == MainFile
	for _, dir := range Dirs {
		known = known || path.Dir(name) == dir && strings.HasSuffix(name, ".conf")
	}
	if !known {
		return nil, fmt.Errorf("%s is not a file that is applied at boot; take one in %s that ends in .conf", name, Dirs[0])
	}
	for _, f := range c.Files {
		if path.Base(f.Path) == path.Base(name) && name != MainFile {
			return nil, fmt.Errorf("%s and %s have the same name, so that only one of them counts; take another", name, f.Path)
		}
	}
	f := newFile(name, nil)
	at := sort.Search(len(c.Files), func(i int) bool {
		return c.Files[i].Path == MainFile || path.Base(c.Files[i].Path) > path.Base(name)
	})
	if name == MainFile {
		at = len(c.Files)
	}
	c.Files = slices.Insert(c.Files, at, f)
	return f, nil
}

// drop takes a file out that was begun for an edit which failed.
func (c *Config) drop(f *File) {
	if f.was == "" && f.text == "" {
		if i := slices.Index(c.Files, f); i >= 0 {
			c.Files = slices.Delete(c.Files, i, i+1)
		}
	}
}
