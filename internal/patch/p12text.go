package patch

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
)

// write takes it from a pool, and puts it back when the function ends.
func (r *remade) write(at *Place) {
	f, name := r.f, r.v.Name()
	noun := camel(strings.ReplaceAll(r.of.noun, " ", "_"))
	pool := f.fresh(r.stmt, lower(camel(f.functionName(r.stmt)))+plural(strings.ReplaceAll(noun, "-", "")))
	t, ok := f.typeText(r.pointer())
	if !ok {
		at.refused(refuse("compiles", "the type has no name in this file"))
		return
	}
	in := f.indent(r.stmt.Pos())
	back := fmt.Sprintf("defer %s.Put(%s)\n", pool, name)
	if r.of.path == "bytes" {
		back = fmt.Sprintf("defer func() {\n%s\tif %s.Cap() <= 1<<20 {\n%s\t\t%s.Put(%s)\n%s\t}\n%s}()\n", in, name, in, pool, name, in, in)
	}
	taken := fmt.Sprintf("%s := %s.Get().(%s)\n%s%s%s", name, pool, t, in, back, in)
	f.declareBefore(at, r.stmt, fmt.Sprintf("// %s are %s that %s has done with.\nvar %s = %s.Pool{New: func() %s { %s }}\n",
		pool, plural(r.of.noun), f.function(r.stmt), pool, f.packageName("sync"), f.anyText(), r.anew(t)))
	r.reset(at, taken)
	at.imports = append(at.imports, "sync")
	if r.of.path != "bytes" && r.of.typ == "" {
		at.imports = append(at.imports, "hash")
	}
	r.says(at)
}

// pointer is the type of what the pool has.
func (r *remade) pointer() types.Type {
	if r.value {
		return types.NewPointer(r.v.Type())
	}
	return r.v.Type()
}

// anew is the body of the pool's New.
func (r *remade) anew(t string) string {
	f := r.f
	if r.call == nil || r.maker.resetFails {
		return "return new(" + strings.TrimPrefix(t, "*") + ")"
	}
	var args []string
	for i, a := range r.call.Args {
		if i == 0 {
			args = append(args, "nil")
			continue
		}
		args = append(args, f.text(a))
	}
	call := fmt.Sprintf("%s(%s)", f.text(r.call.Fun), strings.Join(args, ", "))
	if r.maker.fails {
		return fmt.Sprintf("\n\tw, _ := %s // the level is right\n\treturn w\n", call)
	}
	return "return " + call
}

// reset writes the statement that makes it anew.
func (r *remade) reset(at *Place, taken string) {
	f, name := r.f, r.v.Name()
	if r.call == nil || r.maker.nothing {
		at.replace(r.stmt, taken+name+".Reset()")
		if r.value {
			r.pointers(at)
		}
		return
	}
	to := r.call.Args[0]
	call := name + ".Reset("
	if r.maker.resetFails {
		op := "="
		if f.info().Defs[r.fails] != nil {
			op = ":="
		}
		call = fmt.Sprintf("%s %s %s.Reset(", r.fails.Name, op, name)
	}
	behind := ")"
	if r.maker.fails && r.check != nil {
		from, end := f.linesOf(r.check)
		at.edits = append(at.edits, edit{from: from, to: end})
		if v, ok := f.info().Defs[r.fails].(*types.Var); ok && f.usesOutside(v, r.check) {
			behind = fmt.Sprintf(")\n%svar %s error", f.indent(r.stmt.Pos()), r.fails.Name)
		}
	}
	at.edits = append(at.edits, edit{from: f.offset(r.stmt.Pos()), to: f.offset(to.Pos()), text: taken + call},
		edit{from: f.offset(to.End()), to: f.offset(r.stmt.End()), text: behind})
}

// usesOutside: a variable is named outside of a node.
func (f *file) usesOutside(v *types.Var, n ast.Node) bool {
	for id, o := range f.info().Uses {
		if o == v && (id.Pos() < n.Pos() || id.Pos() >= n.End()) {
			return true
		}
	}
	return false
}

// pointers writes &b as b: the variable is a pointer now.
func (r *remade) pointers(at *Place) {
	f := r.f
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		u, ok := n.(*ast.UnaryExpr)
		if !ok {
			return true
		}
		if id, ok := u.X.(*ast.Ident); ok && f.info().Uses[id] == r.v {
			at.edits = append(at.edits, edit{from: f.offset(u.Pos()), to: f.offset(id.Pos())})
		}
		return true
	})
}

// isCollected ends what is said of all.
const isCollected = "What the pool has and nobody takes is collected."

// says what the commit's message tells.
func (r *remade) says(at *Place) {
	function := r.f.function(r.stmt)
	at.Subject = fmt.Sprintf("Use what %s makes in each call again", function)
	at.Body = fmt.Sprintf("%s made %s in each call: memory that is cleared, and collected again. Those that it has done with are in a sync.Pool now, and Reset makes one as if it were new. It stays in the function until it ends: nothing returns it, keeps it, or gives it to a goroutine. "+isCollected, function, article(r.of.noun))
	if r.of.path == "bytes" {
		at.Body += " A buffer that has grown above a megabyte is not kept."
	}
	if r.of.other {
		at.Body += " What one packs that was used before is unpacked to the same content; the packed bytes may be others than those of a new one."
	}
}
