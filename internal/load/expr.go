package load

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

const (
	// maxExpression in bytes; the longest useful one has some hundreds.
	maxExpression = 4 << 10
	// maxExprDepth of brackets, signs and conditions within each other.
	maxExprDepth = 50
)

// expression is a compiled score.
type expression struct {
	text  string
	value valueFunc
}

// valueFunc gives a finite number. a is nil for constants.
type valueFunc func(a *account) float64

// evaluate never gives NaN or an infinity.
func (e *expression) evaluate(a *account) float64 { return e.value(a) }

// parseExpression compiles a score. route finds a route's index, labels lists
// the known ones. Errors say the character (from 1) and what to do.
//
//	choice  = or [ "?" choice ":" choice ]
//	or      = and { "||" and }
//	and     = compare { "&&" compare }
//	compare = sum [ ( "<" | "<=" | ">" | ">=" | "==" | "!=" ) sum ]
//	sum     = product { ( "+" | "-" ) product }
//	product = sign { ( "*" | "/" ) sign }
//	sign    = { "-" | "+" | "!" } atom
//	atom    = number [ unit ] | figure [ "(" route ")" ] | function "(" choice { "," choice } ")" | "(" choice ")"
func parseExpression(text string, route func(string) (int, bool), labels func() []string) (*expression, error) {
	if len(text) > maxExpression {
		return nil, fmt.Errorf("has %d bytes; write at most %d", len(text), maxExpression)
	}
	p := &exprParser{scanner: exprScanner{text: text}, route: route, labels: labels}
	p.next()
	v := p.choice()
	if p.err == nil && p.token.kind != endToken {
		p.fail(p.token.at, "%s stands where the expression should end; is an operator missing?", p.token)
	}
	p.checkResult(v)
	if p.err != nil {
		return nil, p.err
	}
	return &expression{text: strings.Join(strings.Fields(text), " "), value: v.value}, nil
}

// exprParser remembers the first error and then reads nothing more.
type exprParser struct {
	scanner exprScanner
	token   exprToken
	depth   int
	err     error
	route   func(string) (int, bool)
	labels  func() []string
}

func (p *exprParser) next() {
	if p.err != nil {
		return
	}
	var why string
	if p.token, why = p.scanner.next(); why != "" {
		p.fail(p.token.at, "%s", why)
	}
}

// fail notes the first error; afterwards all is at its end.
func (p *exprParser) fail(at int, format string, args ...any) operand {
	if p.err == nil {
		p.err = fmt.Errorf("character %d: %s", p.character(at), fmt.Sprintf(format, args...))
	}
	p.token = exprToken{kind: endToken, at: len(p.scanner.text)}
	return operand{at: at, constant: true, value: func(*account) float64 { return 0 }}
}

// take reads a sign if it is next.
func (p *exprParser) take(signs ...string) (exprToken, bool) {
	t := p.token
	if t.kind != signToken || !slices.Contains(signs, t.text) {
		return t, false
	}
	p.next()
	return t, true
}

func (p *exprParser) expect(sign string) {
	if _, ok := p.take(sign); !ok && p.err == nil {
		p.fail(p.token.at, "%s stands where %q is needed", p.token, sign)
	}
}

// deeper bounds the recursion; call the result to come back.
func (p *exprParser) deeper() (back func()) {
	if p.depth++; p.depth > maxExprDepth {
		p.fail(p.token.at, "more than %d levels within each other; write it flatter", maxExprDepth)
	}
	return func() { p.depth-- }
}

func (p *exprParser) choice() operand {
	defer p.deeper()()
	c := p.or()
	if _, ok := p.take("?"); !ok {
		return c
	}
	yes := p.choice()
	p.expect(":")
	return p.pick(c, yes, p.choice())
}

