package apache

import (
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"
)

// Value is what a directive is set to at a place.
type Value struct {
	// Text is the arguments of the directive that counts, joined by spaces, or
	// the default; "" if there is none, or if all of several count.
	Text string
	// Set are the directives that count; none where the default does.
	Set []*Directive
	// Sure is false if a directive whose state is unknown, or a section that
	// depends on the request, could override it.
	Sure bool
}

// MPM names the multi-processing module that is loaded: prefork, worker, event,
// or another; "" if none is.
func (c *Config) MPM() string {
	mpm := ""
	for _, id := range []string{"prefork", "worker", "event"} {
		for _, m := range c.opt.Compiled {
			if m == id+".c" {
				mpm = id
			}
		}
	}
	for _, d := range c.Root.Find("LoadModule") {
		if len(d.Args) > 0 && d.State == Active && d.Args[0] != "mpm_itk_module" { // mpm_itk sits on prefork
			if name, ok := strings.CutPrefix(d.Args[0], "mpm_"); ok {
				mpm = strings.TrimSuffix(name, "_module")
			}
		}
	}
	return mpm
}

// Loads reports whether the server has a module, such as "env_module": by a LoadModule
// that counts, or compiled in.
func (c *Config) Loads(module string) bool {
	return slices.Contains(c.opt.Compiled, "mod_"+strings.TrimSuffix(module, "_module")+".c") ||
		slices.ContainsFunc(c.Root.Find("LoadModule"), func(d *Directive) bool {
			return d.State == Active && len(d.Args) > 0 && d.Args[0] == module
		})
}

// VirtualHosts lists the <VirtualHost> sections that the server takes.
func (c *Config) VirtualHosts() []*Directive {
	var out []*Directive
	for _, d := range c.Root.Find("VirtualHost") {
		if d.IsSection {
			out = append(out, d)
		}
	}
	return out
}

// Value returns what a directive is set to for the main server (vhost nil) or
// a virtual host. A name without a Rule is an error.
func (c *Config) Value(name string, vhost *Directive) (Value, error) {
	r, ok := RuleFor(name)
	if !ok {
		return Value{}, fmt.Errorf("value of %s: how the server merges this directive is not known here; RuleFor gives those that are", name)
	}
	at := c.Root
	if vhost != nil && r.Scope != Global {
		at = vhost
	}
	v := c.level(r, at)
	if len(v.Set) == 0 && at != c.Root {
		sure := v.Sure
		v = c.level(r, c.Root)
		v.Sure = v.Sure && sure
	}
	return v, nil
}

// level returns what counts among the directives directly in at.
func (c *Config) level(r Rule, at *Directive) Value {
	v := Value{Sure: true}
	for _, d := range c.directly(at, r) {
		switch {
		case d.State == Unknown:
			v.Sure = false
		case r.Many:
			v.Set = append(v.Set, d)
		default:
			v = Value{Set: []*Directive{d}, Sure: true}
		}
	}
	switch {
	case r.Many:
	case len(v.Set) == 1:
		v.Text = strings.Join(v.Set[0].Args, " ")
	default:
		v.Text = r.Default(c.MPM())
	}
	return v
}

func (c *Config) directly(at *Directive, r Rule) []*Directive {
	var out []*Directive
	for _, k := range at.Children {
		if k.State == Inactive {
			continue
		}
		if r.matches(k) && !k.IsSection {
			out = append(out, k)
		}
		if k.open() {
			out = append(out, c.directly(k, r)...)
		}
	}
	return out
}

// ValueFor returns what a Folder directive is set to for the folder at an
// absolute path, without .htaccess files: the main server's or virtual host's
// value, overridden by <Directory> sections from the shortest path to the
// longest, those of the main server before those of the virtual host (Apache
// 2.4 manual, "How the sections are merged"). Sections that depend on more
// than the path (<DirectoryMatch>, <Files>, <Location>, <If> …) and set the
// directive make it unsure.
func (c *Config) ValueFor(name string, vhost *Directive, folder string) (Value, error) {
	v, err := c.Value(name, vhost)
	if err != nil {
		return v, err
	}
	r, _ := RuleFor(name)
	if r.Scope != Folder {
		return v, nil
	}
	levels := []*Directive{c.Root}
	if vhost != nil {
		levels = append(levels, vhost)
	}
	var fit []*Directive
	for _, at := range levels {
		for _, d := range sections(at) {
			depends := d.Is("Directory") && (len(d.Args) == 0 || d.Args[0] == "~" || d.State == Unknown)
			if !d.Is("Directory") || depends {
				if r.within(d) {
					v.Sure = false
				}
				continue
			}
			if holds(d.Args[0], folder) {
				fit = append(fit, d)
			}
		}
	}
	sort.SliceStable(fit, func(i, j int) bool { return components(fit[i].Args[0]) < components(fit[j].Args[0]) })
	for _, d := range fit {
		own := c.level(r, d)
		sure := v.Sure && own.Sure
		if len(own.Set) > 0 {
			v = own
		}
		v.Sure = sure
		for _, inner := range sections(d) {
			if r.within(inner) {
				v.Sure = false
			}
		}
	}
	return v, nil
}

