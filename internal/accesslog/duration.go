package accesslog

import (
	"bytes"
	"math/bits"
	"strconv"
	"time"
)

const (
	// maxDuration: what is longer is no request.
	maxDuration = 1000 * time.Hour
	// maxDurationText: "2562047h47m16.854775807s" is the longest that Go writes.
	maxDurationText = 32
)

// duration reads 1.234 in units; with unit 0 the fraction is required, and they
// are seconds. A unit behind the number counts instead: 45.2ms, 812ns, "12 ms",
// "1.5 seconds", and several as Go's time.Duration writes them, 1m2.5s. false:
// it is none, or not within 0 and maxDuration; d is -1 then.
func duration(v []byte, unit time.Duration) (d time.Duration, ok bool) {
	if len(v) > 3 && (v[0] == 'P' || v[2] == ':') {
		return clockDuration(v)
	}
	for rest := v; ; {
		n, u, dotted := measure(rest)
		first, last := len(rest) == len(v), u == len(rest)
		scale := unit
		switch name := rest[n:u]; {
		case n == 0:
			return -1, false
		case len(name) > 0:
			if scale = goUnits[string(name)]; scale == 0 && first && last && len(v) <= maxDurationText {
				scale = unitNames[string(bytes.ToLower(bytes.TrimLeft(name, " ")))]
			}
			if scale <= 0 {
				return -1, false
			}
		case !first:
			return -1, false
		case unit == 0:
			if scale = time.Second; !dotted {
				return -1, false
			}
		}
		one, ok := scaled(rest[:n], scale)
		if d += one; !ok || d > maxDuration {
			return -1, false
		}
		if last {
			return d, true
		}
		rest = rest[u:]
	}
}

// clockDuration reads 00:00:01.2500000, as .NET writes a TimeSpan, and PT1.25S, as
// ISO 8601 and Java do, of less than a day.
func clockDuration(v []byte) (time.Duration, bool) {
	if text, ok := bytes.CutPrefix(v, []byte("PT")); ok {
		if bytes.ContainsAny(text, "nuµμ") || len(text) == 0 {
			return -1, false
		}
		return duration(bytes.ToLower(text), 0) // H, M and S are Go's units
	}
	var p clockParts
	if len(v) < 8 || !p.clockTime(v[:8]) || p.minute > 59 || p.second > 59 {
		return -1, false
	}
	if rest, ok := p.fraction(v[8:]); !ok || len(rest) > 0 {
		return -1, false
	}
	return time.Duration(p.hour)*time.Hour + time.Duration(p.minute)*time.Minute + time.Duration(p.second)*time.Second + time.Duration(p.nanos), true
}

// measure tells where the number that b begins with ends, and the unit behind it.
func measure(b []byte) (number, unit int, dotted bool) {
	for number < len(b) && (b[number] >= '0' && b[number] <= '9' || b[number] == '.') {
		dotted = dotted || b[number] == '.'
		number++
	}
	for unit = number; unit < len(b) && b[unit] != '.' && (b[unit] < '0' || b[unit] > '9'); {
		unit++
	}
	return number, unit, dotted
}

// scaled is a decimal number of units, down to the nanosecond.
func scaled(v []byte, unit time.Duration) (time.Duration, bool) {
	whole, fraction, dotted := bytes.Cut(v, []byte("."))
	n, ok := number(whole)
	if !ok || n > int64(maxDuration/unit) {
		return 0, false
	}
	d := time.Duration(n) * unit
	if dotted {
		var p clockParts
		if !p.fractionDigits(fraction) {
			return 0, false
		}
		// The product of 10⁹ and an hour does not fit 64 bits. The quotient does,
		// as nanos is less than a whole.
		high, low := bits.Mul64(uint64(p.nanos), uint64(unit))
		part, _ := bits.Div64(high, low, uint64(time.Second))
		d += time.Duration(part)
	}
	return d, true
}

// goDuration is duration for what writes 8.5e-05, too, as JSON may have it.
// With unit 0 a number alone is none.
func goDuration(v []byte, unit time.Duration) (time.Duration, bool) {
	if unit == 0 {
		if isDecimal(v) {
			return -1, false
		}
		return duration(v, 0)
	}
	if d, ok := duration(v, unit); ok || !bytes.ContainsAny(v, "eE") {
		return d, ok
	}
	f, err := strconv.ParseFloat(string(v[:min(len(v), maxMark)]), 64)
	if err != nil || !(f >= 0 && f*unit.Seconds() <= maxDuration.Seconds()) {
		return -1, false
	}
	return time.Duration(f * float64(unit)), true
}

// goUnits are those that Go writes.
var goUnits = map[string]time.Duration{
	"ns": time.Nanosecond, "us": time.Microsecond, "µs": time.Microsecond, "μs": time.Microsecond,
	"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour,
}
