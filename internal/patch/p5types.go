package patch

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

// sameByText shows that rows that come as text give the values that they give in binary.
func (p *Program) sameByText() *Refusal {
	if p.textChecked {
		return p.textRefused
	}
	p.textChecked = true
	p.textRefused = p.lookAtText()
	return p.textRefused
}

func (p *Program) lookAtText() *Refusal {
	for _, t := range p.schema.tables {
		for name, kind := range t.columns {
			if kind == "float" || kind == "float4" {
				return refuse("types", "the schema has a FLOAT column, %s: as text it has six digits", name)
			}
		}
	}
	old := false
	for _, pkg := range p.packages {
		if d := pkg.Imports[driverPath]; d != nil && !atLeast18(d) {
			old = true
		}
	}
	for _, f := range p.files {
		if r := f.lookAtText(old, len(p.schema.tables) == 0); r != nil {
			return r
		}
	}
	return nil
}

func atLeast18(d *packages.Package) bool {
	if d.Module == nil {
		return false
	}
	major, rest, _ := strings.Cut(strings.TrimPrefix(d.Module.Version, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(minor)
	return err == nil && (major != "1" || n >= 8)
}

// lookAtText refuses destinations whose value depends on the protocol.
func (f *file) lookAtText(old, noSchema bool) *Refusal {
	var r *Refusal
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				up := strings.ToUpper(constant.StringVal(constant.MakeFromLiteral(lit.Value, token.STRING, 0)))
				if strings.Contains(up, "SET NAMES") && charset("charset="+strings.ToLower(up)) != nil {
					r = refuse("charset", "a statement sets it in line %d", f.line(lit.Pos()))
				}
			}
			return true
		}
		if c := f.dbCall(call); c != nil && r == nil {
			r = f.bytesAsText(c)
		}
		sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if !ok {
			return true
		}
		fn, ok := f.info().Uses[sel.Sel].(*types.Func)
		if !ok || pathOf(fn) != sqlPath && pathOf(fn) != sqlxPath {
			return true
		}
		name := strings.TrimSuffix(fn.Name(), "Context")
		if old && (name == "MapScan" || name == "SliceScan") {
			r = refuse("types", "rows are read into interfaces in line %d, and the driver is older than 1.8", f.line(call.Pos()))
		}
		if name != "Scan" && name != "Get" && name != "Select" && name != "StructScan" {
			return true
		}
		for _, a := range call.Args {
			if r == nil {
				r = f.destination(a, old, noSchema)
			}
		}
		return true
	})
	return r
}

func (f *file) destination(a ast.Expr, old, noSchema bool) *Refusal {
	p, ok := f.info().TypeOf(a).Underlying().(*types.Pointer)
	if !ok {
		return nil
	}
	for t := range leaves(p.Elem()) {
		switch u := t.Underlying().(type) {
		case *types.Interface:
			if old && u.Empty() {
				return refuse("types", "a value is read into an interface in line %d, and the driver is older than 1.8", f.line(a.Pos()))
			}
		case *types.Basic:
			if noSchema && (u.Kind() == types.Float32 || u.Kind() == types.Float64) {
				return refuse("types", "a value is read into a %s in line %d, and no schema shows that its column is no FLOAT", u.Name(), f.line(a.Pos()))
			}
		}
	}
	return nil
}

// leaves are the types that a destination is made of.
func leaves(t types.Type) map[types.Type]bool {
	out, seen := map[types.Type]bool{}, map[types.Type]bool{}
	var look func(t types.Type)
	look = func(t types.Type) {
		if seen[t] {
			return
		}
		seen[t] = true
		switch u := t.Underlying().(type) {
		case *types.Struct:
			for v := range u.Fields() {
				look(v.Type())
			}
		case *types.Slice:
			look(u.Elem())
		case *types.Pointer:
			look(u.Elem())
		default:
			out[t] = true
		}
	}
	look(t)
	return out
}

// bytesAsText refuses bytes as a value of a statement, which the driver writes as
// _binary'…': compared byte by byte, and no JSON. Inserted into a column of bytes they
// are the same.
func (f *file) bytesAsText(c *dbCall) *Refusal {
	in, why := parseInsert(c.text)
	for i, a := range c.args {
		s, ok := f.info().TypeOf(a).Underlying().(*types.Slice)
		if !ok || named(f.info().TypeOf(a), "encoding/json", "RawMessage") {
			continue
		}
		if b, ok := s.Elem().Underlying().(*types.Basic); !ok || b.Kind() != types.Byte {
			continue
		}
		if c.known && why == "" && in.params == len(in.columns) && i < len(in.columns) {
			if t := f.program.schema.typeOf(in.table, in.columns[i]); strings.Contains(t, "blob") || strings.Contains(t, "binary") {
				continue
			}
		}
		return refuse("types", "bytes are a value of the statement in line %d of %s: put into the text, they are compared byte by byte", f.line(a.Pos()), f.rel)
	}
	return nil
}
