package patch

import (
	"fmt"
	"slices"
	"strings"
)

const mostTypeDepth = 5

// phpHandleTypes are the classes of connections.
var phpHandleTypes = []string{"PDO", "mysqli"}

// handleType is the class of a connection, "" if it is not known to be one.
func (p *php) handleType(f *file, e *phpNode, depth int) string {
	if depth > mostTypeDepth || e == nil {
		return ""
	}
	switch {
	case e.Is("Expr_Assign", "Expr_AssignOp_Coalesce"):
		return p.handleType(f, e.Node("expr"), depth)
	case e.Is("Expr_ErrorSuppress"):
		return p.handleType(f, e.Node("expr"), depth)
	case e.Is("Expr_New"):
		return handleClass(e.Node("class"))
	case e.Is("Expr_FuncCall"):
		switch name := strings.ToLower(e.Node("name").Name()); {
		case name == "mysqli_connect" || name == "mysqli_init":
			return "mysqli"
		case name != "":
			return p.resultType(last(name), false, depth)
		}
	case e.Is("Expr_MethodCall", "Expr_StaticCall"):
		return p.resultType(e.Name(), true, depth)
	case e.Is("Expr_PropertyFetch", "Expr_StaticPropertyFetch"):
		return p.propertyType(e.Name(), depth)
	case e.Variable() != "":
		return p.variableType(f, e, depth)
	}
	return ""
}

func last(name string) string { return name[strings.LastIndexByte(name, '\\')+1:] }

// handleClass is the class that a type or a new names, if it is that of a connection.
func handleClass(n *phpNode) string {
	if n.Is("NullableType") {
		n = n.Node("type")
	}
	if !n.Is("Name", "Name_FullyQualified") {
		return ""
	}
	name := n.Resolved
	if name == "" {
		name = n.Name()
	}
	for _, t := range phpHandleTypes {
		if strings.EqualFold(t, name) {
			return t
		}
	}
	return ""
}

// phpParameter is a parameter of a function.
type phpParameter struct {
	fn *phpNode
	at int
}

// agreed is the type that all of several expressions have.
type agreed struct {
	name string
	not  bool
}

func (a *agreed) add(name string) {
	if name == "" || a.name != "" && a.name != name {
		a.not = true
	}
	a.name = name
}

func (a *agreed) is() string {
	if a.not {
		return ""
	}
	return a.name
}

// once finds a type the first time that it is asked for. Where what it finds depends on
// itself, it is unknown meanwhile.
func (p *php) once(key any, find func() string) string {
	if t, done := p.types[key]; done {
		return t
	}
	if p.types == nil {
		p.types = map[any]string{}
	}
	p.types[key] = ""
	t := find()
	p.types[key] = t
	return t
}

// resultType is what all functions, or methods, of a name return.
func (p *php) resultType(name string, method bool, depth int) string {
	key := fmt.Sprintf("result %t %s", method, strings.ToLower(name))
	return p.once(key, func() string { return p.returnedType(name, method, depth) })
}

// returnedType looks at the functions.
func (p *php) returnedType(name string, method bool, depth int) string {
	var all agreed
	for _, fn := range p.named(name) {
		if (fn.class != nil) != method {
			continue
		}
		if t := handleClass(fn.node.Node("returnType")); t != "" {
			all.add(t)
			continue
		}
		returns := 0
		inScope(fn.node, func(n *phpNode) {
			if n.Is("Stmt_Return") && !all.not && !n.Node("expr").Is("Expr_ConstFetch") {
				returns++
				all.add(p.handleType(fn.f, n.Node("expr"), depth+1))
			}
		})
		if returns == 0 {
			all.add("")
		}
	}
	return all.is()
}

// propertyType is the type of all properties of a name.
func (p *php) propertyType(name string, depth int) string {
	if name == "" {
		return ""
	}
	return p.once("property "+name, func() string { return p.assignedProperty(name, depth) })
}

// assignedProperty looks at the classes, and at what is put into it.
func (p *php) assignedProperty(name string, depth int) string {
	var all agreed
	for _, f := range p.holding(name) {
		f.php.tree.Walk(func(n *phpNode) bool {
			switch {
			case n.Is("Stmt_Property") && slices.ContainsFunc(n.List("props"), func(one *phpNode) bool { return one.Name() == name }):
				if t := handleClass(n.Node("type")); t != "" {
					all.add(t)
				} else if n.Has("type") {
					all.add("")
				}
			case n.Is("Param") && n.Int("flags") != 0 && n.Node("var").Variable() == name:
				all.add(handleClass(n.Node("type")))
			case n.Is("Expr_Assign") && n.Node("var").Is("Expr_PropertyFetch", "Expr_StaticPropertyFetch") && n.Node("var").Name() == name && !n.Node("expr").Is("Expr_ConstFetch"):
				all.add(p.handleType(f, n.Node("expr"), depth+1))
			}
			return true
		})
	}
	return all.is()
}

