package patch

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"time"
)

// keptFor is how old what P9 keeps may become: other programs may write the table.
const keptFor = time.Second

// masterRead is a function that does nothing but read what nothing of the program writes.
type masterRead struct {
	*dbCall
	f       *file
	decl    *ast.FuncDecl
	results []types.Type // without the error
	tables  []string
}

// findMasterReads finds P9.
func findMasterReads(p *Program) []*Place {
	var out []*Place
	for _, f := range p.files {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			m := f.masterRead(call)
			if m == nil {
				return true
			}
			at := f.place("P9", call, "the same read of data that the program does not write, in each call")
			at.Statement = m.text
			at.refused(f.own()).refused(p.onlyMySQL()).refused(m.check())
			if at.Refused == nil {
				at.Tables, at.Staleness = m.tables, keptFor
				m.write(at)
			}
			out = append(out, at)
			return true
		})
	}
	return out
}

// masterRead understands a read with a constant text and no values; nil if the call is none.
func (f *file) masterRead(call *ast.CallExpr) *masterRead {
	c := f.dbCall(call)
	if c == nil || !c.known || len(c.args) > 0 || c.spread || !slices.Contains([]string{"Query", "QueryRow", "Get", "Select", "Queryx", "QueryRowx"}, c.method) {
		return nil
	}
	decl, ok := enclosing[*ast.FuncDecl](f, call)
	if !ok || !strings.EqualFold(firstWord(c.text), "SELECT") || !f.givesRead(decl) || f.inRequest(call) != nil {
		return nil
	}
	return &masterRead{dbCall: c, f: f, decl: decl}
}

// givesRead: a function gives something and an error.
func (f *file) givesRead(d *ast.FuncDecl) bool {
	fn, ok := f.info().Defs[d.Name].(*types.Func)
	if !ok {
		return false
	}
	results := fn.Signature().Results()
	return results.Len() > 1 && types.Identical(results.At(results.Len()-1).Type(), types.Universe.Lookup("error").Type())
}

func firstWord(text string) string {
	if ws, ok := words(text); ok && len(ws) > 0 {
		return ws[0].text
	}
	return ""
}

func (m *masterRead) check() *Refusal {
	b, why := parseBranch(m.text)
	switch {
	case why != "":
		return refuse("statement", "%s", why)
	case b.params > 0 || len(b.tables) == 0:
		return refuse("statement", "it has values, or no table")
	case !named(m.kind, sqlPath, "DB") && !named(m.kind, sqlxPath, "DB") || !isPointer(m.kind):
		return refuse("handle", "%s is a %s: a transaction may see rows of its own", short(m.f.text(m.handle)), m.f.typeName(m.kind))
	}
	m.tables = m.f.program.schema.named(m.text, b.tables)
	for _, check := range []func() *Refusal{m.checkTables, m.checkResults, m.checkBody, m.checkOnly} {
		if r := check(); r != nil {
			return r
		}
	}
	return nil
}

// named are tables, and those whose name stands anywhere in a text.
func (s *schema) named(text string, tables []string) []string {
	out := slices.Clone(tables)
	for t := range s.tables {
		if names(text, t) && !slices.ContainsFunc(out, func(o string) bool { return strings.EqualFold(o, t) }) {
			out = append(out, t)
		}
	}
	slices.Sort(out)
	return out
}

// checkTables: the schema shows that they are tables, which nothing fills by itself.
func (m *masterRead) checkTables() *Refusal {
	s := m.f.program.schema
	for _, t := range m.tables {
		if s.tables[strings.ToLower(t)] == nil {
			return refuse("schema", "no .sql file shows that %s is a table, and not a view of others", t)
		}
	}
	if s.acts {
		return refuse("schema", "the schema has a trigger, or a foreign key that changes rows")
	}
	return nil
}

