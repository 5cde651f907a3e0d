package digest

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/lazyregexp"
)

// valueKind is what a field's values are.
type valueKind uint8

const (
	numberValue valueKind = iota
	statusValue           // a number, or a class such as 5xx
	sizeValue             // bytes
	timeValue             // nanoseconds
	textValue
	flagValue // is or is not; compared with nothing
)

// field of an entry or a row.
type field[T any] struct {
	name string
	kind valueKind
	// number of a value that is one; false where the log has none: no
	// condition but != holds then.
	number func(*T) (int64, bool)
	text   func(*T) []byte
	// list instead of text: of several values one has to fit; with != and !~ none.
	list func(*T) []string
	flag func(*T) bool
	fold bool // text is compared without case
}

func fieldNames[T any](fields []field[T]) []string {
	var out []string
	for _, f := range fields {
		out = append(out, f.name)
	}
	return out
}

func findField[T any](fields []field[T], name string) *field[T] {
	for i := range fields {
		if fields[i].name == name {
			return &fields[i]
		}
	}
	return nil
}

// condition is a field compared with a value.
type condition[T any] struct {
	*field[T]
	op     string
	low    int64 // of numbers; low = high but for status classes
	high   int64
	value  string
	match  *regexp.Regexp
	negate bool
}

func newCondition[T any](f *field[T], x expr) (condition[T], error) {
	c := condition[T]{field: f, op: x.op, value: x.value, negate: x.not}
	wrong := func(at int, format string, args ...any) (condition[T], error) {
		return c, &FilterError{x.text, at, fmt.Sprintf(format, args...)}
	}
	switch {
	case f.kind == flagValue && x.op != "":
		return wrong(x.opAt, "%s has no value; write %s or !%s", f.name, f.name, f.name)
	case f.kind == flagValue:
		return c, nil
	case x.not:
		return wrong(x.fieldAt, "! is for a field without a value; %s has one", f.name)
	case x.op == "":
		return wrong(x.opAt, "%s needs a comparison, as in %s", f.name, f.example())
	case f.kind == textValue && strings.ContainsAny(x.op, "<>"):
		return wrong(x.opAt, "%s is text: use =, !=, ~ or !~", f.name)
	case f.kind != textValue && strings.Contains(x.op, "~"):
		return wrong(x.opAt, "%s is a number: use =, !=, <, <=, > or >=", f.name)
	case x.value == "" && f.kind != textValue:
		return wrong(x.valueAt, "a value is expected, as in %s", f.example())
	}
	if f.kind == textValue {
		if !strings.Contains(x.op, "~") {
			return c, nil
		}
		pattern := x.value
		if f.fold {
			pattern = "(?i)" + pattern
		}
		var err error
		if c.match, err = regexp.Compile(pattern); err != nil {
			return wrong(x.valueAt, "not a regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
		return c, nil
	}
	var err error
	if c.low, c.high, err = parseNumber(f.kind, x.value); err != nil {
		return wrong(x.valueAt, "%v", err)
	}
	return c, nil
}

func (f *field[T]) example() string {
	return f.name + map[valueKind]string{numberValue: ">1000", statusValue: ">=500", sizeValue: ">1MB", timeValue: ">100ms", textValue: "=…"}[f.kind]
}

func (c *condition[T]) holds(e *T) bool {
	switch c.kind {
	case flagValue:
		return c.flag(e) != c.negate
	case textValue:
		if c.list != nil {
			return c.holdsList(c.list(e))
		}
		return c.holdsText(c.text(e))
	}
	n, ok := c.number(e)
	if !ok {
		return c.op == "!="
	}
	switch c.op {
	case "=":
		return n >= c.low && n <= c.high
	case "!=":
		return n < c.low || n > c.high
	case ">":
		return n > c.high
	case ">=":
		return n >= c.low
	case "<":
		return n < c.low
	}
	return n <= c.high
}

// holdsList: one fits, or with a negated comparison all do.
func (c *condition[T]) holdsList(values []string) bool {
	none := strings.HasPrefix(c.op, "!")
	for _, v := range values {
		if c.holdsText([]byte(v)) != none {
			return !none
		}
	}
	return none
}

func (c *condition[T]) holdsText(b []byte) bool {
	switch c.op {
	case "~":
		return c.match.Match(b)
	case "!~":
		return !c.match.Match(b)
	}
	equal := string(b) == c.value
	if c.fold {
		equal = strings.EqualFold(string(b), c.value)
	}
	return equal == (c.op == "=")
}

var (
	statusClass = lazyregexp.New(`^[1-5][xX]{2}$`)
	numberUnit  = lazyregexp.New(`^([0-9]+(?:\.[0-9]+)?)\s*([A-Za-zµ]*)$`)
)

// sizes are SI units and, with an i, binary ones (IEC 80000-13). A bare k, M
// or G is SI.
var sizes = map[string]float64{"": 1, "b": 1, "k": 1e3, "kb": 1e3, "m": 1e6, "mb": 1e6, "g": 1e9, "gb": 1e9,
	"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30}

var numbers = map[string]float64{"": 1, "k": 1e3, "m": 1e6, "g": 1e9}

// parseNumber reads a value; both results differ for a class of status codes.
func parseNumber(kind valueKind, s string) (low, high int64, err error) {
	if kind == statusValue && statusClass.MatchString(s) {
		low = int64(s[0]-'0') * 100
		return low, low + 99, nil
	}
	if kind == timeValue {
		if m := numberUnit.FindStringSubmatch(s); m != nil && m[2] == "" && strings.Trim(m[1], "0.") != "" {
			return 0, 0, fmt.Errorf("a time needs a unit: %ss, %sms or %sus", m[1], m[1], m[1])
		}
		d, err := time.ParseDuration(strings.ReplaceAll(s, " ", ""))
		if err != nil || d < 0 {
			return 0, 0, fmt.Errorf("%q is no time; write for example 0.5s, 100ms or 2m", s)
		}
		return int64(d), int64(d), nil
	}
	units, hint := numbers, "1000 or 10k"
	switch kind {
	case sizeValue:
		units, hint = sizes, "1000, 10kB or 1MiB"
	case statusValue:
		units, hint = map[string]float64{"": 1}, "404 or 5xx"
	}
	m := numberUnit.FindStringSubmatch(s)
	if m == nil {
		return 0, 0, fmt.Errorf("%q is no number; write for example %s", s, hint)
	}
	unit, ok := units[strings.ToLower(m[2])]
	if !ok {
		return 0, 0, fmt.Errorf("%q has no known unit; write for example %s", s, hint)
	}
	f, err := strconv.ParseFloat(m[1], 64)
	if err != nil || f*unit > math.MaxInt64/2 {
		return 0, 0, fmt.Errorf("%q is too large", s)
	}
	if kind == statusValue && f != math.Trunc(f) {
		return 0, 0, fmt.Errorf("%q is no status; write for example %s", s, hint)
	}
	low = int64(math.Round(f * unit))
	return low, low, nil
}
