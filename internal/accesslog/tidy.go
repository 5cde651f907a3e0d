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
		return withoutZeros(v)
	case kindRequestTime:
		if whole, fraction, ok := bytes.Cut(v, []byte(",")); ok && isDigits(whole) && isDigits(fraction) {
			out := bytes.Clone(v)
			out[len(whole)] = '.'
			return out
		}
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
