package foreign

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/load"
)

// finder is a compiled Value.
type finder struct {
	re   *regexp.Regexp // nil: path
	path load.JSONPath
	text string // as written, for messages
}

func (v *Value) compile() (*finder, error) {
	switch {
	case (v.Regexp == "") == (v.JSON == ""):
		return nil, errors.New(`write either {regexp: 'score: (\d+)'} or {json: "$.score"}`)
	case v.JSON != "":
		p, err := load.ParseJSONPath(v.JSON)
		if err != nil {
			return nil, fmt.Errorf("json: %w", err)
		}
		return &finder{path: p, text: "json " + v.JSON}, nil
	}
	re, err := regexp.Compile(v.Regexp)
	if err != nil {
		return nil, fmt.Errorf("regexp: %w; write a regular expression in RE2's syntax", err)
	}
	if re.NumSubexp() > 1 {
		return nil, fmt.Errorf("regexp: has %d groups; put one around the number and write (?:…) for the others", re.NumSubexp())
	}
	return &finder{re: re, text: "regexp " + v.Regexp}, nil
}

// find returns the text of the value: the last match of the pattern, or the
// path's value in the last JSON document that has it.
func (f *finder) find(o *output) (string, bool) {
	if f.re != nil {
		all := f.re.FindAllStringSubmatch(o.text, -1)
		if len(all) == 0 {
			return "", false
		}
		last := all[len(all)-1]
		return last[len(last)-1], true
	}
	for i := len(o.documents) - 1; i >= 0; i-- {
		if b, ok := f.path.Find(o.documents[i]); ok {
			var s string
			if json.Unmarshal(b, &s) == nil && b[0] == '"' {
				return s, true
			}
			return string(b), true
		}
	}
	return "", false
}

// number finds a finite number.
func (f *finder) number(o *output) (float64, error) {
	s, ok := f.find(o)
	if !ok {
		return 0, fmt.Errorf("%s matches nothing", f.text)
	}
	n, err := parseNumber(s)
	if err != nil {
		return 0, fmt.Errorf("%s gives %q, which is not a number", f.text, shorten(s, 40))
	}
	return n, nil
}

// duration finds a number with its unit, or without one in the given unit.
func (f *finder) duration(o *output, unit time.Duration) (time.Duration, error) {
	s, ok := f.find(o)
	if !ok {
		return 0, fmt.Errorf("%s matches nothing", f.text)
	}
	if n, err := parseNumber(s); err == nil {
		return scale(n, unit), nil
	}
	if d, ok := parseDuration(s); ok {
		return d, nil
	}
	return 0, fmt.Errorf("%s gives %q, which is not a duration", f.text, shorten(s, 40))
}

// parseNumber reads 1234, -1.5e3 and 1,234; it refuses NaN and infinities.
func parseNumber(s string) (float64, error) {
	s = strings.TrimSpace(s)
	if thousands.MatchString(s) {
		s = strings.ReplaceAll(s, ",", "")
	}
	n, err := strconv.ParseFloat(s, 64)
	if err == nil && (math.IsNaN(n) || math.IsInf(n, 0)) {
		err = errors.New("not finite")
	}
	return n, err
}

var thousands = regexp.MustCompile(`^[-+]?\d{1,3}(,\d{3})+(\.\d+)?$`)

var withUnit = regexp.MustCompile(`^([-+]?[0-9.]+(?:[eE][-+]?\d+)?) *([a-zµμ]+)$`)

// parseDuration reads one number with a unit as the tools print it: 1.50ms,
// 0.0021 secs, 1m2.5s.
func parseDuration(s string) (time.Duration, bool) {
	s = strings.TrimSpace(s)
	if m := withUnit.FindStringSubmatch(s); m != nil && printedUnits[m[2]] > 0 {
		n, err := parseNumber(m[1])
		return scale(n, printedUnits[m[2]]), err == nil && n >= 0
	}
	d, err := time.ParseDuration(s)
	return d, err == nil && d >= 0
}

// scale is n·unit within the range of a Duration, never below 0.
func scale(n float64, unit time.Duration) time.Duration {
	v := n * float64(unit)
	if !(v > 0) {
		return 0
	}
	return time.Duration(math.Round(min(v, math.MaxInt64/2)))
}

// count is a number as a count, never below 0.
func count(n float64) int64 {
	if !(n > 0) {
		return 0
	}
	return int64(min(math.Round(n), 1<<53))
}

func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
