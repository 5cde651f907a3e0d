package accesslog

import (
	"fmt"
	"strings"
	"time"
)

// apachePlaces of mod_log_config's directives without an argument.
var apachePlaces = map[byte]place{
	'a': {kind: kindClient}, 'h': {kind: kindClient}, 'l': {kind: kindSkip}, 'u': {kind: kindUser},
	't': {kind: kindTime}, 'r': {kind: kindRequest}, 'm': {kind: kindMethod}, 'U': {kind: kindPath}, 'q': {kind: kindQuery},
	'H': {kind: kindProtocol}, 's': {kind: kindStatus}, 'b': {kind: kindBytesDash}, 'B': {kind: kindBytes}, 'O': {kind: kindBytesDash},
	'D': {kind: kindRequestTime, unit: time.Microsecond, whole: true}, 'T': {kind: kindRequestTime, unit: seconds},
	'v': {kind: kindHost}, 'V': {kind: kindHost}, 'R': {kind: kindHandler},
}

// apacheHeaders of %{Name}i, in lower case.
var apacheHeaders = map[string]place{
	"referer": {kind: kindReferer}, "user-agent": {kind: kindAgent}, "host": {kind: kindHost}, "x-forwarded-for": {kind: kindForwarded},
}

// varnishPlaces of varnishncsa's %{…}x, in lower case. A hit's time to the
// first byte is Varnish's own, not that of a server behind it.
var varnishPlaces = map[string]place{
	"varnish:time_firstbyte": {kind: kindUpstreamTime, unit: seconds},
	"varnish:hitmiss":        {kind: kindCache},
	"varnish:handling":       {kind: kindCache},
}

// Apache compiles a LogFormat string. Times are those of the begin of the
// request, unless the format says %{end:…}t.
func Apache(format string) (*Format, error) {
	format = xmlQuotes.Replace(format)
	b := newBuild(format, false)
	for s := strings.ReplaceAll(format, "%U%q", "%U"); s != ""; {
		at := strings.IndexByte(s, '%')
		if at != 0 {
			if at < 0 {
				at = len(s)
			}
			b.literal(strings.NewReplacer(`\t`, "\t", `\n`, "\n").Replace(s[:at]))
			s = s[at:]
			continue
		}
		rest, err := b.directive(s)
		if err != nil {
			return nil, fmt.Errorf("log format %q: %w", format, err)
		}
		s = rest
	}
	return b.done()
}

// xmlQuotes are how a pattern's quotes stand in Tomcat's server.xml.
var xmlQuotes = strings.NewReplacer("&quot;", `"`, "&#34;", `"`, "&apos;", "'", "&lt;", "<", "&gt;", ">", "&amp;", "&")

// directive reads %…x at the begin of s.
func (b *build) directive(s string) (rest string, err error) {
	i := 1
	for i < len(s) && strings.IndexByte("<>!,0123456789", s[i]) >= 0 { // which request, which statuses
		i++
	}
	argument := ""
	if i < len(s) && s[i] == '{' {
		end := strings.IndexByte(s[i:], '}')
		if end < 0 {
			return "", fmt.Errorf("%q has no closing }", s)
		}
		argument = s[i+1 : i+end]
		i += end + 1
	}
	size := 1
	if strings.HasPrefix(s[min(i, len(s)):], "^") {
		size = 3 // ^ti, ^to
	}
	if i+size > len(s) {
		return "", fmt.Errorf("%q ends without a directive", s)
	}
	letter, name := s[i], s[:i+size]
	rest = s[i+size:]
	switch {
	case letter == '%':
		b.literal("%")
	case letter == 't' && argument == "":
		b.literal("[")
		b.value(op{place: place{kind: kindTime}, name: name, width: len("02/Jan/2006:15:04:05 -0700")})
		b.literal("]")
	case letter == 't':
		return rest, b.strftime(argument)
	case letter == 'T' && argument != "":
		unit, ok := map[string]time.Duration{"s": seconds, "ms": time.Millisecond, "us": time.Microsecond}[argument]
		if !ok {
			return "", fmt.Errorf("%s: the unit is s, ms or us", name)
		}
		b.value(op{place: place{kind: kindRequestTime, unit: unit}, name: name})
	case letter == 'i':
		b.value(op{place: apacheHeaders[strings.ToLower(argument)], name: argument, list: strings.EqualFold(argument, "x-forwarded-for")})
	case name[len(name)-size:] == "^FB": // mod_logio
		b.value(op{place: place{kind: kindFirstByte, unit: time.Microsecond}, name: name})
	case letter == 'x' && varnishPlaces[strings.ToLower(argument)].kind != kindOther:
		b.value(op{place: varnishPlaces[strings.ToLower(argument)], name: argument})
	case argument != "" && !(letter == 'a' && argument == "c"):
		b.value(op{name: argument})
	default:
		o := op{place: apachePlaces[letter], name: name}
		if letter == 'r' {
			o.spaces = 2
		}
		b.value(o)
	}
	return rest, nil
}

