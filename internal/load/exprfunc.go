package load

import (
	"math"
	"slices"
)

// function compiles a call; args holds at least one.
type function func(p *exprParser, t exprToken, args []operand) operand

// functionNames that expressions know.
var functionNames = []string{"abs", "clamp", "if", "log", "max", "min", "sqrt"}

// expressionNames are all functions and figures, sorted, each once.
func expressionNames() []string {
	names := slices.Clone(functionNames)
	for _, f := range figures {
		names = append(names, f.name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// functionNamed is nil for other names.
func functionNamed(name string) function {
	switch name {
	case "abs":
		return absolute
	case "clamp":
		return clamp
	case "if":
		return condition
	case "log":
		return logarithm
	case "max":
		return extreme(math.Max)
	case "min":
		return extreme(math.Min)
	case "sqrt":
		return root
	}
	return nil
}

// count checks the number of arguments and that they are numbers; a condition
// may be yes or no.
func (p *exprParser) count(t exprToken, args []operand, want int, form string) bool {
	if len(args) != want {
		p.fail(t.at, "%s has %d arguments; write %s", t.text, len(args), form)
		return false
	}
	if t.text != "if" {
		for _, a := range args {
			p.needNumber(a)
		}
	}
	return p.err == nil
}

// extreme is min or max of two or more.
func extreme(better func(x, y float64) float64) function {
	return func(p *exprParser, t exprToken, args []operand) operand {
		if len(args) < 2 {
			return p.fail(t.at, "%s has one argument; write %s(a, b)", t.text, t.text)
		}
		for _, a := range args {
			p.needNumber(a)
		}
		u := p.same("the arguments of "+t.text, args...)
		return p.make(t.at, u, args, func(a *account) float64 {
			v := args[0].value(a)
			for _, x := range args[1:] {
				v = better(v, x.value(a))
			}
			return v
		})
	}
}

func condition(p *exprParser, t exprToken, args []operand) operand {
	if !p.count(t, args, 3, "if(condition, then, else)") {
		return p.fail(t.at, "")
	}
	return p.pick(args[0], args[1], args[2])
}

func absolute(p *exprParser, t exprToken, args []operand) operand {
	if !p.count(t, args, 1, "abs(a)") {
		return p.fail(t.at, "")
	}
	x := args[0]
	return p.make(t.at, x.unit, args, func(a *account) float64 { return math.Abs(x.value(a)) })
}

// clamp keeps a value from low to high.
func clamp(p *exprParser, t exprToken, args []operand) operand {
	if !p.count(t, args, 3, "clamp(a, low, high)") {
		return p.fail(t.at, "")
	}
	u := p.same("the arguments of clamp", args...)
	x, low, high := args[0], args[1], args[2]
	if p.err == nil && low.constant && high.constant && low.value(nil) > high.value(nil) {
		return p.fail(low.at, "the lower bound of clamp is above the upper one")
	}
	return p.make(t.at, u, args, func(a *account) float64 { return math.Min(math.Max(x.value(a), low.value(a)), high.value(a)) })
}

// root of a negative number has no value.
func root(p *exprParser, t exprToken, args []operand) operand {
	if !p.count(t, args, 1, "sqrt(a)") {
		return p.fail(t.at, "")
	}
	x := args[0]
	u, ok := x.unit.root()
	if !ok {
		return p.fail(x.at, "this is %s, which has no root; divide by a unit such as 1ms", x.unit)
	}
	at := p.character(t.at)
	return p.make(t.at, u, args, func(a *account) float64 {
		v := math.Sqrt(x.value(a))
		if math.IsNaN(v) && a != nil {
			return a.noValue("the root of a negative number at character %d", at)
		}
		return v
	})
}

// logarithm is the natural one; of 0 and below it has no value.
func logarithm(p *exprParser, t exprToken, args []operand) operand {
	if !p.count(t, args, 1, "log(a)") {
		return p.fail(t.at, "")
	}
	x := args[0]
	if x.unit != plain && !x.unit.zero {
		return p.fail(x.at, "this is %s; log needs a plain number: divide by a unit such as 1ms", x.unit)
	}
	at := p.character(t.at)
	return p.make(t.at, plain, args, func(a *account) float64 {
		v := math.Log(x.value(a))
		if (math.IsNaN(v) || math.IsInf(v, 0)) && a != nil {
			return a.noValue("the logarithm of 0 or less at character %d", at)
		}
		return v
	})
}
