package accesslog

import "bytes"

// tidy is a number that a program wrote in another way, as one that it can be:
// 200.0 and "200 OK" are a status, 1500.0 is a size, 0,012 a time, and -1 is
// none. What it cannot make out stays as it is.
func tidy(k kind, v []byte) []byte {
	if string(v) == "-1" {
		return nil
	}
	switch k {
	case kindStatus:
		if len(v) > 4 && v[3] == ' ' && isDigits(v[:3]) {
			return v[:3]
		}
		return withoutZeros(v)
	case kindBytes, kindBytesDash:
		return withoutByte(withoutZeros(v))
	case kindRequestTime:
		if whole, fraction, ok := bytes.Cut(v, []byte(",")); ok && isDigits(whole) && isDigits(fraction) {
			out := bytes.Clone(v)
			out[len(whole)] = '.'
			return out
		}
	}
	return v
}

// withoutByte is a size without its unit; nil, which is none, if it was rounded: 5KB, 1.2 MiB.
func withoutByte(v []byte) []byte {
	n := 0
	for n < len(v) && (v[n] >= '0' && v[n] <= '9' || v[n] == '.') {
		n++
	}
	if n == 0 || n == len(v) {
		return v
	}
	switch string(bytes.ToLower(bytes.TrimSpace(v[n:]))) {
	case "b", "bytes", "byte":
		return v[:n]
	case "k", "kb", "kib", "m", "mb", "mib", "g", "gb", "gib":
		return nil
	}
	return v
}

// withoutZeros cuts .0 and the like.
func withoutZeros(v []byte) []byte {
	if whole, fraction, ok := bytes.Cut(v, []byte(".")); ok && len(bytes.Trim(fraction, "0")) == 0 {
		return whole
	}
	return v
}