// checkResults: what it gives can be kept, and copied for each caller.
func (m *masterRead) checkResults() *Refusal {
	f := m.f
	sig := f.info().Defs[m.decl.Name].(*types.Func).Signature()
	n := sig.Results().Len()
	if sig.Variadic() || sig.TypeParams().Len()+sig.RecvTypeParams().Len() > 0 {
		return refuse("function", "%s has as many parameters as one likes, or ones for types", f.function(m.decl))
	}
	for v := range sig.Params().Variables() {
		if v.Name() == "" || v.Name() == "_" || !named(v.Type(), "context", "Context") && !isHandle(v.Type()) {
			return refuse("function", "%s has a parameter beside a context and a database", f.function(m.decl))
		}
	}
	for i := range n - 1 {
		if r := f.copied(sig.Results().At(i).Type()); r != nil {
			return r
		}
		m.results = append(m.results, sig.Results().At(i).Type())
	}
	return nil
}

// copied refuses a type of which a copy shares memory with what it is of.
func (f *file) copied(t types.Type) *Refusal {
	if s, ok := t.Underlying().(*types.Slice); ok {
		if !f.newer(21) {
			return refuse("compiles", "slices.Clone needs Go 1.21, and go.mod says less")
		}
		t = s.Elem()
	}
	_, isStruct := t.Underlying().(*types.Struct)
	switch {
	case isPlain(t):
	case !isStruct:
		return refuse("results", "two callers would share a %s", f.typeName(t))
	case plainFields(t) != nil:
		return refuse("results", "two callers would share what a %s points to", f.typeName(t))
	}
	return nil
}

// checkBody: the function does nothing but this read.
func (m *masterRead) checkBody() (out *Refusal) {
	f := m.f
	ast.Inspect(m.decl.Body, func(n ast.Node) bool {
		if out != nil {
			return false
		}
		switch n := n.(type) {
		case *ast.CallExpr:
			out = m.checkCall(n)
		case *ast.FuncLit, *ast.GoStmt, *ast.SendStmt, *ast.SelectStmt:
			out = refuse("function", "line %d does more than read", f.line(n.Pos()))
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, l := range n.Lhs {
					if root := f.valueRoot(l); f.text(l) != "_" && (root == nil || !m.local(root)) {
						out = refuse("function", "line %d changes something else", f.line(n.Pos()))
					}
				}
			}
		case *ast.Ident:
			out = m.checkName(n)
		}
		return out == nil
	})
	return out
}

// local: a variable of the function, or a result of it.
func (m *masterRead) local(v *types.Var) bool {
	return v.Pos() >= m.decl.Body.Pos() && v.Pos() < m.decl.Body.End() || m.decl.Type.Results.Pos() <= v.Pos() && v.Pos() < m.decl.Type.Results.End()
}

// checkName: parameters, the receiver and variables of the package are only named by the
// handle and the context.
func (m *masterRead) checkName(id *ast.Ident) *Refusal {
	v, ok := m.f.info().Uses[id].(*types.Var)
	if !ok || v.IsField() || m.local(v) || types.Identical(v.Type(), types.Universe.Lookup("error").Type()) {
		return nil
	}
	for n := ast.Node(id); n != nil && n != ast.Node(m.decl); n = m.f.parents[n] {
		if n == ast.Node(m.handle) || m.ctx != nil && n == ast.Node(m.ctx) {
			return nil
		}
	}
	return refuse("function", "line %d looks at %s, which may be another one in each call", m.f.line(id.Pos()), id.Name)
}

// checkCall: the read itself, what its rows are read by, and what makes errors.
func (m *masterRead) checkCall(call *ast.CallExpr) *Refusal {
	f := m.f
	if tv := f.info().Types[call.Fun]; call == m.call || tv.IsType() || tv.IsBuiltin() && f.text(call.Fun) != "panic" {
		return nil
	}
	path, name, fn := f.calls(call)
	switch {
	case fn == nil:
	case path == "errors" || path == "fmt" && name == "Errorf":
		return nil
	case (path == sqlPath || path == sqlxPath) && slices.Contains([]string{"Scan", "StructScan", "Next", "Close", "Err"}, name):
		return nil
	}
	return refuse("function", "line %d calls %s", f.line(call.Pos()), short(f.text(call.Fun)))
}
