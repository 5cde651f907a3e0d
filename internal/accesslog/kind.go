package accesslog

import (
	"bytes"
	"time"
)

// kind says where a value goes.
type kind uint8

const (
	kindOther kind = iota
	kindSkip
	kindTime // any form that clock reads
	kindBegin
	kindClient
	kindAddress // the client, which must be an address
	kindPeer    // the client, where another label may be taken for it
	kindForwarded
	kindUser
	kindRequest
	kindMethod
	kindTarget
	kindPath
	kindQuery
	kindProtocol
	kindHost
	kindStatus
	kindBytes
	kindBytesDash // Apache's %b: "-" is 0
	kindRequestTime
	kindUpstreamTime
	kindReferer
	kindAgent
	kindCache
	kindHandler      // Apache's %R
	kindFirstByte    // Apache's %^FB
	kindTimePart     // one of several that sum up to the request's time; -1: not known
	kindUpstreamPart // such a one that is the upstream's time, too
	kindGoTime       // the request's, as Go prints durations, or a number
	kindGoUpstream   // the upstream's, so
	kindWholeTime    // the request's, a number without a fraction
	kindCode         // a status, or 0 where there is none
	kindSize         // bytes, of a padded column
	kindDate         // of W3C's column, and its time of day
	kindClock
	kindHitMiss // one of the words that Varnish has for it
	kindScript  // an absolute path
	kindPercent // a number and %
	kindYear
	kindMonth
	kindMonthName
	kindDay
	kindHour
	kindHour12
	kindMinute
	kindSecond
	kindMillis
	kindMicros
	kindHalf // AM, PM
	kindZone
	kindEpoch
	kindEpochMillis
	kindEpochMicros
)

// place is a kind with the unit of its number.
type place struct {
	kind kind
	// unit of a duration whose text has none; 0: seconds with a fraction, as
	// nginx writes them.
	unit time.Duration
	// whole: a number with a fraction is none (Apache's %D).
	whole bool
	// unsure says how the unit of a text without one is known.
	unsure doubt
	// decimals that a number has, neither more nor fewer; 0: any.
	decimals int8
	// form: the text must be a time by its form (isTimeForm), or several.
	form bool
	// positive: 0 stands for none.
	positive bool
	// needed: a dash or nothing is no value.
	needed bool
}

// set puts a decoded value into the entry; false if it cannot be one.
func (e *Entry) set(p place, name string, v []byte, c *clock) bool {
	if len(v) == 0 || len(v) == 1 && v[0] == '-' {
		if p.kind == kindBytesDash {
			e.Bytes = 0
		}
		return !p.needed
	}
	switch p.kind {
	case kindSkip:
	case kindTime, kindBegin:
		t, ok := c.read(v)
		// Of several times the finer one counts: $time_local beside $msec.
		if ok && (p.kind == kindBegin || e.Time.IsZero() || e.Time.Nanosecond() == 0 && t.Nanosecond() != 0) {
			e.Time, e.Ended = t, e.Ended && p.kind == kindTime
		}
		return ok
	case kindAddress:
		e.Client = withoutPort(v)
		return isAddress(v)
	case kindPeer:
		if e.Client != nil && e.Host == nil {
			e.Host = e.Client // nginx's $host, which in LTSV is the client's label
		}
		e.Client = withoutPort(v)
	case kindClient:
		if e.Client != nil && e.Host == nil && name == "host" {
			e.Host = v
			break
		}
		e.Client = withoutPort(v)
		return bytes.IndexByte(v, ' ') < 0 && !isDigits(v) // else other values came before it
	case kindForwarded:
		e.Forwarded = v
	case kindUser:
		e.User = v
	case kindRequest:
		if e.Method != nil && v[0] == '/' && bytes.IndexByte(v, ' ') < 0 { // the method stands apart
			e.Target = v
			break
		}
		e.setRequest(v)
	case kindMethod:
		e.Method = v
	case kindTarget:
		e.Target = v
	case kindPath:
		e.path = v
	case kindQuery:
		e.query = bytes.TrimPrefix(v, []byte("?"))
	case kindProtocol:
		e.Protocol = v
	case kindHost:
		if e.Host == nil {
			e.Host = v
		}
	case kindReferer:
		e.Referer = v
	case kindAgent:
		e.Agent = v
	case kindCache:
		e.Cache = v
	case kindHandler:
		e.handler = v
	case kindOther:
		e.Other = append(e.Other, Field{name, v})
	default:
		return e.setNumber(p, v)
	}
	return true
}

