package patch

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// plan is a read in a loop with how it is written.
type plan struct {
	at   *Place
	w    *readWriter // nil: it is not understood
	each *eachWriter // nil: it is written by IN, if it is offered
	// followers are reads of the same turn whose keys are of its rows. They are offered with
	// it, as one patch: the new function of this one tells of each row that it reads for
	// several elements, which gives the followers' keys. What they are asked for in their
	// turn is looked up by the values of then, as with all that a UNION ALL reads; so a key
	// that was something else when it was gathered is read alone.
	followers []*plan
	deep      bool // it is written with all that its call reaches
}

// given is a variable that a read puts its row, or a column of it, into.
type given struct {
	by    *plan
	index int // of what the read puts its columns into
	name  string
}

// follow finds the reads that are refused for their keys alone, where the keys are of rows
// that earlier reads of the turn give.
func follow(all []*plan) {
	byLoop := map[ast.Stmt]map[*types.Var]*given{}
	for more := true; more; {
		more = false
		for _, p := range all {
			p.noteGiven(byLoop)
		}
		for _, p := range all {
			if p.w == nil || p.w.loop == nil || p.at.Refused == nil || p.at.Refused.Need != "key" {
				continue
			}
			by := p.follows(byLoop[p.w.loop.node])
			switch {
			case by == nil:
			case slices.ContainsFunc(all, func(q *plan) bool { return q != p && q.each != nil && q.each.given != nil && q.node() == p.node() }):
				p.each = nil
				p.at.Refused = refuse("function", "another read of %s follows a row, and one patch cannot change both", p.w.f.function(p.w.via.decl))
			default:
				by.take(p)
				more = true
			}
		}
	}
	for _, p := range all {
		if p.w != nil && p.w.loop != nil && p.at.Refused != nil && p.at.Refused.Need == "key" {
			p.tellRefused(all)
		}
	}
}

// tellRefused says of a read whose keys are of the row of another one that this one is
// refused itself.
func (p *plan) tellRefused(all []*plan) {
	for _, by := range all {
		if by == p || by.w == nil || by.w.loop == nil || by.w.loop.node != p.w.loop.node || by.at.Refused == nil || by.pos() >= p.pos() {
			continue
		}
		for _, v := range by.variables() {
			if v != nil && p.w.loop.inside(v) && p.names(v) {
				p.at.Refused = refuse("key", "%s is of the row of the read in line %d, which is refused itself", v.Name(), by.at.Line)
				return
			}
		}
	}
}

// names: an argument of the statement, or of the function that it stands in, names a
// variable of the loop.
func (p *plan) names(v *types.Var) bool {
	args := p.w.args
	if via := p.w.via; via != nil {
		given := via.named(args...)
		args = nil
		for _, v := range given {
			args = append(args, via.args[v])
		}
	}
	found := false
	for _, a := range args {
		ast.Inspect(a, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && p.w.loop.f.info().Uses[id] == v {
				found = true
			}
			return !found
		})
	}
	return found
}

// variables of the loop's code that the read puts its columns into, or its row; nil for
// those that are something else.
func (p *plan) variables() []*types.Var {
	var out []*types.Var
	for _, d := range p.w.dsts {
		v := p.w.f.variable(addressed(d))
		if p.w.via != nil {
			v = p.w.via.resultOf(v)
		}
		out = append(out, v)
	}
	return out
}

// follows is the read whose rows give the keys; nil if there is none.
func (p *plan) follows(all map[*types.Var]*given) *plan {
	l := p.w.loop
	l.given = map[*types.Var]*given{}
	for v, g := range all {
		if g != nil && g.by != p && g.by.pos() < p.pos() && g.by.keeps(v, p) {
			l.given[v] = g
		}
	}
	if len(l.given) == 0 {
		return nil
	}
	each, r := p.w.eachOf()
	if r == nil && each.given == nil {
		r = p.at.Refused
	}
	if p.at.Refused = r; r != nil {
		return nil
	}
	p.each = each
	return each.keys[0].from.row.by
}

// take notes a follower, and which parts of the row it wants to be told of.
func (p *plan) take(next *plan) {
	for _, k := range next.each.keys {
		p.w.names[k.from.row.index] = k.from.row.name
	}
	p.w.followers = append(p.w.followers, next.each)
	p.followers = append(p.followers, next)
}

// pos is where the loop asks for the row.
func (p *plan) pos() int { return p.w.loop.f.offset(p.node().Pos()) }

func (p *plan) node() ast.Node {
	if p.w.via != nil {
		return p.w.via.call
	}
	return p.w.whole
}

// noteGiven notes the variables of a loop that the read of one that is offered fills. One
// that two reads fill is nobody's.
func (p *plan) noteGiven(byLoop map[ast.Stmt]map[*types.Var]*given) {
	if p.at.Refused != nil || p.w.list || p.w.names != nil {
		return
	}
	w := p.w
	w.names = slices.Repeat([]string{"_"}, len(w.dsts))
	for i, v := range p.variables() {
		if v == nil || !w.loop.inside(v) || w.intoStruct == nil && isPointer(w.rowTypes()[i]) {
			continue
		}
		if byLoop[w.loop.node] == nil {
			byLoop[w.loop.node] = map[*types.Var]*given{}
		}
		if _, twice := byLoop[w.loop.node][v]; twice {
			byLoop[w.loop.node][v] = nil
		} else {
			byLoop[w.loop.node][v] = &given{p, i, v.Name()}
		}
	}
}

// variable that an expression is; nil if it is none.
func (f *file) variable(e ast.Expr) *types.Var {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	v, _ := f.info().Uses[id].(*types.Var)
	return v
}

