package apache

import (
	"slices"
	"strings"
)

// State says whether the server takes a directive.
type State int

const (
	// Active: the server reads it.
	Active State = iota
	// Unknown: it is in a section whose condition cannot be told from the
	// configuration, such as <IfDirective>.
	Unknown
	// Inactive: it is in an <IfModule> or the like that does not hold.
	Inactive
)

func (s State) String() string { return [...]string{"active", "unknown", "inactive"}[s] }

// Directive is one directive at one place of the configuration. The fields
// are to be read; edits bring them up to date.
type Directive struct {
	Name      string   // as written, without < and >; the server ignores case
	Args      []string // unquoted, ${NAME} replaced where NAME is defined
	IsSection bool
	// Children of a section, of an Include (the files' directives) and of a
	// Use (the macro written out).
	Children []*Directive
	Parent   *Directive // nil for the Root
	File     *File      // where it is written; for one from a macro, the macro's file
	Line     int        // 1-based
	State    State      // with that of all that is around it

	config *Config
	line   *line // nil for the Root and for one from a macro
	end    *line
	key    string
	gone   bool
}

// Is reports whether the directive has that name; case does not matter.
func (d *Directive) Is(name string) bool { return strings.EqualFold(d.Name, name) }

// IsMacro reports whether d comes from a macro, so that it cannot be edited.
func (d *Directive) IsMacro() bool { return d.Parent != nil && d.line == nil }

// open reports whether directives in d count as directives of what d is in.
func (d *Directive) open() bool {
	switch strings.ToLower(d.Name) {
	case "include", "includeoptional", "use":
		return true
	case "ifmodule", "ifdefine", "ifversion", "iffile", "ifdirective", "ifsection":
		return d.IsSection
	}
	return false
}

// Find returns the directives of that name directly in d, in order; those in
// included files, macros and conditional sections (<IfModule> …) count as
// directly in d. Inactive ones are left out.
func (d *Directive) Find(name string) []*Directive {
	var out []*Directive
	for _, k := range d.Children {
		if k.State == Inactive {
			continue
		}
		if k.Is(name) {
			out = append(out, k)
		}
		if k.open() {
			out = append(out, k.Find(name)...)
		}
	}
	return out
}

// FindAll returns the directives of these names at any depth in d, in the order read. Inactive
// ones, and what is in them, are left out.
func (d *Directive) FindAll(names ...string) (out []*Directive) {
	d.Walk(func(k *Directive) bool {
		if k.State == Inactive {
			return false
		}
		if slices.ContainsFunc(names, k.Is) {
			out = append(out, k)
		}
		return true
	})
	return out
}

// First returns the first that Find finds, or nil.
func (d *Directive) First(name string) *Directive {
	if found := d.Find(name); len(found) > 0 {
		return found[0]
	}
	return nil
}

// Walk calls visit for everything inside d, inactive directives too, outer
// before inner, in the order read. It does not go into what visit returns
// false for.
func (d *Directive) Walk(visit func(*Directive) bool) {
	for _, k := range append([]*Directive(nil), d.Children...) {
		if visit(k) {
			k.Walk(visit)
		}
	}
}

// Section returns the innermost section around d that is no condition, or the
// Root.
func (d *Directive) Section() *Directive {
	at := d.Parent
	for at != nil && at.Parent != nil && at.open() {
		at = at.Parent
	}
	return at
}