// pick is c ? yes : no.
func (p *exprParser) pick(c, yes, no operand) operand {
	p.needTruth(c)
	u := p.same("the two results of a condition", yes, no)
	return p.make(c.at, u, []operand{c, yes, no}, func(a *account) float64 {
		if c.value(a) != 0 {
			return yes.value(a)
		}
		return no.value(a)
	})
}

func (p *exprParser) or() operand {
	v := p.and()
	for {
		if _, ok := p.take("||"); !ok {
			return v
		}
		v = p.logic(v, p.and(), true)
	}
}

func (p *exprParser) and() operand {
	v := p.compare()
	for {
		if _, ok := p.take("&&"); !ok {
			return v
		}
		v = p.logic(v, p.compare(), false)
	}
}

// logic is || (enough) or &&; v is asked only if it matters.
func (p *exprParser) logic(u, v operand, enough bool) operand {
	p.needTruth(u)
	p.needTruth(v)
	return p.make(u.at, truth, []operand{u, v}, func(a *account) float64 {
		if (u.value(a) != 0) == enough {
			return number(enough)
		}
		return number(v.value(a) != 0)
	})
}

var comparisons = map[string]func(x, y float64) bool{
	"<":  func(x, y float64) bool { return x < y },
	"<=": func(x, y float64) bool { return x <= y },
	">":  func(x, y float64) bool { return x > y },
	">=": func(x, y float64) bool { return x >= y },
	"==": func(x, y float64) bool { return x == y },
	"!=": func(x, y float64) bool { return x != y },
}

var comparisonSigns = []string{"<", "<=", ">", ">=", "==", "!="}

func (p *exprParser) compare() operand {
	u := p.sum()
	sign, ok := p.take(comparisonSigns...)
	if !ok {
		return u
	}
	v := p.sum()
	if more, ok := p.take(comparisonSigns...); ok {
		return p.fail(more.at, "three values are compared; write two comparisons with && between them")
	}
	p.needNumber(u)
	p.needNumber(v)
	p.same("the two sides of "+sign.text, u, v)
	holds := comparisons[sign.text]
	return p.make(u.at, truth, []operand{u, v}, func(a *account) float64 { return number(holds(u.value(a), v.value(a))) })
}

func (p *exprParser) sum() operand {
	u := p.product()
	for {
		sign, ok := p.take("+", "-")
		if !ok {
			return u
		}
		x, y := u, p.product()
		p.needNumber(x)
		p.needNumber(y)
		one := 1.0
		if sign.text == "-" {
			one = -1
		}
		unit := p.same("the two sides of "+sign.text, x, y)
		u = p.make(x.at, unit, []operand{x, y}, p.finite(sign, func(a *account) float64 { return x.value(a) + one*y.value(a) }))
	}
}

func (p *exprParser) product() operand {
	u := p.sign()
	for {
		sign, ok := p.take("*", "/")
		if !ok {
			return u
		}
		x, y := u, p.sign()
		p.needNumber(x)
		p.needNumber(y)
		power := int8(1)
		value := func(a *account) float64 { return x.value(a) * y.value(a) }
		if sign.text == "/" {
			power = -1
			if y.constant && p.err == nil && y.value(nil) == 0 {
				p.fail(sign.at, "divides by 0")
			}
			value = p.divide(sign, x, y)
		}
		unit, ok := x.unit.times(y.unit, power)
		if !ok {
			p.fail(sign.at, "the unit of this product has a power above %d; no score needs that", maxPower)
		}
		u = p.make(x.at, unit, []operand{x, y}, p.finite(sign, value))
	}
}

// divide gives 0 for a division by 0, and says so.
func (p *exprParser) divide(sign exprToken, x, y operand) valueFunc {
	at := p.character(sign.at)
	return func(a *account) float64 {
		d := y.value(a)
		if d == 0 {
			return a.noValue("the division by 0 at character %d", at)
		}
		return x.value(a) / d
	}
}

