package load

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func twoRoutes(label string) (int, bool) {
	i, ok := map[string]int{"GET /": 0, "POST /login": 1}[label]
	return i, ok
}

func twoLabels() []string { return []string{"GET /", "POST /login"} }

func compileExpression(text string) (*expression, error) {
	return parseExpression(text, twoRoutes, twoLabels)
}

func TestExpression(t *testing.T) {
	const p99, mean = 1.0, 0.154 // s, of GET /
	tests := []struct {
		text string
		want float64
	}{
		{"ok", 1200},
		{"3*ok('POST /login') + good - 50*mismatches - p99('GET /')/1ms", 600 + 1160 - 100 - 1000},
		{`ok("GET /")`, 1000},
		{"requests - ok - failed", 0},
		{"requests", 1206},
		{"mismatches + 10*timeouts + 100*errors", 2 + 10 + 300},
		{"bytes/1KB", 1202},
		{"bytes('GET /')/1KiB/window*1s", 1e6 / 1024 / 10},
		{"mean('GET /')/1ms", 154},
		{"p50('GET /')/1ms + max('GET /')/1s*1000", 1100},
		{"max(max('GET /'), 10ms)/1ms", 1000},
		{"max(p50('GET /'), p99('GET /'), 2s)/1s", 2},
		{"min(ok, 7, 9)", 7},
		{"apdex('GET /')", 0.98},
		{"rate", 120},
		{"goodput('GET /')", 96},
		{"ok/window", 120},
		{"rate*window", 1200},
		{"planned - dropped", 395},
		{"ok ? 2 : 3", math.NaN()},
		{"ok > 5 ? 2 : 3", 2},
		{"ok < 5 ? 2 : ok > 5 ? 4 : 5", 4},
		{"if(p99('GET /') <= 200ms, rate, 0)", 0},
		{"if(p99('GET /') > 200ms && !(ok < 1) || ok == 0, rate, 0)", 120},
		{"if(ok < 1 || ok/0.0 > 1, 1, 0)", math.NaN()},
		{"abs(good - ok)", 40},
		{"sqrt(ok + 0)", math.Sqrt(1200)},
		{"sqrt(p99('GET /')*p99('GET /'))/1s", p99},
		{"log(ok)", math.Log(1200)},
		{"clamp(ok, 0, 100)", 100},
		{"clamp(ok - 5000, -10, 100)", -10},
		{"max(0, good - 5000)", 0},
		{"2 + 3*ok - 4/2*ok", 1202},
		{"ok - 1 - 2 - 3", 1194},
		{"ok/2/3", 200},
		{"5%*ok + 1.5%", 60.015},
		{"-ok + -(-ok)", 0},
		{"- -ok", 1200},
		{"1e3*ok + 1.5E-1*ok + .5*ok", 1200*1000 + 180 + 600},
		{"1m/1s*ok/60 + 1h/1m*ok", 1200 + 72000},
		{"0 - 0*p99 + ok", 1200},
		{"apdex * (mean('GET /') < 155ms ? 1 : 0) - apdex", 0},
		// Without a value.
		{"ok/(good - 1160)", 0},
		{"sqrt(good - ok)", 0},
		{"log(good - good)", 0},
		{"ok*1e306", 0},
		{"ok*1e306/1e306 + 1", 1},
	}
	s := scored(t, "")
	for _, tt := range tests {
		e, err := compileExpression(tt.text)
		if math.IsNaN(tt.want) {
			if err == nil {
				t.Errorf("%s: no error", tt.text)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if got := e.evaluate(newAccount(sampleRun(s))); math.Abs(got-tt.want) > 1e-3*math.Abs(tt.want)+1e-9 {
			t.Errorf("%s gives %v, want %v", tt.text, got, tt.want)
		}
	}
}

func TestExpressionErrors(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", "character 1: the end stands where a number, a name or ( is needed"},
		{"ok +", "character 5: the end"},
		{"ok good", `character 4: "good" stands where the expression should end`},
		{"(ok", `the end stands where ")" is needed`},
		{"ok)", `character 3: ")" stands where the expression should end`},
		{"goood", `unknown name "goood"; did you mean "good"?`},
		{"5*ok + p98", `character 8: unknown name "p98"; did you mean "p9`},
		{"sin(ok)", `unknown name "sin"; did you mean "min"?`},
		{"ok('POST /logn')", `character 4: no step has the route "POST /logn"; did you mean "POST /login"?`},
		{"ok('nowhere')", `known are GET /, POST /login`},
		{"velocity", `known are abs, apdex,`},
		{"ok('日本', 1)", `")" is needed`},
		{"good/'GET /'", `write for example ok('GET /')`},
		{"ok(1)", "character 4: \"1\" stands where a route is needed"},
		{"ok()", "where a route is needed"},
		{"window('GET /')", "window is of the whole run"},
		{"ok('GET /", "closing ' is missing"},
		{"min", "min is a function; write min(…)"},
		{"min(ok)", "one argument"},
		{"max(ok)", "one argument"},
		{"clamp(ok, 1)", "2 arguments; write clamp(a, low, high)"},
		{"clamp(ok, 5, 1)", "lower bound"},
		{"abs(ok, 1)", "2 arguments"},
		{"if(ok, 1, 2)", "character 4: this is a plain number, not yes or no"},
		{"if(ok > 1, 1)", "2 arguments"},
		{"if(ok > 1, p99, ok)", "the two results of a condition have different units: a time and a plain number"},
		{"ok > 1", "the score would be yes or no"},
		{"(ok > 1) + 1", "character 1: this is yes or no, not a number"},
		{"(ok > 1) > 0", "yes or no, not a number"},
		{"1 < ok < 3", "character 8: three values are compared"},
		{"!ok", "not yes or no"},
		{"min(ok > 1, ok > 2)", "not a number"},
		{"p99", "the score would be a time"},
		{"bytes", "the score would be bytes"},
		{"bytes/window", "bytes per second"},
		{"ok - p99", "the two sides of - have different units: a plain number and a time"},
		{"if(p99 < 200, ok, 0)", "the two sides of < have different units: a time and a plain number"},
		{"p99 + bytes", "different units"},
		{"rate + ok", "per second and a plain number"},
		{"max(p99, 1)", "the arguments of max have different units"},
		{"sqrt(p99)", "has no root"},
		{"log(p99)", "log needs a plain number"},
		{"p99*p99*p99*p99*p99*p99*p99*p99*p99", "power above 8"},
		{"5", "names nothing that a run measures"},
		{"min(1, 2)", "names nothing that a run measures"},
		{"ok/0", "character 3: divides by 0"},
		{"ok + 1/(2-2)", "divides by 0"},
		{"ok + sqrt(-1)", "this has no value"},
		{"ok + log(0)", "this has no value"},
		{"ok + 1e308*10", "this has no value, or one too large"},
		{"ok + 1e999", "is no number"},
		{"ok + 1.2.3", "is no number"},
		{"ok + .", "is no number"},
		{"p99/1sec", `"sec" is no unit; write ns, us`},
		{"ok & good", `'&' means nothing here`},
		{"ok ^ 2", `'^' means nothing here`},
		{"ok = 2", `'=' means nothing here`},
		{"ok > 1 ? 2", `the end stands where ":" is needed`},
		{"ok\x00", "means nothing here"},
		{"\xff", "means nothing here"},
		{strings.Repeat("(", 60) + "ok" + strings.Repeat(")", 60), "more than 50 levels"},
		{strings.Repeat("-", 5000) + "ok", "write at most 4096"},
		{strings.Repeat("-", 4000) + "ok", "more than 50 levels"},
		{strings.Repeat("ok>1?", 100) + "1", "more than 50 levels"},
	}
	for _, tt := range tests {
		_, err := compileExpression(tt.text)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s\n got %v\nwant %s", shorten(tt.text, 60), err, tt.want)
		}
	}
}

// All names are functions or figures that the parser finds.
func TestExpressionNames(t *testing.T) {
	for _, name := range functionNames {
		if functionNamed(name) == nil {
			t.Errorf("%s is no function", name)
		}
	}
	seen := map[string]bool{}
	for _, f := range figures {
		if seen[f.name] || f.value == nil {
			t.Errorf("figure %s stands twice or has no value", f.name)
		}
		seen[f.name] = true
		if f.name != "max" && functionNamed(f.name) != nil {
			t.Errorf("%s is a figure and a function", f.name)
		}
	}
}

// The longest sum that fits is no trouble.
func TestExpressionLong(t *testing.T) {
	text := "ok" + strings.Repeat("+ok", (maxExpression-2)/3)
	e, err := compileExpression(text)
	if err != nil {
		t.Fatal(err)
	}
	if got := e.evaluate(newAccount(sampleRun(scored(t, "")))); got != 1200*float64(1+(maxExpression-2)/3) {
		t.Errorf("got %v", got)
	}
}

// reference is an expression as a tree, with a plain evaluation of its own.
type reference struct {
	text string
	of   func(ok, good, planned float64) (float64, error)
}

var errNoValue = errors.New("no value")

func leaf(t *rapid.T) reference {
	switch rapid.IntRange(0, 3).Draw(t, "leaf") {
	case 0:
		return reference{"ok", func(ok, _, _ float64) (float64, error) { return ok, nil }}
	case 1:
		return reference{"good('GET /')", func(_, good, _ float64) (float64, error) { return good, nil }}
	case 2:
		return reference{"planned", func(_, _, planned float64) (float64, error) { return planned, nil }}
	}
	v := float64(rapid.IntRange(0, 4000).Draw(t, "number")) / 8
	return reference{strconv.FormatFloat(v, 'f', -1, 64), func(_, _, _ float64) (float64, error) { return v, nil }}
}

// genReference draws a tree; brackets are written everywhere, or only where
// needed because + - * / are of one level each.
func genReference(t *rapid.T, depth int) reference {
	if depth == 0 {
		return leaf(t)
	}
	x, y := genReference(t, depth-1), genReference(t, rapid.IntRange(0, depth-1).Draw(t, "depth"))
	both := func(format string, of func(a, b float64) (float64, error)) reference {
		return reference{fmt.Sprintf(format, x.text, y.text), func(ok, good, planned float64) (float64, error) {
			a, err1 := x.of(ok, good, planned)
			b, err2 := y.of(ok, good, planned)
			if err := errors.Join(err1, err2); err != nil {
				return 0, err
			}
			return of(a, b)
		}}
	}
	switch rapid.SampledFrom([]string{"+", "-", "*", "/", "min", "max", "if", "?", "abs", "clamp", "neg", "sqrt"}).Draw(t, "operator") {
	case "+":
		return both("(%s + %s)", func(a, b float64) (float64, error) { return a + b, nil })
	case "-":
		return both("(%s-%s)", func(a, b float64) (float64, error) { return a - b, nil })
	case "*":
		return both("(%s)*(%s)", func(a, b float64) (float64, error) { return a * b, nil })
	case "/":
		return both("(%s)/(%s)", func(a, b float64) (float64, error) {
			if b == 0 {
				return 0, errNoValue
			}
			return a / b, nil
		})
	case "min":
		return both("min(%s, %s)", func(a, b float64) (float64, error) { return math.Min(a, b), nil })
	case "max":
		return both("max(%s,%s)", func(a, b float64) (float64, error) { return math.Max(a, b), nil })
	case "if":
		return both("if(%[1]s < %[2]s || %[1]s == 7, %[2]s, %[1]s)", func(a, b float64) (float64, error) {
			if a < b || a == 7 {
				return b, nil
			}
			return a, nil
		})
	case "?":
		return both("(%[1]s >= %[2]s && !(%[1]s != 3) ? %[2]s : %[1]s)", func(a, b float64) (float64, error) {
			if a >= b && a == 3 {
				return b, nil
			}
			return a, nil
		})
	case "abs":
		return both("abs(%s - (%s))", func(a, b float64) (float64, error) { return math.Abs(a - b), nil })
	case "clamp":
		return both("clamp(%s, %s, planned + 1e9)", func(a, b float64) (float64, error) { return math.Max(a, b), nil })
	case "neg":
		return both("(-(%s) + %s)", func(a, b float64) (float64, error) { return b - a, nil })
	}
	return both("(sqrt(abs(%s)) + %s)", func(a, b float64) (float64, error) { return math.Sqrt(math.Abs(a)) + b, nil })
}

// What the compiled expression gives is what a plain evaluation gives.
func TestExpressionReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := genReference(t, rapid.IntRange(0, 3).Draw(t, "levels"))
		e, err := compileExpression("0*ok + " + r.text)
		right, late := rapid.IntRange(0, 30).Draw(t, "right"), rapid.IntRange(0, 30).Draw(t, "late")
		one := tallyOf(limits{time.Second, time.Second}, map[time.Duration]int{time.Millisecond: right, 2 * time.Second: late}, 0, 0, 0)
		in := scoreInput{window: time.Second, routes: []*tally{one, {}}, planned: rapid.Int64Range(0, 9).Draw(t, "planned")}
		want, none := r.of(float64(right+late), float64(right), float64(in.planned))
		if none != nil || math.Abs(want) > 1e8 {
			return // both have rules of their own for what has no value
		}
		if err != nil {
			t.Fatalf("%s: %v", r.text, err)
		}
		if got := e.evaluate(newAccount(in)); !near(got, want) {
			t.Fatalf("%s gives %v, want %v", r.text, got, want)
		}
	})
}

