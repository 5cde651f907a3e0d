package accesslog

import (
	"bytes"
	"slices"
	"strings"
)

// Bits of what a segment holds.
const (
	hasLetter byte = 1 << iota
	hasDigit
	hasSign    // of numbers and dates: - . , _
	hasControl // not printable; never in a shape, where it would be a mark
	endsPath   // ? #
	endsPart   // /
)

// byteKinds of each byte of a path.
var byteKinds = func() (k [256]byte) {
	for i := range k {
		switch c := byte(i); {
		case c == '/':
			k[i] = endsPart
		case c == '?' || c == '#':
			k[i] = endsPath
		case c >= '0' && c <= '9':
			k[i] = hasDigit
		case c == '-' || c == '.' || c == ',' || c == '_':
			k[i] = hasSign
		case c < ' ' || c == 0x7f:
			k[i] = hasControl
		default:
			k[i] = hasLetter
		}
	}
	return k
}()

// uuidLength: the only class that may be without a digit.
const uuidLength = 36

// AppendShape appends the path of a target with marks in place of the
// segments that vary by their look alone, so that the paths of one route
// without slugs have one shape. counted: a number or a date is among them,
// which the route may yet show. ok is false, and nothing appended, if the
// target has no path ("*", a host for CONNECT). Numbers of a learner with
// Numbers > 2 must stay: keep.
func AppendShape(dst, target []byte, keep bool) (shape []byte, counted, ok bool) {
	if len(target) == 0 || target[0] != '/' {
		if target = pathBytes(target); len(target) == 0 || target[0] != '/' {
			return dst, false, false
		}
	}
	dst = slices.Grow(dst, len(target)+1)
	out := dst[:cap(dst)]
	at := len(dst) // the next byte's place
	out[at] = '/'
	at++
	begin := at // of the segment
	parts := 1
	var has byte
	for _, c := range target[1:] {
		k := byteKinds[c]
		if k < endsPath {
			has |= k
			out[at] = c
			at++
			continue
		}
		if k == endsPath {
			break
		}
		if parts == maxSegments { // the last one holds the rest
			has |= hasLetter
		} else {
			if has&^(hasLetter|hasSign) != 0 || at-begin == uuidLength {
				var n bool
				at, n = shapeSegment(out[:at], begin, has, false, keep)
				counted = counted || n
			}
			parts++
			begin, has = at+1, 0
		}
		out[at] = c
		at++
	}
	if has&^(hasLetter|hasSign) != 0 || at-begin >= uuidLength {
		var n bool
		at, n = shapeSegment(out[:at], begin, has, true, keep)
		counted = counted || n
	}
	return out[:at], counted, true
}

// shapeSegment puts a mark in place of dst[begin:] if it is of a class, and
// returns where it ends. A mark with an extension is never longer than the
// segment.
func shapeSegment(dst []byte, begin int, has byte, last, keep bool) (end int, counted bool) {
	if has == hasDigit { // most
		if keep {
			return len(dst), true
		}
		dst[begin] = markID
		return begin + 1, true
	}
	s := dst[begin:]
	if has&hasControl != 0 {
		for i, c := range s {
			if byteKinds[c] == hasControl {
				s[i] = '_'
			}
		}
	}
	if len(s) == uuidLength && isUUID(s) { // the next most
		dst[begin] = markUUID
		return begin + 1, false
	}
	key := classKey(string(s), last)
	if key == "" {
		return len(dst), false
	}
	counted = isCounted(key[0])
	if counted && keep {
		return len(dst), true
	}
	return begin + copy(s, key), counted
}

// pathBytes is PathOf.
func pathBytes(target []byte) []byte {
	return []byte(PathOf(string(target)))
}

// Counted calls f for each place of a number or a date in a shape that
// AppendShape made of the target, with its value.
func Counted(shape string, target []byte, f func(place int, value []byte)) {
	if len(target) == 0 || target[0] != '/' {
		target = pathBytes(target)
	}
	if end := bytes.IndexAny(target, "?#"); end >= 0 {
		target = target[:end]
	}
	target = bytes.TrimPrefix(target, []byte("/"))
	shape = strings.TrimPrefix(shape, "/")
	for place := 0; ; place++ {
		value, rest, more := bytes.Cut(target, []byte("/"))
		part, shapeRest, _ := strings.Cut(shape, "/")
		if part != "" && isCounted(part[0]) {
			f(place, value)
		}
		if !more {
			return
		}
		target, shape = rest, shapeRest
	}
}
