package unit

import (
	"errors"
	"fmt"
	"path"
	"sort"
	"strings"
)

// Dirs are the directories of system units, the one that overrides first
// (systemd.unit(5), "Unit File Load Path"; those that an administrator or a
// package writes).
var Dirs = []string{"/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"}

// dropins lists the directories of a unit's drop-ins, the one that overrides
// first: for each of Dirs the unit's own, for an instance its template's, and
// those of the name cut at each dash; last those of the type.
func dropins(name string) ([]string, error) {
	dot := strings.LastIndexByte(name, '.')
	if dot <= 0 || dot == len(name)-1 || strings.ContainsAny(name, "/\x00") {
		return nil, fmt.Errorf("%q is not a unit's name, such as nginx.service", name)
	}
	names := related(name[:dot], name[dot:])
	var out []string
	for _, d := range Dirs {
		for _, n := range names {
			out = append(out, path.Join(d, n+".d"))
		}
	}
	for _, d := range Dirs {
		out = append(out, path.Join(d, name[dot+1:]+".d"))
	}
	return out, nil
}

// related lists the names whose drop-ins a unit takes, its own first: for an
// instance its template's, and then those cut at each dash (unit_file_find_dirs
// in systemd's dropin.c).
func related(base, kind string) []string {
	out := []string{base + kind}
	at := strings.IndexByte(base, '@')
	prefix, instance := base, ""
	if at > 0 {
		prefix, instance = base[:at], base[at:]
	}
	if len(instance) > 1 {
		out = append(out, related(prefix+"@", kind)...)
	}
	if instance == "@" {
		instance = "" // a template's prefix is no template
	}
	if i := strings.LastIndexByte(strings.TrimSuffix(prefix, "-"), '-'); i > 0 {
		out = append(out, related(prefix[:i+1]+instance, kind)...)
	}
	return out
}

// find lists the files that make up a unit in the order they are read: the
// unit file of the first directory that has it (an instance's or else its
// template's), then drop-ins sorted by name, of which one in an earlier
// directory hides those of the same name.
func find(name string, glob GlobFunc) (fragment []string, more []string, err error) {
	dirs, err := dropins(name)
	if err != nil {
		return nil, nil, err
	}
	candidates := []string{name}
	if at := strings.IndexByte(name, '@'); at > 0 {
		candidates = append(candidates, name[:at+1]+name[strings.LastIndexByte(name, '.'):])
	}
	for _, n := range candidates {
		for _, d := range Dirs {
			fragment = append(fragment, path.Join(d, n))
		}
	}
	seen := map[string]bool{}
	for _, d := range dirs {
		found, err := glob(globEscape.Replace(d) + "/*.conf")
		if err != nil {
			return nil, nil, fmt.Errorf("list %s: %w", d, err)
		}
		for _, f := range found {
			if base := path.Base(f); !seen[base] && base[0] != '.' {
				seen[base] = true
				more = append(more, f)
			}
		}
	}
	sort.Slice(more, func(i, j int) bool { return path.Base(more[i]) < path.Base(more[j]) })
	return fragment, more, nil
}

var globEscape = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

var errNoUnit = errors.New("no directory of unit files has it")