// Precedence, without brackets, against the language's own.
func TestExpressionPrecedence(t *testing.T) {
	s := scored(t, "")
	const ok, good = 1200.0, 1160.0
	for text, want := range map[string]float64{
		"ok - good*2 + 3": ok - good*2 + 3,
		"ok/4*2 - -good":  ok/4*2 + good,
		"if(ok < 1 && good > 1 || good == 1160, 1, 2)":   1,
		"if(ok < 1 && (good > 1 || good == 1160), 1, 2)": 2,
		"if(!(ok < 1) && good > 1, 1, 2)":                1,
		"ok > 1 ? good > 1 ? 5 : 6 : 7":                  5,
		"ok > 1 ? 2 + 3 : 7 * 2":                         5,
		"-ok*2":                                          -2 * ok,
	} {
		e, err := compileExpression(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := e.evaluate(newAccount(sampleRun(s))); got != want {
			t.Errorf("%s gives %v, want %v", text, got, want)
		}
	}
}

// No text makes the parser fail in another way than with an error, and what it
// takes always gives a finite number.
func FuzzExpression(f *testing.F) {
	for _, seed := range []string{"3*ok('POST /login') + good - 50*mismatches - p99('GET /')/1ms", "if(p99 < 200ms, rate, 0)", "ok > 1 ? 2 : 3", "clamp(log(ok), -1e3, .5)",
		"sqrt(bytes*bytes)/1KiB", "!(1<ok)||ok==2&&max(max('GET /'),1s)>0", "((((ok", "\"", "1e", "1e+", "ok/(good-good)", "- - -ok", "日本", "0*p99 + 0/ok"} {
		f.Add(seed)
	}
	s := scored(f, "")
	runs := []scoreInput{sampleRun(s), {}, {window: 1, routes: []*tally{nil, {}}}}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := compileExpression(text)
		if err != nil {
			if e != nil || err.Error() == "" {
				t.Errorf("error %q with %v", err, e)
			}
			return
		}
		for _, in := range runs {
			if v := e.evaluate(newAccount(in)); math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%q gives %v", text, v)
			}
		}
	})
}
