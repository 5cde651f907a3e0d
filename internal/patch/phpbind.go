package patch

import "strings"

// bindings are what the placeholders of a statement are given.
type bindings struct {
	numbers  []*phpNode
	types    string              // of mysqli, a letter for each
	named    map[string]*phpNode // by name or number
	list     []*phpNode
	executed bool
	result   bool
	pending  *phpNode // the call that executed it
}

// typed takes a bind_param.
func (b *bindings) typed(args []*phpNode) *Refusal {
	if !args[0].Is("Scalar_String") || len(args[0].Text("value")) != len(args)-1 {
		return refuse("statement", "what its placeholders are given is not known one by one")
	}
	b.types, b.list = args[0].Text("value"), args[1:]
	return nil
}

// given takes the array of an execute.
func (b *bindings) given(args []*phpNode) *Refusal {
	if len(args) == 0 {
		return nil
	}
	if !args[0].Is("Expr_Array") {
		return refuse("statement", "what its placeholders are given is not known one by one")
	}
	for _, item := range args[0].List("items") {
		key := item.Node("key")
		switch {
		case item == nil, item.Has("unpack"), item.Has("byRef"), key != nil && !key.Is("Scalar_String"):
			return refuse("statement", "what its placeholders are given is not known one by one")
		case key != nil:
			b.name(key.Text("value"), item.Node("value"))
		default:
			b.list = append(b.list, item.Node("value"))
		}
	}
	return nil
}

func (b *bindings) name(name string, value *phpNode) {
	if b.named == nil {
		b.named = map[string]*phpNode{}
	}
	b.named[strings.TrimPrefix(name, ":")] = value
}

// value takes one bindValue.
func (b *bindings) value(args []*phpNode) *Refusal {
	if len(args) < 2 || !args[0].Is("Scalar_String", "Scalar_LNumber") {
		return refuse("statement", "what its placeholders are given is not known one by one")
	}
	if len(args) > 2 && args[2].Constant() != "PDO::PARAM_INT" && args[2].Constant() != "PDO::PARAM_STR" {
		return refuse("statement", "a value is bound as something else than a number or a text")
	}
	if len(args) > 2 && args[2].Constant() == "PDO::PARAM_INT" {
		b.numbers = append(b.numbers, args[1])
	}
	if args[0].Is("Scalar_LNumber") {
		b.name(phpNumber(args[0].Int("value")), args[1])
	} else {
		b.name(args[0].Text("value"), args[1])
	}
	return nil
}
