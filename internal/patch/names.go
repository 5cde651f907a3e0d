package patch

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// typeName is a type for people.
func (f *file) typeName(t types.Type) string {
	return types.TypeString(t, types.RelativeTo(f.pkg.Types))
}

// typeText is a type as it is written at the end of the file; false if it cannot be.
func (f *file) typeText(t types.Type) (string, bool) {
	ok := true
	text := types.TypeString(t, func(p *types.Package) string {
		if p == f.pkg.Types {
			return ""
		}
		for _, i := range f.syntax.Imports {
			if o := f.pkg.TypesInfo.PkgNameOf(i); o != nil && o.Imported() == p && o.Name() != "." && o.Name() != "_" {
				return o.Name()
			}
		}
		// It is imported then, if its path tells its name.
		ok = ok && p.Path()[strings.LastIndex(p.Path(), "/")+1:] == p.Name()
		return p.Name()
	})
	for n := range namedIn(t) {
		if o := n.Obj(); o.Pkg() == f.pkg.Types && o.Parent() != f.pkg.Types.Scope() || o.Pkg() != nil && o.Pkg() != f.pkg.Types && !o.Exported() {
			return text, false
		}
	}
	return text, ok
}

// lacking are the packages of types that the file does not import yet.
func (f *file) lacking(ts []types.Type) []string {
	var out []string
	for _, t := range ts {
		for n := range namedIn(t) {
			if p := n.Obj().Pkg(); p != nil && p != f.pkg.Types {
				out = append(out, p.Path())
			}
		}
	}
	return out
}

// namedIn are the named types that a type is written with.
func namedIn(t types.Type) map[*types.Named]bool {
	out := map[*types.Named]bool{}
	var look func(t types.Type)
	look = func(t types.Type) {
		switch t := types.Unalias(t).(type) {
		case *types.Named:
			out[t] = true
			for a := range t.TypeArgs().Types() {
				look(a)
			}
		case *types.Pointer:
			look(t.Elem())
		case *types.Slice:
			look(t.Elem())
		case *types.Array:
			look(t.Elem())
		case *types.Map:
			look(t.Key())
			look(t.Elem())
		}
	}
	look(t)
	return out
}

// freshLocal is a name that nothing of the function around a node has.
func (f *file) freshLocal(n ast.Node, want string) string {
	if f.locals == nil {
		f.locals = map[*ast.FuncDecl]map[string]bool{}
	}
	d, ok := enclosing[*ast.FuncDecl](f, n)
	if !ok {
		return f.fresh(n, want)
	}
	taken := f.locals[d]
	if taken == nil {
		taken = map[string]bool{}
		f.locals[d] = taken
		ast.Inspect(d, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				taken[id.Name] = true
			}
			return true
		})
	}
	name := want
	for i := 2; taken[name] || token.IsKeyword(name) || types.Universe.Lookup(name) != nil || f.pkg.Types.Scope().Lookup(name) != nil; i++ {
		name = want + strconv.Itoa(i)
	}
	taken[name] = true
	return name
}

// camel makes "user_presents" "UserPresents"; "id" is "ID".
func camel(name string) string {
	var b strings.Builder
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return r == '_' || !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if up := strings.ToUpper(part); slices.Contains([]string{"ID", "URL", "IP"}, up) {
			b.WriteString(up)
			continue
		}
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

// lower makes the first word of a camel name small: "UserID" "userID", "ID" "id".
func lower(name string) string {
	n := 0
	for n < len(name) && name[n] >= 'A' && name[n] <= 'Z' {
		n++
	}
	if n > 1 && n < len(name) {
		n--
	}
	if n == 0 {
		return name
	}
	return strings.ToLower(name[:n]) + name[n:]
}

// literal of a text: raw where it has several lines.
func literal(text string) string {
	if strings.Contains(text, "\n") && !strings.ContainsAny(text, "`\r") {
		return "`" + text + "`"
	}
	return strconv.Quote(text)
}

// anyText is the empty interface in the words of the module's version of Go.
func (f *file) anyText() string {
	if f.newer(18) {
		return "any"
	}
	return "interface{}"
}

// newer reports whether the module's version of Go is 1.minor at least.
func (f *file) newer(minor int) bool {
	if f.pkg.Module == nil {
		return false
	}
	_, rest, _ := strings.Cut(f.pkg.Module.GoVersion, ".")
	have, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(have)
	return err == nil && n >= minor
}

// packageName is how the file calls a package that is imported, or will be.
func (f *file) packageName(path string) string {
	for _, i := range f.syntax.Imports {
		if name, err := strconv.Unquote(i.Path.Value); err == nil && name == path {
			if o := f.pkg.TypesInfo.PkgNameOf(i); o != nil && o.Name() != "_" && o.Name() != "." {
				return o.Name()
			}
		}
	}
	return path[strings.LastIndex(path, "/")+1:]
}