func (e *Entry) setNumber(p place, v []byte) bool {
	switch p.kind {
	case kindStatus:
		n, ok := number(v)
		if !ok || len(v) != 3 {
			return false
		}
		e.Status = int(n)
	case kindBytes, kindBytesDash:
		n, ok := number(v)
		if ok && (e.Bytes < 0 || p.kind == kindBytes) {
			e.Bytes = n
		}
		return ok
	case kindRequestTime:
		if p.whole && !isDigits(v) || !p.fits(v) {
			return false
		}
		d, ok := duration(v, p.unit)
		e.Request = d
		return ok
	case kindUpstreamTime:
		return p.fitsAll(v) && e.setUpstream(v, p.unit)
	case kindFirstByte:
		d, ok := duration(v, p.unit)
		e.firstByte = d
		return ok
	case kindTimePart, kindUpstreamPart, kindGoTime, kindGoUpstream, kindWholeTime, kindCode, kindSize, kindHitMiss, kindScript, kindPercent:
		return e.setProduct(p, v)
	default:
		return e.parts.setPart(p.kind, v)
	}
	return true
}

// setUpstream sums "0.012, 0.030 : 0.001"; nginx writes one per server asked,
// and "-" for one that was not reached.
// Of several fields with such times the longest counts. Values with a space
// alone between them are several fields.
func (e *Entry) setUpstream(v []byte, unit time.Duration) bool {
	sum := time.Duration(-1)
	joined := true // a comma or colon stands before the value
	for len(v) > 0 {
		end := 0
		for end < len(v) && v[end] != ',' && v[end] != ' ' {
			end++
		}
		if end > 0 && !joined && v[0] != ':' {
			return false
		}
		joined = joined && end == 0 || end < len(v) && v[end] == ',' || end == 1 && v[0] == ':'
		if one := v[:end]; len(one) > 0 && string(one) != "-" && string(one) != ":" {
			d, ok := duration(one, unit)
			if sum = max(sum, 0) + d; !ok || sum > maxDuration {
				return false
			}
		}
		v = v[min(end+1, len(v)):]
	}
	e.Upstream = max(e.Upstream, sum)
	return true
}

// setPart sets one piece of a time.
func (p *clockParts) setPart(k kind, v []byte) bool {
	p.set = true
	n, isNumber := number(bytes.TrimLeft(v, " "))
	i := int(n)
	switch k {
	case kindMonthName:
		return p.monthName(v)
	case kindZone:
		return p.readZone(v)
	case kindHalf:
		p.twelve, p.pm = true, v[0] == 'P' || v[0] == 'p'
		return true
	case kindEpoch:
		p.epoch = n
		return isNumber && n <= maxEpoch
	case kindEpochMillis:
		p.epoch, p.nanos = n/1000, int(n%1000)*1_000_000
		return isNumber && n/1000 <= maxEpoch
	case kindEpochMicros:
		p.epoch, p.nanos = n/1_000_000, int(n%1_000_000)*1000
		return isNumber && n/1_000_000 <= maxEpoch
	case kindYear:
		p.year = i
		return isNumber && i <= 9999
	case kindMonth:
		p.month = i
		return isNumber && i >= 1 && i <= 12
	case kindDay:
		p.day = i
		return isNumber && i >= 1 && i <= 31
	case kindHour, kindHour12:
		p.hour, p.twelve = i, p.twelve || k == kindHour12
		return isNumber && i < 24
	case kindMinute:
		p.minute = i
		return isNumber && i < 60
	case kindSecond:
		p.second = i
		return isNumber && i <= 60
	case kindMillis:
		p.nanos = i * 1_000_000
		return isNumber && i < 1000
	case kindMicros:
		p.nanos = i * 1000
		return isNumber && i < 1_000_000
	}
	return false
}

// withoutPort cuts the port off 10.0.0.1:5000 and [::1]:5000.
func withoutPort(v []byte) []byte {
	if len(v) > 0 && v[0] == '[' {
		if end := bytes.IndexByte(v, ']'); end > 1 {
			return v[1:end]
		}
		return v
	}
	if at := bytes.IndexByte(v, ':'); at > 0 && bytes.IndexByte(v[at+1:], ':') < 0 {
		return v[:at]
	}
	return v
}
