package accesslog

import (
	"fmt"
	"strings"
	"time"
)

// UnitDoubt says that request times can be read in more than one unit, and what
// each of them would mean.
type UnitDoubt struct {
	// Field is the name or the place of the values.
	Field string
	// Readings have at least two ways.
	Readings []Reading
}

// Reading is one way to read times.
type Reading struct {
	// At is the value's place from the line's end, where the readings are of
	// several values; else 0.
	At          int
	Unit        time.Duration // 0: they are no times
	Median, Max time.Duration // of the first lines
}

// UnitName is how --time-unit takes a unit.
func UnitName(u time.Duration) string {
	switch u {
	case time.Second:
		return "s"
	case time.Millisecond:
		return "ms"
	case time.Microsecond:
		return "us"
	}
	return "ns"
}

// ParseUnit reads s, ms, us or ns.
func ParseUnit(s string) (time.Duration, error) {
	if u, ok := unitNames[strings.ToLower(s)]; ok {
		return u, nil
	}
	return 0, fmt.Errorf("%q is no unit of time; write s, ms, us or ns", s)
}

func (s *sample) doubt(field string, readings []time.Duration) *UnitDoubt {
	d := &UnitDoubt{Field: field}
	for _, u := range readings {
		d.Readings = append(d.Readings, s.reading(u))
	}
	return d
}

func (s *sample) reading(u time.Duration) Reading {
	return Reading{Unit: u, Median: time.Duration(s.quantile(0.5) * float64(u)), Max: time.Duration(s.quantile(1) * float64(u))}
}

// longUnit is a unit's name in a sentence.
func longUnit(u time.Duration) string {
	switch u {
	case time.Second:
		return "seconds"
	case time.Millisecond:
		return "milliseconds"
	case time.Microsecond:
		return "microseconds"
	}
	return "nanoseconds"
}

// Flag is the option of kasoku digest that chooses the reading.
func (r Reading) Flag() string {
	switch {
	case r.At != 0:
		return fmt.Sprintf("--time-field=%d", r.At)
	case r.Unit == 0:
		return "--time-field " + noTimes
	}
	return "--time-unit " + UnitName(r.Unit)
}

// Error says what the readings are.
func (d *UnitDoubt) Error() string {
	var ways []string
	for _, r := range d.Readings {
		switch {
		case r.At != 0:
			ways = append(ways, fmt.Sprintf("the value %d from the end (--time-field=%d: the median %v, the most %v)", -r.At, r.At, short(r.Median), short(r.Max)))
			continue
		case r.Unit == 0:
			ways = append(ways, "no times at all")
			continue
		}
		ways = append(ways, fmt.Sprintf("%s (--time-unit %s: the median %v, the most %v)", longUnit(r.Unit), UnitName(r.Unit), short(r.Median), short(r.Max)))
	}
	if d.Readings[0].At != 0 {
		return fmt.Sprintf("%s may each be the request's: %s", d.Field, strings.Join(ways, " or "))
	}
	return fmt.Sprintf("the request times in %s name no unit, and more than one is possible: %s", d.Field, strings.Join(ways, " or "))
}

// short has three digits.
func short(d time.Duration) time.Duration {
	for unit := time.Second; unit > 1; unit /= 10 {
		if d >= 1000*unit/10 {
			return d.Round(unit / 100)
		}
	}
	return d
}
