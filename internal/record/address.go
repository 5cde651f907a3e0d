package record

import (
	"net/url"
	"strings"
)

const hexDigits = "0123456789ABCDEF"

// parseable makes an address one that can be parsed without a change of what it
// says: bytes of its path that may not stand there are percent-encoded (RFC
// 3986, section 3.3), and a lone % too. Host and query stay.
func parseable(address string) string {
	begin := 0
	if at := strings.Index(address, "://"); at >= 0 {
		begin = at + 3
	}
	slash := strings.IndexAny(address[begin:], "/?#")
	if slash < 0 {
		return address
	}
	begin += slash
	end := len(address)
	if at := strings.IndexAny(address[begin:], "?#"); at >= 0 {
		end = begin + at
	}
	var b strings.Builder
	b.WriteString(address[:begin])
	for i := begin; i < len(address); i++ {
		c := address[i]
		bad := c < ' ' || c == 0x7f
		if i < end {
			bad = bad || c == ' ' || c >= 0x80 || strings.IndexByte("\"<>\\^`{|}", c) >= 0
		}
		if bad || c == '%' && (i+2 >= len(address) || !isHex(address[i+1]) || !isHex(address[i+2])) {
			b.WriteByte('%')
			b.WriteByte(hexDigits[c>>4])
			b.WriteByte(hexDigits[c&15])
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// dropPort takes the port away that the scheme has anyway.
func dropPort(u *url.URL) {
	if port := u.Port(); u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		u.Host = strings.TrimSuffix(u.Host, ":"+port)
	}
}

// originOf a person's --origin, written as origins are compared.
func originOf(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return strings.TrimSuffix(text, "/")
	}
	dropPort(u)
	return u.Scheme + "://" + u.Host
}

// schemeText says why an address of this scheme is not taken.
func schemeText(scheme string) string {
	if scheme == "" {
		return "their address could not be read (is a variable unknown, or a character not encoded?)"
	}
	return shortText(scheme, 20) + ": addresses; only http and https are taken"
}

// withoutDots resolves the steps . and .. of an address's path (RFC 3986,
// section 5.2.4), as clients do before they send it.
func withoutDots(address string) string {
	begin := 0
	if at := strings.Index(address, "://"); at >= 0 {
		begin = at + 3
	}
	slash := strings.IndexAny(address[begin:], "/?#")
	if slash < 0 || address[begin+slash] != '/' {
		return address
	}
	begin += slash
	end := len(address)
	if at := strings.IndexAny(address[begin:], "?#"); at >= 0 {
		end = begin + at
	}
	parts := strings.Split(address[begin+1:end], "/")
	var out []string
	for i, part := range parts {
		last := i == len(parts)-1
		switch part {
		case "..":
			out = out[:max(len(out)-1, 0)]
			fallthrough
		case ".":
			if last {
				out = append(out, "")
			}
		default:
			out = append(out, part)
		}
	}
	return address[:begin] + "/" + strings.Join(out, "/") + address[end:]
}

// afterHost is what of an address follows the host whose begin is not known:
// {{scheme}}://{{host}}:{{port}}/path, {{host}}:8080/path.
func afterHost(rest string) string {
	whole := rest
	if rest = strings.TrimPrefix(rest, "://"); len(rest) == len(whole) && !strings.HasPrefix(rest, ":") && !strings.HasPrefix(rest, ".") {
		return whole
	}
	at := strings.IndexAny(rest, "/?#")
	if at < 0 {
		return ""
	}
	return rest[at:]
}

// withoutUnknownPort takes a port away that is to be filled in: an address with
// it cannot be read.
func withoutUnknownPort(address string) string {
	begin := 0
	if at := strings.Index(address, "://"); at >= 0 {
		begin = at + 3
	}
	end := len(address)
	if at := strings.IndexAny(address[begin:], "/?#"); at >= 0 {
		end = begin + at
	}
	return address[:begin] + strings.TrimSuffix(address[begin:end], ":"+fillIn) + address[end:]
}
