package load

import (
	"bytes"
	"strings"
)

// maxLink in bytes; longer ones are no real addresses (browsers differ from
// 2 to 64 KiB).
const maxLink = 8 << 10

// linker resolves what stands in a page against the page's own address, as
// RFC 3986, 5.2 and browsers do.
type linker struct {
	base    []byte // request target that relative links are relative to
	foreign bool   // base is another origin, so relative links are, too
	inside  func([]byte) ([]byte, bool)
	clean   []byte // the link without white space
	joined  []byte // the link with its scheme
	target  []byte // what it leads to
}

// linkKind says what became of a link.
type linkKind uint8

const (
	noLink      linkKind = iota // nothing to fetch: empty, data:, javascript:, …
	ownLink                     // of this target
	foreignLink                 // of another origin
)

// setBase takes the value of <base href>.
func (l *linker) setBase(href []byte) {
	switch kind, target := l.resolve(href); kind {
	case ownLink:
		l.base, l.foreign = append([]byte(nil), target...), false
	case foreignLink:
		l.foreign = true
	}
}

// resolve returns the request target that a link leads to, if it is one of
// this origin. It holds until the next call.
func (l *linker) resolve(link []byte) (linkKind, []byte) {
	if len(link) > maxLink {
		return noLink, nil
	}
	link = l.tidy(link)
	link, _ = cutByte(link, '#')
	if len(link) == 0 {
		return noLink, nil
	}
	if scheme := schemeOf(link); scheme > 0 {
		if name := link[:scheme]; !foldEqual(name, "http") && !foldEqual(name, "https") {
			return noLink, nil
		}
		return l.absolute(link)
	}
	if len(link) > 1 && link[0] == '/' && link[1] == '/' {
		// A link without a scheme has the page's own, which inside knows.
		for _, scheme := range []string{"http:", "https:"} {
			l.joined = append(append(l.joined[:0], scheme...), link...)
			if kind, target := l.absolute(l.joined); kind == ownLink {
				return kind, target
			}
		}
		return foreignLink, nil
	}
	if l.foreign {
		return foreignLink, nil
	}
	path, query := splitQuery(link)
	basePath, baseQuery := splitQuery(l.base)
	if len(basePath) == 0 || basePath[0] != '/' {
		basePath = rootPath
	}
	out := l.target[:0]
	switch {
	case len(path) == 0:
		out = append(out, basePath...)
		if len(query) == 0 {
			query = baseQuery
		}
	case path[0] == '/':
		out = appendLink(out, path, oddInPath)
	default:
		out = append(out, basePath[:bytes.LastIndexByte(basePath, '/')+1]...)
		out = appendLink(out, path, oddInPath)
	}
	l.target = appendLink(withoutDots(out), query, oddInQuery)
	return ownLink, l.target
}

// absolute handles http://host/path.
func (l *linker) absolute(link []byte) (linkKind, []byte) {
	own, ok := l.inside(link)
	if !ok || len(own) == 0 || own[0] != '/' {
		return foreignLink, nil
	}
	path, query := splitQuery(own)
	l.target = appendLink(l.target[:0], path, oddInPath)
	l.target = appendLink(withoutDots(l.target), query, oddInQuery)
	return ownLink, l.target
}

// tidy removes what browsers remove: spaces around, line ends and tabs within;
// a \ in the path is a /.
func (l *linker) tidy(link []byte) []byte {
	for len(link) > 0 && link[0] <= ' ' {
		link = link[1:]
	}
	for len(link) > 0 && link[len(link)-1] <= ' ' {
		link = link[:len(link)-1]
	}
	l.clean = l.clean[:0]
	query := false
	for _, b := range link {
		switch {
		case b == '\n' || b == '\r' || b == '\t':
			continue
		case b == '?' || b == '#':
			query = true
		case b == '\\' && !query:
			b = '/'
		}
		l.clean = append(l.clean, b)
	}
	return l.clean
}

// schemeOf is the length of "http" in "http://…"; 0 if there is none.
func schemeOf(link []byte) int {
	for i, b := range link {
		switch {
		case b|0x20 >= 'a' && b|0x20 <= 'z':
		case i > 0 && (b >= '0' && b <= '9' || b == '+' || b == '-' || b == '.'):
		case b == ':':
			return i
		default:
			return 0
		}
	}
	return 0
}

// splitQuery keeps the ? with the query.
func splitQuery(target []byte) (path, query []byte) {
	if i := bytes.IndexByte(target, '?'); i >= 0 {
		return target[:i], target[i:]
	}
	return target, nil
}

// What browsers encode besides white space, control characters and all beyond
// ASCII (URL Standard: path and query percent-encode sets).
const (
	oddInPath  = "\"<>`{}"
	oddInQuery = "\"<>'"
)

// appendLink encodes what cannot stand in a request line.
func appendLink(dst, text []byte, odd string) []byte {
	for _, c := range text {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(odd, c) >= 0 {
			dst = append(dst, '%', hexDigits[c>>4], hexDigits[c&15])
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}

// withoutDots removes . and .. from an absolute path, in its own memory (RFC
// 3986, 5.2.4).
func withoutDots(path []byte) []byte {
	out := path[:0]
	for i := 0; i < len(path); {
		// path[i] is a slash; the segment follows.
		end := i + 1
		for end < len(path) && path[end] != '/' {
			end++
		}
		switch segment := path[i+1 : end]; {
		case isDot(segment):
			if end == len(path) {
				out = append(out, '/')
			}
		case isDotDot(segment):
			if at := bytes.LastIndexByte(out, '/'); at >= 0 {
				out = out[:at]
			}
			if end == len(path) {
				out = append(out, '/')
			}
		default:
			out = append(out, path[i:end]...)
		}
		i = end
	}
	return out
}

func isDot(s []byte) bool { return string(s) == "." || foldEqual(s, "%2e") }

func isDotDot(s []byte) bool {
	return string(s) == ".." || foldEqual(s, ".%2e") || foldEqual(s, "%2e.") || foldEqual(s, "%2e%2e")
}