// strftimeWidths are the letters of strftime that are understood.
var strftimeWidths = map[byte]op{
	'Y': {place: place{kind: kindYear}, width: 4}, 'm': {place: place{kind: kindMonth}, width: 2},
	'b': {place: place{kind: kindMonthName}, width: 3}, 'h': {place: place{kind: kindMonthName}, width: 3},
	'd': {place: place{kind: kindDay}, width: 2}, 'e': {place: place{kind: kindDay}, width: 2},
	'H': {place: place{kind: kindHour}, width: 2}, 'I': {place: place{kind: kindHour12}, width: 2}, 'M': {place: place{kind: kindMinute}, width: 2},
	'S': {place: place{kind: kindSecond}, width: 2}, 'p': {place: place{kind: kindHalf}, width: 2}, 'z': {place: place{kind: kindZone}, width: 5},
	'a': {place: place{kind: kindSkip}, width: 3}, 'j': {place: place{kind: kindSkip}, width: 3}, 'Z': {place: place{kind: kindSkip}},
}

var strftimeLong = map[byte]string{'T': "%H:%M:%S", 'F': "%Y-%m-%d", 'R': "%H:%M", 'D': "%m/%d/%y", 'c': "%a %b %e %H:%M:%S %Y"}

// strftime adds the pieces of %{…}t: Apache's own sec, msec, usec,
// msec_frac and usec_frac, or strftime's letters.
func (b *build) strftime(format string) error {
	if f, ok := strings.CutPrefix(format, "end:"); ok {
		b.f.ended, format = true, f
	}
	format = strings.TrimPrefix(format, "begin:")
	fixed := map[string]op{"sec": {place: place{kind: kindEpoch}, width: 10}, "msec": {place: place{kind: kindEpochMillis}, width: 13},
		"usec": {place: place{kind: kindEpochMicros}, width: 16}, "msec_frac": {place: place{kind: kindMillis}, width: 3},
		"usec_frac": {place: place{kind: kindMicros}, width: 6}}
	if o, ok := fixed[format]; ok {
		o.name = format
		b.value(o)
		return nil
	}
	if format == "%s" { // seconds since 1970, as glibc has it
		b.value(op{place: place{kind: kindEpoch}, name: format})
		return nil
	}
	for letter, long := range strftimeLong {
		format = strings.ReplaceAll(format, "%"+string(letter), long)
	}
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.literal(format[i : i+1])
			continue
		}
		i++
		if format[i] == '%' {
			b.literal("%")
			continue
		}
		o, ok := strftimeWidths[format[i]]
		if !ok {
			return fmt.Errorf("%%{%s}t: %%%c is not understood; use d, b, m, Y, H, I, p, M, S, T, F, z", format, format[i])
		}
		o.name = "%" + format[i:i+1]
		b.value(o)
	}
	return nil
}
