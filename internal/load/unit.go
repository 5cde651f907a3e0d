package load

import "fmt"

// unit of a value in an expression: seconds^time · bytes^data. truth is what
// comparisons give. zero is a written 0, which fits every unit.
type unit struct {
	time, data int8
	truth      bool
	zero       bool
}

var (
	plain     = unit{}
	seconds   = unit{time: 1}
	perSecond = unit{time: -1}
	truth     = unit{truth: true}
)

// maxPower of a unit; products of more times mean nothing.
const maxPower = 8

// String names the unit for messages.
func (u unit) String() string {
	switch u {
	case plain:
		return "a plain number"
	case seconds:
		return "a time"
	case perSecond:
		return "per second"
	case truth:
		return "yes or no"
	case unit{data: 1}:
		return "bytes"
	case unit{time: -1, data: 1}:
		return "bytes per second"
	}
	if u.zero {
		return "0"
	}
	return fmt.Sprintf("s^%d·B^%d", u.time, u.data)
}

// unify gives the unit that both have; ok is false if they differ.
func unify(u, v unit) (w unit, ok bool) {
	switch {
	case u.zero && !v.truth:
		return v, true
	case v.zero && !u.truth:
		return u, true
	}
	return u, u == v
}

// times multiplies (sign 1) or divides (sign -1); ok is false beyond maxPower.
func (u unit) times(v unit, sign int8) (w unit, ok bool) {
	if u.zero || v.zero {
		return unit{zero: true}, true
	}
	w = unit{time: u.time + sign*v.time, data: u.data + sign*v.data}
	for _, power := range []int8{w.time, w.data} {
		if power < -maxPower || power > maxPower {
			return plain, false
		}
	}
	return w, true
}

// root halves the powers; ok is false if they are odd.
func (u unit) root() (w unit, ok bool) {
	return unit{time: u.time / 2, data: u.data / 2, zero: u.zero}, u.time%2 == 0 && u.data%2 == 0
}

// literals are the units that numbers may carry, with their size.
var literals = map[string]struct {
	size float64
	unit unit
}{
	"ns": {1e-9, seconds}, "us": {1e-6, seconds}, "µs": {1e-6, seconds}, "μs": {1e-6, seconds}, "ms": {1e-3, seconds},
	"%": {0.01, plain}, "s": {1, seconds}, "m": {60, seconds}, "h": {3600, seconds},
	"B": {1, unit{data: 1}}, "KB": {1e3, unit{data: 1}}, "MB": {1e6, unit{data: 1}}, "GB": {1e9, unit{data: 1}},
	"KiB": {1 << 10, unit{data: 1}}, "MiB": {1 << 20, unit{data: 1}}, "GiB": {1 << 30, unit{data: 1}},
}
