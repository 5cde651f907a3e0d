// Package shell reads scripts of sh(1), and sets numbers in them: the pause of a loop, an
// option of a program. All other bytes stay.
//
// In: a script's text. Out: what its loop or its program is told, and the text with another
// number.
package shell

import (
	"math"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Number is one that a script gives to a program.
type Number struct {
	// Value is what it is now; of a time seconds.
	Value float64
	// Variable of the environment that says the number, "" if the script does.
	Variable string

	from, to int    // of the number in the script
	unit     string // behind the number: "", s, m, h or d (sleep(1))
	outside  bool   // the unit stands behind a variable, not in its value
}

// number finds the number behind a word: itself, that of a variable which the script sets
// once, of the environment, or the default in ${NAME:-number}. within is the variable
// whose own value is read: NAME=${NAME:-1}.
func (r *reader) number(w *syntax.Word, within string) *Number {
	if w == nil {
		return nil
	}
	parts := flat(w.Parts)
	if len(parts) == 2 { // "$NAME"s
		if unit, ok := parts[1].(*syntax.Lit); ok && units[unit.Value] > 0 {
			p := r.number(&syntax.Word{Parts: parts[:1]}, within)
			if p == nil || p.unit != "" {
				return nil
			}
			p.unit, p.outside = unit.Value, true
			p.Value *= units[unit.Value]
			return p
		}
	}
	if len(parts) != 1 {
		return nil
	}
	switch x := parts[0].(type) {
	case *syntax.Lit:
		return parse(x.Value, int(x.Pos().Offset()))
	case *syntax.SglQuoted:
		return parse(x.Value, int(x.Pos().Offset())+1)
	case *syntax.ParamExp:
		return r.variable(x, within)
	}
	return nil
}

func (r *reader) variable(x *syntax.ParamExp, within string) *Number {
	name := x.Param.Value
	byDefault := x.Exp != nil && (x.Exp.Op == syntax.DefaultUnset || x.Exp.Op == syntax.DefaultUnsetOrNull)
	if !plain(x) && !byDefault {
		return nil
	}
	if all := r.assigned[name]; len(all) > 0 && name != within {
		if len(all) > 1 || within != "" {
			return nil
		}
		return r.number(all[0].Value, name)
	}
	if value, ok := r.environment(name); ok {
		p := parse(value, 0)
		if p == nil {
			return nil
		}
		return &Number{Value: p.Value, Variable: name, unit: p.unit}
	}
	if byDefault {
		return r.number(x.Exp.Word, within)
	}
	return nil
}

func parse(text string, at int) *Number {
	digits := strings.TrimRight(text, "smhd")
	unit := text[len(digits):]
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || n <= 0 || units[unit] == 0 || strings.ContainsAny(digits, "+-xXeEpPiInN_") {
		return nil
	}
	return &Number{Value: n * units[unit], from: at, to: at + len(digits), unit: unit}
}

// text is a value as it is to be written in the old one's place.
func (p *Number) text(value float64) string {
	return strconv.FormatFloat(math.Round(1e6*value/units[p.unit])/1e6, 'f', -1, 64)
}

// Text is a value as Variable is to hold it, with the unit that it holds itself.
func (p *Number) Text(value float64) string {
	if p.outside {
		return p.text(value)
	}
	return p.text(value) + p.unit
}

// Set returns the script with another value. Variable must be "".
func (p *Number) Set(script string, value float64) string {
	return script[:p.from] + p.text(value) + script[p.to:]
}
