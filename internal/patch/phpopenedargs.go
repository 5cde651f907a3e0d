package patch

import (
	"slices"
	"strings"

	"kasoku/internal/lazyregexp"
)

// checkBody: the function does nothing but open the connection and set it up.
func (o *phpOpened) checkBody() *Refusal {
	others := 0
	inScope(o.fn.node, func(n *phpNode) {
		if opensConnection(n) != "" {
			others++
		}
	})
	if others > 1 {
		return refuse("function", "%s opens several connections", o.fn.node.Name())
	}
	if o.held.Variable() != "" {
		for _, use := range usesOf(o.fn.node, o.held.Variable()) {
			if use.Parent.Is("Stmt_Global", "Expr_AssignRef", "Expr_ClosureUse") || use.Is("Expr_ClosureUse") {
				return refuse("function", "%s is more than a variable of %s", o.fn.f.phpText(o.held), o.fn.node.Name())
			}
		}
	} else if o.held != nil && !o.held.Is("Expr_PropertyFetch", "Expr_StaticPropertyFetch") {
		return refuse("function", "%s puts the connection elsewhere", o.fn.node.Name())
	}
	return o.checkStatements(o.fn.node.List("stmts"))
}

func (o *phpOpened) checkStatements(stmts []*phpNode) *Refusal {
	for _, s := range stmts {
		if why := o.checkStatement(s); why != nil {
			return why
		}
	}
	return nil
}

func (o *phpOpened) checkStatement(s *phpNode) *Refusal {
	more := refuse("function", "line %d of %s does more than open a connection", s.Line, o.fn.f.rel)
	switch {
	case s.Is("Stmt_Nop", "Stmt_Global"):
	case s.Is("Stmt_Return"):
		if e := s.Node("expr"); e != nil && !o.isHeld(e) && !e.Is("Expr_ConstFetch") {
			return more
		}
	case s.Is("Stmt_TryCatch"):
		if s.Node("finally") != nil {
			return more
		}
		if why := o.checkStatements(s.List("stmts")); why != nil {
			return why
		}
		for _, c := range s.List("catches") {
			if !o.endsWithout(c) {
				return refuse("function", "an error in line %d does not end %s, nor give null", c.Line, o.fn.node.Name())
			}
		}
	case s.Is("Stmt_If"):
		return o.checkFailed(s, more)
	case s.Is("Stmt_Expression"):
		return o.checkExpression(s.Node("expr"), more)
	default:
		return more
	}
	return nil
}

// endsWithout: what a failure leads to ends the function, or leaves what holds the connection
// null.
func (o *phpOpened) endsWithout(c *phpNode) bool {
	stmts := c.List("stmts")
	if n := len(stmts); n > 0 && (stmts[n-1].Is("Stmt_Throw") || stmts[n-1].Is("Stmt_Return") && stmts[n-1].Node("expr").Is("Expr_ConstFetch") || stmts[n-1].Is("Stmt_Expression") && stmts[n-1].Node("expr").Is("Expr_Throw", "Expr_Exit")) {
		return true
	}
	first := o.fn.node.List("stmts")[0].Node("expr")
	return !o.setUp && o.held != nil && first.Is("Expr_Assign") && o.isHeld(first.Node("var")) && isNullPHP(first.Node("expr"))
}

func isNullPHP(e *phpNode) bool {
	return e.Is("Expr_ConstFetch") && strings.EqualFold(e.Node("name").Name(), "null")
}

// checkFailed: an if looks whether the connection is there, and ends if it is not.
func (o *phpOpened) checkFailed(s *phpNode, more *Refusal) *Refusal {
	if s.Node("else") != nil || len(s.List("elseifs")) > 0 || !o.endsWithout(s) {
		return more
	}
	var why *Refusal
	s.Node("cond").Walk(func(n *phpNode) bool {
		if n.Is("Expr_Assign", "Expr_MethodCall", "Expr_StaticCall", "Expr_New") || n.Is("Expr_FuncCall") && !slices.Contains([]string{"mysqli_connect_errno", "mysqli_connect_error"}, calledName(n)) {
			why = more
		}
		return true
	})
	return why
}