// sections lists the sections directly in at that depend on what is asked for.
func sections(at *Directive) []*Directive {
	var out []*Directive
	for _, k := range at.Children {
		switch {
		case k.State == Inactive:
		case k.open():
			out = append(out, sections(k)...)
		case k.IsSection && !k.Is("VirtualHost") && !k.Is("Macro"):
			out = append(out, k)
		}
	}
	return out
}

// within reports whether the directive is set anywhere in d.
func (r Rule) within(d *Directive) bool {
	found := false
	d.Walk(func(k *Directive) bool {
		found = found || r.matches(k) && k.State != Inactive
		return !found
	})
	return found
}

// components counts the parts of a path, as the server does to sort sections.
func components(p string) int {
	return len(strings.FieldsFunc(p, func(r rune) bool { return r == '/' }))
}

// holds reports whether a <Directory> of that pattern is about a folder.
func holds(pattern, folder string) bool {
	pattern = strings.TrimSuffix(pattern, "/")
	for at := path.Clean(folder); ; at = path.Dir(at) {
		trimmed := strings.TrimSuffix(at, "/")
		if ok, err := path.Match(pattern, trimmed); err == nil && ok || pattern == trimmed {
			return true
		}
		if at == "/" || at == "." {
			return false
		}
	}
}

// AccessFiles lists the .htaccess files that the server looks for on its way
// to a file in folder: in every folder on the path where AllowOverride is not
// None. Each costs a look at the disk per request, whether it exists or not.
func (c *Config) AccessFiles(vhost *Directive, folder string) ([]string, error) {
	names, err := c.Value("AccessFileName", vhost)
	if err != nil {
		return nil, err
	}
	var chain, out []string
	for at := path.Clean(folder); ; at = path.Dir(at) {
		chain = append([]string{at}, chain...)
		if at == "/" || at == "." {
			break
		}
	}
	for _, at := range chain {
		v, err := c.ValueFor("AllowOverride", vhost, at)
		if err != nil {
			return nil, err
		}
		if strings.EqualFold(v.Text, "None") && v.Sure {
			continue
		}
		for _, n := range strings.Fields(names.Text) {
			out = append(out, path.Join(at, n))
		}
	}
	return out, nil
}

// Set gives a directive a value for the main server (vhost nil) or a virtual
// host: the one that counts is edited; if there is none, it is added beside
// another directive of the same kind, or else at the end. A directive of which
// many count cannot be set so.
func (c *Config) Set(name string, vhost *Directive, args ...string) error {
	r, ok := RuleFor(name)
	if !ok || r.Many {
		return fmt.Errorf("set %s: it is none of the directives that have one value; edit the directive itself", name)
	}
	at := c.Root
	if vhost != nil && r.Scope != Global {
		at = vhost
	}
	now := c.level(r, at)
	switch {
	case !now.Sure:
		return fmt.Errorf("set %s: a section with an unknown condition sets it too; edit the directive itself", name)
	case len(now.Set) == 1:
		return now.Set[0].SetArgs(args...)
	}
	text := r.Name
	for _, a := range args {
		text += " " + Quote(a)
	}
	if beside := c.neighbour(r, at); beside != nil {
		return beside.InsertAfter(text)
	}
	return at.Append(text)
}

// neighbour finds the last directive of the same kind that a new one can stand
// behind.
func (c *Config) neighbour(r Rule, at *Directive) *Directive {
	var best *Directive
	for _, other := range rules {
		if other.Scope != r.Scope || other.Many || len(other.Defaults) == 0 || (other.Default("") == "") != (r.Default("") == "") {
			continue
		}
		for _, d := range c.directly(at, other) {
			if d.State == Active && !d.IsMacro() {
				best = d
			}
		}
	}
	return best
}
