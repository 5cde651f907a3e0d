package nginx

// Directive is one directive at one place of the configuration. The fields
// are to be read; change them through the methods, which keep every view of
// the same text alike.
type Directive struct {
	Name     string   // unquoted; "" for the Root
	Args     []string // unquoted, escapes applied
	IsBlock  bool
	Children []*Directive // a block's, includes followed; none in a Lua block
	Parent   *Directive   // nil for the Root
	File     *File        // where it is written
	Line     int          // 1-based, follows edits

	config *Config
	node   *node
}

// Find returns the children of that name, in order.
func (d *Directive) Find(name string) []*Directive {
	var out []*Directive
	for _, k := range d.Children {
		if k.Name == name {
			out = append(out, k)
		}
	}
	return out
}

// First returns the first child of that name, or nil.
func (d *Directive) First(name string) *Directive {
	for _, k := range d.Children {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// Walk calls visit for everything inside d, outer before inner, in order. It
// does not go into a block for which visit returns false.
func (d *Directive) Walk(visit func(*Directive) bool) {
	for _, k := range append([]*Directive(nil), d.Children...) {
		if visit(k) {
			k.Walk(visit)
		}
	}
}

// Effective returns the directive of that name that applies at d: d's own
// child, or else one of the nearest block around it; nil where none is
// written. nginx inherits most directives this way; of an array directive
// (add_header, fastcgi_param) the level found here replaces outer ones whole.
func (d *Directive) Effective(name string) *Directive {
	for at := d; at != nil; at = at.Parent {
		if found := at.First(name); found != nil {
			return found
		}
	}
	return nil
}

// Encrypted reports whether a server speaks TLS at one of its listen directives: by that
// directive's parameter ssl, or by `ssl on` in the server or above, which nginx had until
// 1.25.1 and which holds for all of them.
func Encrypted(server, listen *Directive) bool {
	for _, a := range listen.Args[min(1, len(listen.Args)):] {
		if a == "ssl" {
			return true
		}
	}
	d := server.Effective("ssl")
	return d != nil && len(d.Args) == 1 && d.Args[0] == "on"
}