// phpSetUps are the calls that set a connection up.
var phpSetUps = phpNames(`setattribute exec query set_charset select_db options mysqli_set_charset mysqli_select_db mysqli_query mysqli_options`)

// checkExpression: it opens the connection, makes what that takes, or sets it up.
func (o *phpOpened) checkExpression(e *phpNode, more *Refusal) *Refusal {
	if e.Is("Expr_Assign") {
		v := e.Node("var")
		switch {
		case o.isHeld(v) && (e.Node("expr") == o.made || isNullPHP(e.Node("expr"))):
		case v.Variable() == "" || v.Variable() == "this":
			return more
		case !o.same(e.Node("expr"), 0):
			return refuse("arguments", "%s may be another one in each call", short(o.fn.f.phpText(e.Node("expr"))))
		}
		return nil
	}
	args, plain := ownArgs(e)
	switch {
	case calledNameOf(e) == "mysqli_report" && e.Is("Expr_FuncCall"):
		return nil
	case !phpSetUps[calledNameOf(e)] || !plain || !o.isHeld(objectOf(e)):
		return more
	}
	name := bareName(e)
	o.setUp = o.setUp || name != "setattribute"
	for _, a := range args {
		if !o.same(a, 0) {
			return refuse("arguments", "%s may be another one in each call", short(o.fn.f.phpText(a)))
		}
	}
	if ps := o.pieces(args[0]); (name == "exec" || name == "query") && (len(ps) == 0 || !phpSetsUp.MatchString(ps[0].text)) {
		return more
	}
	return nil
}

var phpSetsUp = lazyregexp.New(`(?i)^\s*(SET\s+(SESSION|NAMES|CHARACTER|CHARSET|\w+\s*=)|USE\s)[^;]*;?\s*$`)

// checkGiven: what the connection is opened with is the same in the whole request.
func (o *phpOpened) checkGiven() *Refusal {
	for _, a := range o.made.List("args") {
		text := o.fn.f.phpText(a)
		switch {
		case !o.same(a.Node("value"), 0):
			return refuse("arguments", "%s may be another one in each call", short(text))
		case strings.Contains(text, "ATTR_PERSISTENT") || strings.HasPrefix(strings.Trim(text, `'"`), "p:"):
			return refuse("arguments", "PHP keeps the connection itself: %s", short(text))
		}
	}
	return nil
}

const mostGiven = 12 // steps to what an argument is made of

// phpSame are functions of PHP that give the same each time that they are given the same.
var phpSame = phpNames(`getenv sprintf implode join trim ltrim rtrim dirname intval strval constant defined array_merge realpath explode str_replace strtolower parse_url parse_ini_file`)

var phpEnvSet = lazyregexp.New(`(?i)\bputenv\s*\(|\$_(ENV|SERVER)\s*(\[[^\]]*\]\s*)?=[^=>]|\$GLOBALS\s*\[\s*\$`)

// same: an expression of the function gives the same in the whole request.
func (o *phpOpened) same(e *phpNode, depth int) bool {
	all := func(es ...*phpNode) bool {
		return !slices.ContainsFunc(es, func(e *phpNode) bool { return e != nil && !o.same(e, depth+1) })
	}
	switch {
	case depth > mostGiven:
		return false
	case e.Is("Scalar_String", "Scalar_EncapsedStringPart", "Scalar_LNumber", "Scalar_DNumber", "Expr_ConstFetch", "Expr_ClassConstFetch", "Scalar_MagicConst_Dir", "Scalar_MagicConst_File"):
		return true
	case e.Is("Scalar_Encapsed", "Expr_Array", "Expr_Isset"):
		return all(append(append(slices.Clone(e.List("parts")), e.List("items")...), e.List("vars")...)...)
	case strings.HasPrefix(e.Kind, "Expr_BinaryOp_"):
		return all(e.Node("left"), e.Node("right"))
	case strings.HasPrefix(e.Kind, "Expr_Cast_"), e.Is("Expr_BooleanNot"):
		return all(e.Node("expr"))
	case e.Is("Expr_Ternary"):
		return all(e.Node("cond"), e.Node("if"), e.Node("else"))
	case e.Is("Expr_ArrayItem"):
		return !e.Has("byRef") && all(e.Node("key"), e.Node("value"))
	case e.Is("Expr_FuncCall"):
		args, plain := e.Args()
		return plain && phpSame[calledName(e)] && len(o.named(calledName(e))) == 0 && all(args...) && (calledName(e) != "getenv" || o.envStays())
	case e.Is("Expr_ArrayDimFetch"):
		return o.sameElement(e, depth)
	case e.Is("Expr_PropertyFetch", "Expr_StaticPropertyFetch"):
		return o.sameProperty(e.Name())
	case e.Variable() != "":
		return o.sameVariable(e.Variable(), depth)
	}
	return false
}

