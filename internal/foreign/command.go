package foreign

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// DefaultTimeout of a benchmark: ISUCON's take one to two minutes.
const DefaultTimeout = 5 * time.Minute

// Command is load.command of kasoku.yaml.
type Command struct {
	// Argv runs without a shell, in kasoku.yaml's folder.
	Argv Argv `yaml:"argv,omitempty,flow" json:"argv"`
	// Format of the output; empty: recognised by the output itself.
	Format string `yaml:"format,omitempty" json:"format,omitempty"`
	// Score, Errors and Requests say where these stand; they go before what
	// the format finds.
	Score    *Value   `yaml:"score,omitempty" json:"score,omitempty"`
	Errors   *Value   `yaml:"errors,omitempty" json:"errors,omitempty"`
	Requests *Value   `yaml:"requests,omitempty" json:"requests,omitempty"`
	Latency  *Latency `yaml:"latency,omitempty" json:"latency,omitempty"`
	// FailIf: a match means that the benchmark judged the service wrong.
	FailIf *Pattern `yaml:"fail_if,omitempty" json:"fail_if,omitempty"`
	// Timeout ends the benchmark and all it started; 0: DefaultTimeout.
	Timeout time.Duration `yaml:"timeout,omitempty" json:"timeout,omitempty"`
	// Environment is added to Kasoku's own.
	Environment map[string]string `yaml:"environment,omitempty" json:"environment,omitempty"`
	// Warmup is how long after its start the benchmark begins to score: its
	// own preparation, which the collectors leave out.
	Warmup time.Duration `yaml:"warmup,omitempty" json:"warmup,omitempty"`
}

// UnmarshalYAML takes a list or a text, which is argv alone, or the section.
func (c *Command) UnmarshalYAML(unmarshal func(any) error) error {
	var argv Argv
	if err := unmarshal(&argv); err == nil {
		*c = Command{Argv: argv}
		return nil
	}
	type section Command
	return unmarshal((*section)(c))
}

// Value says where a number stands: one of the two is set.
type Value struct {
	// Regexp's first group, or all of it, is the number; the last match counts.
	Regexp string `yaml:"regexp,omitempty" json:"regexp,omitempty"`
	// JSON is a path into the last JSON document that has it.
	JSON string `yaml:"json,omitempty" json:"json,omitempty"`
}

// Pattern is a regular expression (RE2) over the output.
type Pattern struct {
	Regexp string `yaml:"regexp" json:"regexp"`
}

// Latency says where latencies stand and in which unit they are.
type Latency struct {
	// Unit of numbers without one: ns, us, ms (default) or s.
	Unit string `yaml:"unit,omitempty" json:"unit,omitempty"`
	Mean *Value `yaml:"mean,omitempty" json:"mean,omitempty"`
	P50  *Value `yaml:"p50,omitempty" json:"p50,omitempty"`
	P90  *Value `yaml:"p90,omitempty" json:"p90,omitempty"`
	P95  *Value `yaml:"p95,omitempty" json:"p95,omitempty"`
	P99  *Value `yaml:"p99,omitempty" json:"p99,omitempty"`
	Max  *Value `yaml:"max,omitempty" json:"max,omitempty"`
}

// units that load.command.latency.unit may have.
var units = map[string]time.Duration{"ns": time.Nanosecond, "us": time.Microsecond, "ms": time.Millisecond, "s": time.Second}

// printedUnits are those of durations in the tools' output. µ has two code
// points: the micro sign and the Greek letter.
var printedUnits = map[string]time.Duration{"ns": time.Nanosecond, "us": time.Microsecond, "µs": time.Microsecond, "μs": time.Microsecond,
	"ms": time.Millisecond, "s": time.Second, "sec": time.Second, "secs": time.Second, "m": time.Minute, "min": time.Minute, "h": time.Hour}

// Problem is one thing that is wrong in a Command. Path is below
// load.command, "" for itself.
type Problem struct{ Path, Text string }

// Limit is Timeout with the default applied.
func (c *Command) Limit() time.Duration {
	if c.Timeout == 0 {
		return DefaultTimeout
	}
	return c.Timeout
}

// Check returns everything that is wrong, each with what to write.
func (c *Command) Check() []Problem {
	var out []Problem
	report := func(path, format string, args ...any) {
		out = append(out, Problem{path, fmt.Sprintf(format, args...)})
	}
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		report("argv", "missing; write [program, argument, …]")
	}
	if c.Format != "" && !slices.Contains(Formats(), c.Format) {
		report("format", "unknown format %q; write one of %s, or remove it to let the output tell", c.Format, strings.Join(Formats(), ", "))
	}
	if c.Format == Custom && c.Score == nil {
		report("format", `custom needs a score; write e.g. "score: {regexp: 'score: (\d+)'}"`)
	}
	named := map[string]*Value{"score": c.Score, "errors": c.Errors, "requests": c.Requests}
	if l := c.Latency; l != nil {
		if l.Unit != "" && units[l.Unit] == 0 {
			report("latency.unit", "unknown unit %q; write ns, us, ms or s", l.Unit)
		}
		for name, v := range l.values() {
			named["latency."+name] = *v
		}
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if v := named[name]; v != nil {
			if _, err := v.compile(); err != nil {
				report(name, "%v", err)
			}
		}
	}
	if c.FailIf != nil {
		if c.FailIf.Regexp == "" {
			report("fail_if.regexp", "missing; write a pattern that only a failed run prints")
		} else if _, err := regexp.Compile(c.FailIf.Regexp); err != nil {
			report("fail_if.regexp", "%v; write a regular expression in RE2's syntax", err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Environment)) {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(c.Environment[name], 0) {
			report("environment", "%q cannot be a variable; write NAME: value", name)
		}
	}
	if c.Timeout > maxTimeout {
		report("timeout", "%s is too long; write at most %s", c.Timeout, maxTimeout)
	}
	if c.Warmup >= c.Limit() {
		report("warmup", "%s leaves nothing of the time limit of %s; write less, or a longer timeout", c.Warmup, c.Limit())
	}
	return out
}

// maxTimeout: what runs longer is no benchmark that can be repeated.
const maxTimeout = 6 * time.Hour

// values are the latencies by name.
func (l *Latency) values() map[string]**Value {
	return map[string]**Value{"mean": &l.Mean, "p50": &l.P50, "p90": &l.P90, "p95": &l.P95, "p99": &l.P99, "max": &l.Max}
}
