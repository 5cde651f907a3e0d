package apache

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sort"
	"strings"
)

// maxIncludes bounds how deep files include files; the server stops at 100
// (AP_MAX_INCLUDE_DEPTH), or at a circle.
const maxIncludes = 50

func (r *reader) include(at place, d *Directive) ([]*Directive, error) {
	if len(d.Args) != 1 {
		return nil, fmt.Errorf("%s takes one file or pattern, not %d", d.where(), len(d.Args))
	}
	optional := d.Is("IncludeOptional") || d.State == Unknown
	names, err := r.included(d.Args[0], optional)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", d.where(), d.Args[0], err)
	}
	var out []*Directive
	for _, name := range names {
		for _, up := range at.chain {
			if up == name {
				return nil, fmt.Errorf("%s %s: the files include each other in a circle", d.where(), name)
			}
		}
		if len(at.chain) > maxIncludes {
			return nil, fmt.Errorf("%s %s: files include files more than %d deep", d.where(), name, maxIncludes)
		}
		f, err := r.file(name)
		if optional && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", d.where(), d.Args[0], err)
		}
		sub := place{file: f, chain: append(at.chain[:len(at.chain):len(at.chain)], name), key: at.key + "/" + name}
		more, err := r.expand(sub, f.nodes, d, d.State)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// included lists the files that an include stands for, in the server's order
// (ap_process_fnmatch and ap_process_resource_config in server/config.c): by
// bytes, a folder replaced by all that is in it, hidden names only where the
// pattern has the dot.
func (r *reader) included(pattern string, optional bool) ([]string, error) {
	pattern = r.state.under(pattern)
	if !strings.ContainsAny(pattern, "*?[") {
		return r.tree(pattern, 0)
	}
	found, err := r.c.glob(pattern)
	if err != nil {
		return nil, err
	}
	var names, out []string
	for _, name := range found {
		if !hidden(pattern, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 && !optional {
		return nil, errors.New("no file matches; IncludeOptional would allow that")
	}
	sort.Strings(names)
	for _, name := range names {
		files, err := r.tree(name, 0)
		if err != nil {
			return nil, err
		}
		out = append(out, files...)
	}
	return out, nil
}

// tree returns the file itself, or the files below a folder.
func (r *reader) tree(name string, depth int) ([]string, error) {
	if _, err := r.c.file(name); err == nil || depth > maxIncludes {
		return []string{name}, nil // kept, so not read again
	}
	inside, err := r.c.glob(globEscape(path.Clean(name)) + "/*")
	if err != nil || len(inside) == 0 {
		return []string{name}, nil // not a folder; reading says what is wrong
	}
	sort.Strings(inside)
	var out []string
	for _, sub := range inside {
		files, err := r.tree(sub, depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, files...)
	}
	return out, nil
}

func globEscape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}

func hidden(pattern, name string) bool {
	want, got := strings.Split(pattern, "/"), strings.Split(name, "/")
	for i := range got {
		if i < len(want) && strings.HasPrefix(got[i], ".") && !strings.HasPrefix(want[i], ".") {
			return true
		}
	}
	return false
}
