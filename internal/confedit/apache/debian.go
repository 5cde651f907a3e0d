package apache

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"sort"
	"strings"
)

// Link is a link of Debian's mods-enabled that enabling or disabling a module
// makes or takes away.
type Link struct {
	Path   string
	Target string // as a2enmod writes it: relative to the link's folder
	Remove bool
}

// Modules are the modules of a Debian configuration folder, as a2enmod and
// a2dismod (apache2 package) see them.
type Modules struct {
	dir  string
	read ReadFunc
	// files are those of mods-available and of mods-enabled, without folder.
	available, enabled map[string]bool
}

// LoadModules reads which modules a configuration folder such as /etc/apache2
// offers and has enabled. A folder without mods-available is an error.
func LoadModules(dir string, read ReadFunc, glob GlobFunc) (*Modules, error) {
	m := &Modules{dir: dir, read: read, available: map[string]bool{}, enabled: map[string]bool{}}
	for sub, set := range map[string]map[string]bool{"mods-available": m.available, "mods-enabled": m.enabled} {
		found, err := glob(globEscape(path.Join(dir, sub)) + "/*")
		if err != nil {
			return nil, fmt.Errorf("list Apache modules in %s: %w", path.Join(dir, sub), err)
		}
		for _, name := range found {
			set[path.Base(name)] = true
		}
	}
	if len(m.available) == 0 {
		return nil, fmt.Errorf("list Apache modules: %s/mods-available has none; only Debian's layout has modules to switch", dir)
	}
	return m, nil
}

// Enabled lists the enabled modules by name, sorted.
func (m *Modules) Enabled() []string {
	var out []string
	for name := range m.enabled {
		if base, ok := strings.CutSuffix(name, ".load"); ok {
			out = append(out, base)
		}
	}
	sort.Strings(out)
	return out
}

// SwitchMPM plans the links that make another MPM (prefork, worker, event)
// the only one. Modules that depend on the one that goes, as Debian's PHP
// module does on prefork, are an error unless drop allows each by name; they
// are then disabled too. Nothing to do gives no links.
func (m *Modules) SwitchMPM(to string, drop ...string) ([]Link, error) {
	want := "mpm_" + to
	if !m.available[want+".load"] {
		return nil, fmt.Errorf("switch to MPM %s: %s is not there; install the package that brings it", to, path.Join(m.dir, "mods-available", want+".load"))
	}
	var out []Link
	for _, name := range m.Enabled() {
		if !strings.HasPrefix(name, "mpm_") || name == want || name == "mpm_itk" {
			continue
		}
		links, err := m.disable(name, drop)
		if err != nil {
			return nil, fmt.Errorf("switch to MPM %s: %w", to, err)
		}
		out = append(out, links...)
	}
	links, err := m.enable(want, nil, out)
	if err != nil {
		return nil, fmt.Errorf("switch to MPM %s: %w", to, err)
	}
	return append(out, links...), nil
}

// Enable plans the links that enable a module and what it depends on.
func (m *Modules) Enable(name string) ([]Link, error) {
	links, err := m.enable(name, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("enable Apache module %s: %w", name, err)
	}
	return links, nil
}

// enable adds to what is planned; chain names the modules that lead here.
func (m *Modules) enable(name string, chain []string, planned []Link) ([]Link, error) {
	if slices.Contains(chain, name) {
		return nil, fmt.Errorf("the modules %s depend on each other in a circle", strings.Join(chain, ", "))
	}
	if !m.available[name+".load"] {
		return nil, fmt.Errorf("there is no %s", path.Join(m.dir, "mods-available", name+".load"))
	}
	depends, err := m.header(name, "Depends")
	if err != nil {
		return nil, err
	}
	var out []Link
	for _, d := range depends {
		links, err := m.enable(d, append(chain, name), append(planned, out...))
		if err != nil {
			return nil, err
		}
		out = append(out, links...)
	}
	conflicts, err := m.header(name, "Conflicts")
	if err != nil {
		return nil, err
	}
	for _, c := range conflicts {
		if m.after(c+".load", append(planned, out...)) {
			return nil, fmt.Errorf("%s is enabled and conflicts with it; disable it first", c)
		}
	}
	for _, suffix := range []string{".conf", ".load"} {
		if m.available[name+suffix] && !m.after(name+suffix, append(planned, out...)) {
			out = append(out, m.link(name+suffix, false))
		}
	}
	return out, nil
}

func (m *Modules) disable(name string, drop []string) ([]Link, error) {
	var out []Link
	for _, other := range m.Enabled() {
		depends, err := m.header(other, "Depends")
		if err != nil {
			return nil, err
		}
		if !slices.Contains(depends, name) {
			continue
		}
		if !slices.Contains(drop, other) {
			return nil, fmt.Errorf("%s is enabled and depends on %s; it would have to go too", other, name)
		}
		links, err := m.disable(other, drop)
		if err != nil {
			return nil, err
		}
		out = append(out, links...)
	}
	for _, suffix := range []string{".load", ".conf"} {
		if m.enabled[name+suffix] {
			out = append(out, m.link(name+suffix, true))
		}
	}
	return out, nil
}

// after reports whether a file is enabled once the planned links are made.
func (m *Modules) after(name string, planned []Link) bool {
	on := m.enabled[name]
	for _, l := range planned {
		if path.Base(l.Path) == name {
			on = !l.Remove
		}
	}
	return on
}

func (m *Modules) link(name string, remove bool) Link {
	return Link{Path: path.Join(m.dir, "mods-enabled", name), Target: "../mods-available/" + name, Remove: remove}
}

var headerLine = regexp.MustCompile(`^# (Depends|Conflicts):\s+(.*?)\s*$`)

// header reads "# Depends:" or "# Conflicts:" of a .load file: the first such
// line above the first directive.
func (m *Modules) header(name, kind string) ([]string, error) {
	file := path.Join(m.dir, "mods-available", name+".load")
	if !m.available[name+".load"] { // a2enmod looks through the link, too
		file = path.Join(m.dir, "mods-enabled", name+".load")
	}
	text, err := m.read(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // a link that points nowhere
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	for row := range strings.Lines(string(text)) {
		row = strings.TrimSuffix(row, "\n")
		if found := headerLine.FindStringSubmatch(row); found != nil && found[1] == kind {
			return strings.Fields(found[2]), nil
		}
		if s := strings.TrimSpace(row); s != "" && s[0] != '#' {
			break
		}
	}
	return nil, nil
}
