package load

import "math"

// operand is a part of an expression.
type operand struct {
	at       int // where it begins, in bytes
	unit     unit
	constant bool
	value    valueFunc
}

// make puts a value together. What has only constants is computed now.
func (p *exprParser) make(at int, u unit, parts []operand, value valueFunc) operand {
	for _, part := range parts {
		if !part.constant {
			return operand{at: at, unit: u, value: value}
		}
	}
	if p.err != nil {
		return p.fail(at, "")
	}
	v := value(nil)
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return p.fail(at, "this has no value, or one too large")
	}
	return operand{at: at, unit: u, constant: true, value: func(*account) float64 { return v }}
}

func (p *exprParser) needTruth(v operand) {
	if p.err == nil && !v.unit.truth {
		p.fail(v.at, "this is %s, not yes or no; compare it, for example with > 0", v.unit)
	}
}

func (p *exprParser) needNumber(v operand) {
	if p.err == nil && v.unit.truth {
		p.fail(v.at, "this is yes or no, not a number; write if(…, 1, 0)")
	}
}

// same is the unit that all have; what names them in the error.
func (p *exprParser) same(what string, all ...operand) unit {
	u := all[0].unit
	for _, v := range all[1:] {
		w, ok := unify(u, v.unit)
		if !ok && p.err == nil {
			p.fail(v.at, "%s have different units: %s and %s; divide by a unit such as 1ms or 1s", what, u, v.unit)
		}
		u = w
	}
	return u
}

// checkResult: a score is a number of points, or points per second.
func (p *exprParser) checkResult(v operand) {
	switch {
	case p.err != nil:
	case v.constant:
		p.fail(v.at, "names nothing that a run measures; write for example good - 50*mismatches")
	case v.unit != plain && v.unit != perSecond && !v.unit.zero:
		p.fail(v.at, "the score would be %s; it must be a plain number or per second: divide by a unit such as 1ms or 1MB", v.unit)
	}
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
