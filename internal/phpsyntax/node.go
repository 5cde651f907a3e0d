package phpsyntax

import "strings"

// Node is a node of a tree, with the kinds and parts that PHP-Parser gives it.
type Node struct {
	Kind     string // "Expr_Assign"
	From, To int    // its bytes in the text
	Line     int    // from 1
	// Resolved is the full name of a class or function; "" if it is none.
	Resolved string
	Parent   *Node

	parts map[string]any
	order []*Node // all below it, in the order of the text
}

// Is reports one of several kinds.
func (n *Node) Is(kinds ...string) bool {
	if n == nil {
		return false
	}
	for _, k := range kinds {
		if n.Kind == k {
			return true
		}
	}
	return false
}

// Node is a part; nil if there is none.
func (n *Node) Node(name string) *Node {
	if n == nil {
		return nil
	}
	sub, _ := n.parts[name].(*Node)
	return sub
}

// List is a part that is several; elements may be nil.
func (n *Node) List(name string) []*Node {
	if n == nil {
		return nil
	}
	list, _ := n.parts[name].([]*Node)
	return list
}

// Has reports a part, or a flag that is set.
func (n *Node) Has(name string) bool {
	if n == nil {
		return false
	}
	_, ok := n.parts[name]
	return ok
}

// Text is a part that is a text.
func (n *Node) Text(name string) string {
	if n == nil {
		return ""
	}
	s, _ := n.parts[name].(string)
	return s
}

// Int is a part that is a number.
func (n *Node) Int(name string) int {
	if n == nil {
		return 0
	}
	f, _ := n.parts[name].(float64)
	return int(f)
}

// Name of what is called, declared or read by a plain name: "" if it is computed.
func (n *Node) Name() string {
	if n == nil {
		return ""
	}
	if s, ok := n.parts["name"].(string); ok {
		return s
	}
	return n.Node("name").Name()
}

// Children are the nodes directly below, in the order of the text.
func (n *Node) Children() []*Node { return n.order }

// Walk calls back for a node and all below it; what is below is left out where it returns
// false.
func (n *Node) Walk(visit func(*Node) bool) {
	if n == nil || !visit(n) {
		return
	}
	for _, sub := range n.order {
		sub.Walk(visit)
	}
}

// Around is the nearest node of some kinds around it, nil if there is none.
func (n *Node) Around(kinds ...string) *Node {
	for at := n.Parent; at != nil; at = at.Parent {
		if at.Is(kinds...) {
			return at
		}
	}
	return nil
}

// Within reports whether a node is another one, or below it.
func (n *Node) Within(outer *Node) bool {
	for at := n; at != nil; at = at.Parent {
		if at == outer {
			return true
		}
	}
	return false
}

// Variable is the name of a plain variable; "" if it is none.
func (n *Node) Variable() string {
	if n.Is("Expr_Variable") {
		return n.Text("name")
	}
	return ""
}

// Args are the arguments of a call, as far as they are plain: false if one is spread,
// named, or a placeholder of a callable.
func (n *Node) Args() ([]*Node, bool) {
	var out []*Node
	for _, a := range n.List("args") {
		if !a.Is("Arg") || a.Has("unpack") || a.Has("name") {
			return nil, false
		}
		out = append(out, a.Node("value"))
	}
	return out, true
}

// Constant is a class constant such as "PDO::FETCH_ASSOC"; "" if it is none.
func (n *Node) Constant() string {
	if !n.Is("Expr_ClassConstFetch") || n.Node("class") == nil {
		return ""
	}
	class := n.Node("class")
	name := class.Resolved
	if name == "" {
		name = class.Name()
	}
	return strings.TrimPrefix(name, "\\") + "::" + n.Name()
}
