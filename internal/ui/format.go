package ui

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Unknown is printed for a number that is not one.
const Unknown = "n/a"

// significant formats v with three significant digits and no exponent, for
// 1 ≤ |v| < 1000 or 0.
func significant(v float64) string {
	switch a := math.Abs(v); {
	case a < 9.995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case a < 99.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// Number formats v with an SI prefix and three significant digits: 12.3k,
// 4.56M, 0.789, 1.23m. Whole numbers below 1000 stay as they are.
func Number(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return Unknown
	case a == 0:
		return "0"
	case a < 1000 && v == math.Trunc(v):
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 0.1 && a < 0.9995:
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
	return scaled(v, 1000, []string{"n", "µ", "m", "", "k", "M", "G", "T"}, 3)
}

// Bytes formats a size in binary units (IEC 80000-13): 12.3 MiB.
func Bytes(n int64) string {
	if n > -1024 && n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	return scaled(float64(n), 1024, []string{" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"}, 0)
}

// scaled divides v by base until it has at most three digits before the
// point; units[one] is that of v itself.
func scaled(v, base float64, units []string, one int) string {
	i := one
	// 999.5 would be printed as 1000.
	for math.Abs(v) >= 999.5 && i < len(units)-1 {
		v /= base
		i++
	}
	for math.Abs(v) < 0.9995 && i > 0 && base == 1000 {
		v *= base
		i--
	}
	return significant(v) + units[i]
}

// Count formats a number for reading: whole, digits in groups of three
// (12,345) from 1000 on, below that three significant digits.
func Count(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Unknown
	}
	if math.Abs(v) < 999.5 {
		if v == math.Trunc(v) {
			return strconv.FormatFloat(v, 'f', 0, 64)
		}
		if math.Abs(v) < 0.9995 {
			return strconv.FormatFloat(v, 'g', 3, 64)
		}
		return significant(v)
	}
	digits := strconv.FormatFloat(math.Abs(v), 'f', 0, 64)
	var b strings.Builder
	if v < 0 {
		b.WriteString("-")
	}
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// Plural is a number with the right one of two words: 1 file, 3 files.
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(float64(n)) + " " + many
}

// Duration formats d with three significant digits up to a minute (1.23 ms),
// above that in whole seconds (24m10s).
func Duration(d time.Duration) string {
	switch a := d.Abs(); {
	case a == 0:
		return "0 s"
	case a < time.Microsecond:
		return fmt.Sprintf("%d ns", d.Nanoseconds())
	case a < 59950*time.Millisecond:
		return scaled(float64(d.Nanoseconds()), 1000, []string{" ns", " µs", " ms", " s"}, 0)
	}
	s := d.Round(time.Second).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Seconds is Duration of a number of seconds.
func Seconds(s float64) string {
	if math.IsNaN(s) || math.Abs(s) > float64(math.MaxInt64/int64(time.Second)) {
		return Unknown
	}
	return Duration(time.Duration(math.Round(s * float64(time.Second))))
}

// Factor formats a multiple: ×1.23, ×45.6, ×0.870.
func Factor(f float64) string {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return Unknown
	case f >= 0 && f < 0.9995:
		return "×" + strconv.FormatFloat(f, 'f', 3, 64)
	case f >= 999.5:
		return "×" + Count(f)
	}
	return "×" + significant(f)
}

// Percent formats a relative effect, 0.042 → "+4.2 %". From a doubling on it
// is a factor, because +1150 % is hard to read.
func Percent(e float64) string {
	switch {
	case math.IsNaN(e) || math.IsInf(e, 0):
		return Unknown
	case e >= 1:
		return Factor(1 + e)
	}
	s := fmt.Sprintf("%+.1f %%", 100*e)
	if s == "-0.0 %" || s == "+0.0 %" {
		return "0.0 %"
	}
	return strings.Replace(s, "-", "−", 1)
}

// Share formats a part of a whole, 0–1, without sign: 12 %.
func Share(p float64) string {
	switch {
	case math.IsNaN(p) || math.IsInf(p, 0):
		return Unknown
	case p > 0 && p < 0.0995:
		return fmt.Sprintf("%.1f %%", 100*p)
	}
	return fmt.Sprintf("%.0f %%", 100*p)
}