// variableType is the type of a variable where it stands.
func (p *php) variableType(f *file, use *phpNode, depth int) string {
	name, scope := use.Variable(), phpScope(use)
	if scope.Is("Expr_Closure") {
		for _, u := range scope.List("uses") {
			if v := u.Node("var"); v.Variable() == name && !u.Has("byRef") {
				return p.variableType(f, outside(v, scope), depth+1)
			}
		}
	}
	if scope.Kind == "" {
		return p.globalType(name, depth)
	}
	var all agreed
	p.parameterType(&all, scope, name, depth)
	for _, u := range usesOf(scope, name) {
		given := phpAssigned(u)
		if in := u.Parent; in.Is("Expr_AssignOp_Coalesce") && in.Node("var") == u {
			given = in.Node("expr")
		}
		switch {
		case u.Parent.Is("Stmt_Global"):
			all.add(p.globalType(name, depth))
		case given != nil && !given.Is("Expr_ConstFetch"):
			all.add(p.handleType(f, given, depth+1))
		}
	}
	return all.is()
}

// parameterType adds the type of a parameter, if a function has one of that name.
func (p *php) parameterType(all *agreed, scope *phpNode, name string, depth int) {
	for i, param := range scope.List("params") {
		if param.Node("var").Variable() != name {
			continue
		}
		if t := handleClass(param.Node("type")); t != "" || param.Has("type") {
			all.add(t)
		} else {
			all.add(p.argumentType(scope, i, depth))
		}
	}
}

// outside is a node like v that stands where a closure does: the variable that it takes.
func outside(v, closure *phpNode) *phpNode {
	one := *v
	one.Parent = closure.Parent
	return &one
}

// globalType is the type of a variable of no function.
func (p *php) globalType(name string, depth int) string {
	return p.once("global "+name, func() string { return p.assignedGlobal(name, depth) })
}

// assignedGlobal looks at what is put into it.
func (p *php) assignedGlobal(name string, depth int) string {
	var all agreed
	for _, f := range p.holding(name) {
		f.php.tree.Walk(func(n *phpNode) bool {
			if n.Variable() != name {
				return true
			}
			scope := phpScope(n)
			if scope.Kind != "" && !slices.ContainsFunc(usesOf(scope, name), func(u *phpNode) bool { return u.Parent.Is("Stmt_Global") }) {
				return true
			}
			if given := phpAssigned(n); given != nil && !given.Is("Expr_ConstFetch") {
				all.add(p.handleType(f, given, depth+1))
			} else if given == nil && p.mayChange(n) && !n.Parent.Is("Stmt_Global", "Stmt_Unset", "Arg") {
				all.add("")
			}
			return true
		})
	}
	return all.is()
}

// argumentType is the type of what all calls of a function give as one argument.
func (p *php) argumentType(fn *phpNode, i, depth int) string {
	if !fn.Is("Stmt_Function", "Stmt_ClassMethod") || depth > mostTypeDepth {
		return ""
	}
	return p.once(phpParameter{fn, i}, func() string { return p.givenType(fn, i, depth) })
}

// givenType looks at the calls.
func (p *php) givenType(fn *phpNode, i, depth int) string {
	name := fn.Name()
	var all agreed
	constructor := strings.EqualFold(name, "__construct")
	if constructor {
		name = fn.Parent.Name()
	}
	if name == "" {
		return ""
	}
	for _, f := range p.holding(name) {
		f.php.tree.Walk(func(n *phpNode) bool {
			called := ""
			switch {
			case constructor && n.Is("Expr_New"):
				called = last(n.Node("class").Name())
			case !constructor && n.Is("Expr_FuncCall"):
				called = last(n.Node("name").Name())
			case !constructor && n.Is("Expr_MethodCall", "Expr_StaticCall", "Expr_NullsafeMethodCall"):
				called = n.Name()
			}
			if !strings.EqualFold(called, name) || called == "" {
				return true
			}
			args, plain := n.Args()
			if !plain || i >= len(args) {
				all.add("")
				return true
			}
			all.add(p.handleType(f, args[i], depth+1))
			return true
		})
	}
	return all.is()
}