// finite makes an overflow 0, and says so.
func (p *exprParser) finite(sign exprToken, value valueFunc) valueFunc {
	at := p.character(sign.at)
	return func(a *account) float64 {
		v := value(a)
		if math.IsInf(v, 0) || math.IsNaN(v) {
			if a == nil {
				return v // a constant; make refuses it
			}
			return a.noValue("the too large number at character %d", at)
		}
		return v
	}
}

func (p *exprParser) character(at int) int { return 1 + len([]rune(p.scanner.text[:at])) }

func (p *exprParser) sign() operand {
	sign, ok := p.take("-", "+", "!")
	if !ok {
		return p.atom()
	}
	defer p.deeper()()
	v := p.sign()
	switch sign.text {
	case "!":
		p.needTruth(v)
		return p.make(sign.at, truth, []operand{v}, func(a *account) float64 { return number(v.value(a) == 0) })
	case "-":
		p.needNumber(v)
		return p.make(sign.at, v.unit, []operand{v}, func(a *account) float64 { return 0 - v.value(a) })
	}
	p.needNumber(v)
	return v
}

func (p *exprParser) atom() operand {
	t := p.token
	switch t.kind {
	case numberToken:
		p.next()
		return operand{at: t.at, unit: t.unit, constant: true, value: func(*account) float64 { return t.number }}
	case nameToken:
		p.next()
		return p.named(t)
	case routeToken:
		return p.fail(t.at, "%s is a route; write for example ok(%s)", t, t.text)
	}
	if _, ok := p.take("("); ok {
		v := p.choice()
		p.expect(")")
		v.at = t.at
		return v
	}
	if p.err != nil {
		return p.fail(t.at, "")
	}
	return p.fail(t.at, "%s stands where a number, a name or ( is needed", t)
}

// named is a figure or a function.
func (p *exprParser) named(t exprToken) operand {
	_, call := p.take("(")
	f := slices.IndexFunc(figures, func(f figure) bool { return f.name == t.text })
	// max is both: max('GET /') is a time, max(a, b) the larger one.
	if f >= 0 && (!call || p.token.kind == routeToken || functionNamed(t.text) == nil) {
		return p.figure(t, &figures[f], call)
	}
	read := functionNamed(t.text)
	if read == nil {
		return p.fail(t.at, "unknown name %q; %s", shorten(t.text, 40), suggest(t.text, expressionNames()))
	}
	if !call {
		return p.fail(t.at, "%s is a function; write %s(…)", t.text, t.text)
	}
	var args []operand
	for {
		args = append(args, p.choice())
		if _, more := p.take(","); !more {
			break
		}
	}
	p.expect(")")
	if p.err != nil {
		return p.fail(t.at, "")
	}
	return read(p, t, args)
}

// figure is what a run measured, of a route or of the whole.
func (p *exprParser) figure(t exprToken, f *figure, call bool) operand {
	route, what := -1, f.name
	if call {
		label := p.token
		switch {
		case f.whole:
			return p.fail(t.at, "%s is of the whole run; write it without a route", f.name)
		case label.kind != routeToken:
			return p.fail(label.at, "%s stands where a route is needed; write for example %s('GET /')", label, f.name)
		}
		p.next()
		p.expect(")")
		if p.err != nil {
			return p.fail(t.at, "")
		}
		i, ok := p.route(label.text[1 : len(label.text)-1])
		if !ok {
			name := label.text[1 : len(label.text)-1]
			return p.fail(label.at, "no step has the route %q; %s", shorten(name, 80), suggest(name, p.labels()))
		}
		route, what = i, f.name+"("+label.text+")"
	}
	value := f.value
	return operand{at: t.at, unit: f.unit, value: func(a *account) float64 {
		m := &a.all
		if route >= 0 {
			if m = &(measured{}); route < len(a.routes) {
				m = &a.routes[route]
			}
		}
		v := value(a, m)
		if math.IsNaN(v) {
			return a.noValue("%s", what)
		}
		return v
	}}
}
