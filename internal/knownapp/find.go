package knownapp

import (
	"bytes"
	"path"
	"regexp"
	"strings"
)

// Reader looks at files below an application's folder. Read's error means that
// the file is not there or may not be read; Glob lists the paths, relative to
// the folder, that match a pattern, sorted.
type Reader struct {
	Root string
	Read func(relative string) ([]byte, error)
	Glob func(pattern string) []string
}

// Find tells which application is in the reader's folder, and which of its
// settings are called for; nil if it is none of Applications. The first that
// fits counts, so that a framework comes after what is built on it.
func Find(r Reader) *Found {
	for i := range Applications {
		a := &Applications[i]
		if !r.is(a) {
			continue
		}
		out := &Found{ID: a.ID, Version: r.version(a)}
		for _, pattern := range a.Settings {
			for _, f := range r.Glob(pattern) {
				out.Settings = append(out.Settings, path.Join(r.Root, f))
			}
		}
		for i := range a.Knobs {
			if c, called := r.call(&a.Knobs[i]); called {
				out.Calls = append(out.Calls, c)
			}
		}
		if p := a.Preload; p != nil && len(r.Glob(p.File)) > 0 && len(r.Glob(p.Needs)) > 0 {
			out.Preload = path.Join(r.Root, p.File)
		}
		return out
	}
	return nil
}

func (r Reader) is(a *Application) bool {
	for _, m := range a.Marks {
		if _, ok := r.match(m); !ok {
			return false
		}
	}
	return true
}

// match returns the mark's first group, or all that it matched.
func (r Reader) match(m Mark) (string, bool) {
	for _, file := range m.Files {
		for _, f := range r.Glob(file) {
			if m.Holds == "" {
				return "", true
			}
			data, err := r.Read(f)
			if err != nil {
				continue
			}
			if found := regexp.MustCompile(m.Holds).FindSubmatch(data); found != nil {
				return string(found[len(found)-1]), true
			}
		}
	}
	return "", false
}

func (r Reader) version(a *Application) string {
	v, _ := r.match(a.Version)
	return v
}

// call judges one knob by its sign.
func (r Reader) call(k *Knob) (Call, bool) {
	c := Call{Area: k.Area, Name: k.Name}
	var file string
	var text []byte
	for _, pattern := range k.Sign.Files {
		for _, f := range r.Glob(pattern) {
			data, err := r.Read(f)
			if err == nil && file == "" {
				file, text = f, WithoutComments(data)
			}
		}
	}
	if k.Sign.Absent {
		c.Where = path.Join(r.Root, k.Sign.Files[0])
		return c, file == ""
	}
	if file == "" {
		return c, false
	}
	c.Where = path.Join(r.Root, file)
	if k.Sign.Lacks != "" && regexp.MustCompile(k.Sign.Lacks).Match(text) {
		return c, false
	}
	if k.Sign.Holds == "" {
		return c, true
	}
	at := regexp.MustCompile(k.Sign.Holds).FindIndex(text)
	if at == nil {
		return c, false
	}
	c.Now = strings.TrimSpace(string(text[at[0]:at[1]]))
	return c, true
}

// comments of PHP, Ruby, Python, YAML and .env files; the forms that only some
// of them have do not begin a line in the others.
var comments = regexp.MustCompile(`(?m)^[ \t]*(?:#|//)[^\n]*|(?s)/\*.*?\*/`)

// WithoutComments blanks comments that take whole lines, or that are between
// /* and */. Line breaks stay.
func WithoutComments(text []byte) []byte {
	return comments.ReplaceAllFunc(text, func(c []byte) []byte {
		return bytes.Repeat([]byte("\n"), bytes.Count(c, []byte("\n")))
	})
}

// IsCacheTable reports whether the application uses the table as a cache.
func (a *Application) IsCacheTable(table string) bool {
	table = strings.ToLower(strings.Trim(table[strings.LastIndexByte(table, '.')+1:], "`\""))
	for _, t := range a.CacheTables {
		rest, ok := strings.CutSuffix(table, t)
		if prefix, wild := strings.CutSuffix(t, "*"); wild {
			i := strings.Index(table, prefix)
			ok = i >= 0
			if ok {
				rest = table[:i]
			}
		}
		if ok && (rest == "" || strings.HasSuffix(rest, "_")) {
			return true
		}
	}
	return false
}