// resultOf is the variable of the loop that gets what the function returns of one of its
// own variables, or a pointer to it; nil if none does.
func (s *site) resultOf(v *types.Var) *types.Var {
	made, ok := s.f.parents[s.call].(*ast.AssignStmt)
	if !ok || v == nil || len(made.Rhs) != 1 {
		return nil
	}
	at := s.returned(v)
	if at < 0 {
		at = s.namedResult(v)
	}
	if at < 0 || at >= len(made.Lhs) {
		return nil
	}
	return s.f.defined(made.Lhs[at])
}

// returned is which result a return gives a variable of the function as, or a pointer to
// it; -1: none does.
func (s *site) returned(v *types.Var) int {
	at := -1
	ast.Inspect(s.decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if i := slices.IndexFunc(n.Results, func(r ast.Expr) bool { return s.in.variable(addressed(r)) == v }); i >= 0 {
				at = i
			}
		}
		return true
	})
	return at
}

// namedResult is which result a variable is; -1: none.
func (s *site) namedResult(v *types.Var) int {
	results := s.in.info().Defs[s.decl.Name].(*types.Func).Signature().Results()
	for i := range results.Len() {
		if results.At(i) == v {
			return i
		}
	}
	return -1
}

// keeps: nothing gives the variable another value between the read and another one, as far
// as the function tells.
func (p *plan) keeps(v *types.Var, until *plan) bool {
	f, own, keeps := p.w.loop.f, p.node(), true
	decl, ok := enclosing[*ast.FuncDecl](f, p.w.loop.node)
	if !ok {
		return false
	}
	outside := func(n ast.Node) bool { return n.Pos() < own.Pos() || n.Pos() >= own.End() }
	f.changes(decl.Body, func(e ast.Expr) {
		if f.valueRoot(e) == v && outside(e) {
			keeps = false
		}
	})
	ast.Inspect(p.w.loop.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr: // that is given a pointer
			if isPointer(v.Type()) && outside(n) && n.Pos() < until.node().Pos() && !f.info().Types[n.Fun].IsBuiltin() && slices.ContainsFunc(n.Args, func(a ast.Expr) bool { return f.variable(a) == v }) {
				keeps = false
			}
		case *ast.AssignStmt: // of what is behind it
			for _, l := range n.Lhs {
				if star, ok := ast.Unparen(l).(*ast.StarExpr); ok && f.variable(star.X) == v {
					keeps = false
				}
			}
		}
		return keeps
	})
	return keeps
}

// checkGiven notes the read whose rows give the keys, which is one for all of them.
func (w *eachWriter) checkGiven() *Refusal {
	for _, k := range w.keys {
		if k.from.row != nil {
			w.given = k.from.row.by.w
		}
	}
	if w.given == nil {
		return nil
	}
	for _, k := range w.keys {
		if k.from.row == nil || k.from.row.by.w != w.given {
			return refuse("key", "its values are of the row that an earlier read gives, and of something else")
		}
	}
	if r := w.given.canTell(w.loop.f); r != nil {
		return r
	}
	return nil
}

// write makes the edits of a place that is offered and follows no other one.
func (p *plan) write() {
	if p.deep || p.at.Refused != nil || p.at.lead != nil || p.each != nil && p.each.given != nil {
		return
	}
	p.writeInto(p.at)
	if len(p.followers) == 0 {
		return
	}
	p.tell()
	if _, err := Files([]*Place{p.at}); err != nil { // alone, then
		p.leave(refuse("compiles", "with %s, whose rows give its key: %v", p.w.sql.table, err))
		p.at.edits, p.at.imports, p.at.freed, p.at.beside = nil, nil, nil, nil
		p.writeInto(p.at)
	}
}

// writeInto makes the edits of a read and of its followers in one place.
func (p *plan) writeInto(lead *Place) {
	p.w.place = lead
	if p.each != nil {
		p.each.write()
	} else {
		p.w.write()
	}
	for _, next := range p.followers {
		next.at.lead = lead
		next.writeInto(lead)
	}
}

// leave refuses the followers.
func (p *plan) leave(r *Refusal) {
	for _, next := range p.followers {
		next.leave(r)
		next.at.lead = nil
		next.at.refused(r)
	}
	p.followers, p.w.followers, p.w.hear = nil, nil, ""
}

// tables that the followers read, in their order.
func (p *plan) tables() []string {
	var out []string
	for _, next := range p.followers {
		for _, t := range append([]string{next.w.sql.table}, next.tables()...) {
			if !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	return out
}

// count of the followers, and theirs.
func (p *plan) count() int {
	n := len(p.followers)
	for _, next := range p.followers {
		n += next.count()
	}
	return n
}

// tell adds the followers to the commit's message.
func (p *plan) tell() {
	own, of := p.w.sql.table, p.tables()
	all := of
	if !slices.Contains(of, own) {
		all = append([]string{own}, of...)
	}
	p.at.Subject = fmt.Sprintf("Read rows of %s together in %s", listed(all), p.w.loop.f.function(p.w.loop.node))
	reads, whose, they := "read", "its", "It is"
	if p.count() > 1 {
		reads, whose, they = "reads", "their", "They are"
	}
	p.at.Body += fmt.Sprintf("\n\nThese rows give the values of %d more %s in each turn, of %s. %s sent by UNION ALL in the same way, up to 64 at a time, when the first is needed: %s values are gathered as the rows are read. A value that is another one when its turn has come is read alone.", p.count(), reads, listed(of), they, whose)
}

// listed is "a, b and c".
func listed(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}