func (o *phpOpened) envStays() bool {
	return !slices.ContainsFunc(o.files, func(f *file) bool { return phpEnvSet.MatchString(string(f.src)) })
}

// sameElement: an element of an array is.
func (o *phpOpened) sameElement(e *phpNode, depth int) bool {
	switch of := e.Node("var").Variable(); of {
	case "_ENV", "_SERVER":
		return o.envStays() && constantPHP(e.Node("dim"))
	case "GLOBALS":
		return e.Node("dim").Is("Scalar_String") && o.envStays() && o.sameGlobal(e.Node("dim").Text("value"))
	}
	return e.Node("dim") != nil && o.same(e.Node("var"), depth+1) && o.same(e.Node("dim"), depth+1)
}

// sameVariable: a variable of the function only has such values.
func (o *phpOpened) sameVariable(name string, depth int) bool {
	given := 0
	for _, use := range usesOf(o.fn.node, name) {
		switch to := phpAssigned(use); {
		case use.Parent.Is("Stmt_Global"):
			return o.sameGlobal(name)
		case to != nil && o.same(to, depth+1):
			given++
		case to != nil || o.mayChange(use):
			return false
		}
	}
	return given > 0
}

// sameGlobal: a variable of no function is given a value once in the program, not in a loop.
func (o *phpOpened) sameGlobal(name string) bool {
	given, plain := 0, true
	for _, f := range o.holding(name) {
		f.php.tree.Walk(func(n *phpNode) bool {
			switch {
			case n.Is("Expr_ArrayDimFetch") && n.Node("var").Variable() == "GLOBALS" && n.Node("dim").Text("value") == name && o.mayChange(n):
				given, plain = given+1, false
			case n.Variable() == name && isGlobal(n) && o.mayChange(n) && !n.Parent.Is("Stmt_Global"):
				given++
				plain = plain && phpScope(n).Kind == "" && !loopAround(n).Is(phpLoops...)
			}
			return true
		})
	}
	return given == 1 && plain && o.envStays()
}

// isGlobal: a variable is of no function, or is taken from there.
func isGlobal(v *phpNode) bool {
	scope := phpScope(v)
	return scope.Kind == "" || slices.ContainsFunc(usesOf(scope, v.Variable()), func(u *phpNode) bool { return u.Parent.Is("Stmt_Global") })
}

// phpPropertySet gives a property whose name is computed a value.
var phpPropertySet = lazyregexp.New(`->\s*[${][^;()=]*=[^=>]`)

// sameProperty: nothing of the program gives a property of the name another value than its
// declaration does.
func (o *phpOpened) sameProperty(name string) bool {
	same, declared := name != "", 0
	for _, f := range o.holding(name) {
		f.php.tree.Walk(func(n *phpNode) bool {
			switch {
			case n.Is("Stmt_Property"):
				for _, one := range n.List("props") {
					if one.Name() == name {
						declared++
						same = same && one.Node("default") != nil
					}
				}
			case n.Is("Param") && n.Int("flags") != 0 && n.Node("var").Variable() == name,
				n.Is("Expr_PropertyFetch", "Expr_StaticPropertyFetch") && n.Name() == name && o.mayChange(n):
				same = false
			}
			return true
		})
	}
	computed := slices.ContainsFunc(o.files, func(f *file) bool { return phpPropertySet.MatchString(string(f.src)) })
	return same && declared == 1 && !computed
}
