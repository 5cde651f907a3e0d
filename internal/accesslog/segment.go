package accesslog

import "strings"

// A mark is the first byte of a segment that stands for many. Segments of a
// shape hold no other control bytes.
const (
	markID byte = 1 + iota
	markDate
	markUUID
	markHash
	markSlug
	markEnd

	slugMark = string(rune(markSlug))
	hashMark = string(rune(markHash))
)

// markNames are how routes show marks.
var markNames = [markEnd]string{markID: ":id", markDate: ":date", markUUID: ":uuid", markHash: ":hash", markSlug: ":slug"}

// isCounted: numbers and dates stay themselves where there are few.
func isCounted(mark byte) bool { return mark == markID || mark == markDate }

// class of a path segment that varies, by its look alone. 0 is a word, which
// may still be a slug.
func class(s string) byte {
	switch {
	case s == "":
		return 0
	case s[0] < markEnd && s[0] > 0:
		return s[0]
	case isDate(s):
		return markDate
	case isNumber(s):
		return markID
	case isUUID(s):
		return markUUID
	case isHash(s):
		return markHash
	}
	return 0
}

// classKey is the class's mark with the extension; "" for a word. Only a
// path's last segment is a file's name.
func classKey(s string, last bool) string {
	c := class(s)
	switch {
	case c != 0 && s[0] == c:
		return s // a shape's
	case c != 0:
		return string(rune(c))
	case last:
		if stem, ext := splitName(s); ext != "" {
			if c := class(stem); c != 0 {
				return string(rune(c)) + ext
			}
		}
	}
	return ""
}

// isNumber: digits, perhaps with a sign or several groups (17, -3, 12-34,
// 1.5, 10,20).
func isNumber(s string) bool {
	digits := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c == '-' || c == '.' || c == ',' || c == '_':
		default:
			return false
		}
	}
	return digits > 0 && s[len(s)-1] >= '0' && s[len(s)-1] <= '9'
}

// isUUID in its usual form, 8-4-4-4-12 hexadecimal digits.
func isUUID[text string | []byte](s text) bool {
	if len(s) != uuidLength || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return false
	}
	dashes := 0
	for i := range len(s) {
		switch hexDigits[s[i]] {
		case 0:
			return false
		case hexDash:
			dashes++
		}
	}
	return dashes == 4
}

const hexDash = 2

// hexDigits is 0 for bytes that are not in a UUID.
var hexDigits = func() (k [256]byte) {
	for _, c := range []byte("0123456789abcdefABCDEF") {
		k[c] = 1
	}
	k['-'] = hexDash
	return k
}()

// isDate: 2024-05-17, 2024-05, perhaps with a time behind T or _.
func isDate(s string) bool {
	if len(s) < 7 || s[4] != '-' || !isNumber(s[:4]) || !isNumber(s[5:7]) {
		return false
	}
	year, month := s[:4], s[5:7]
	if year < "1900" || year > "2199" || month < "01" || month > "12" {
		return false
	}
	if len(s) == 7 {
		return true
	}
	if len(s) < 10 || s[7] != '-' || s[8:10] < "01" || s[8:10] > "31" {
		return false
	}
	return len(s) == 10 || s[10] == 'T' || s[10] == 't' || s[10] == '_'
}

// isHash: at least 16 hexadecimal digits with a digit among them (MD5, SHA,
// MongoDB's 24, truncated digests), or 20 and more letters and digits mixed as
// only random text is (ULID, base64).
func isHash(s string) bool {
	var digits, hex, lower, upper, other, changes int
	last := 0
	for i := range len(s) {
		kind := 0
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			digits, kind = digits+1, 1
		case c >= 'a' && c <= 'z':
			lower, kind = lower+1, 2
		case c >= 'A' && c <= 'Z':
			upper, kind = upper+1, 3
		case c == '-' || c == '_' || c == '=':
			other++
		default:
			return false
		}
		if hexValue(s[i]) >= 0 {
			hex++
		}
		if i > 0 && kind != last {
			changes++
		}
		last = kind
	}
	if hex == len(s) && len(s) >= 16 && digits > 0 {
		return true
	}
	// Words joined by dashes change their kind at the dashes only; random text
	// of 20 characters changes it 12 times, give or take 2.
	return len(s) >= 20 && digits > 0 && (lower > 0 || upper > 0) && other <= len(s)/10 && changes*4 >= len(s)
}

// minRandom is how long a random text without a digit is at least, as one in
// forty of 22 characters in base64 is.
const minRandom = 20

// mayBeRandom: a long text of letters, which nobody named so if its neighbours
// are hashes.
func mayBeRandom(s string) bool {
	return len(s) >= minRandom && (strings.Count(s, "-")+strings.Count(s, "_"))*10 <= len(s) && !strings.ContainsAny(s, "%+. ")
}

// splitName cuts a file name's extension off: it stays in the route.
func splitName(s string) (stem, ext string) {
	at := strings.LastIndexByte(s, '.')
	if at <= 0 || len(s)-at > 9 || at == len(s)-1 {
		return s, ""
	}
	letter := false
	for i := at + 1; i < len(s); i++ {
		c := s[i] | 0x20
		if c >= 'a' && c <= 'z' {
			letter = true
		} else if c < '0' || c > '9' {
			return s, ""
		}
	}
	if !letter {
		return s, ""
	}
	return s[:at], s[at:]
}

// isWord: short and plain, as people name pages and API methods.
func isWord(s string) bool {
	if len(s) == 0 || len(s) > 16 {
		return false
	}
	for i := range len(s) {
		if c := s[i] | 0x20; (c < 'a' || c > 'z') && s[i] != '-' && s[i] != '_' {
			return false
		}
	}
	return strings.Count(s, "-")+strings.Count(s, "_") <= 1
}

// IsSecretLike: a path's segment that looks random, as tokens do; its first
// six bytes tell it apart well enough. UUIDs are names.
func IsSecretLike(segment []byte) bool {
	stem, _ := splitName(string(segment))
	return class(stem) == markHash && len(segment) > 6
}
