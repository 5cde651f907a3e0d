package cache

import (
	"fmt"
	"strings"

	"kasoku/internal/lazyregexp"
)

var (
	// A line of settings: indentation, key, sign between, quote, value, what follows.
	reSetting = lazyregexp.New(`^(\s*)(?:export\s+)?["']?([\w.-]+)["']?(\s*(?:=>|=|:)\s*)(["']?)([^"'\s,;#]*)(["']?.*)$`)
	// What a key that holds an address ends in, and one that holds the transport beside it.
	reAddressKey   = lazyregexp.New(`(?i)[_.-]?(?:addr|addrs|address|addresses|host|hosts|server|servers|endpoint)$`)
	reTransportKey = lazyregexp.New(`(?i)[_.-]?(?:network|net|protocol|proto|transport|scheme)$`)
)

// withTransport is after, a text of settings in which addresses of before were replaced by
// sockets, with the setting beside each that names the transport as one of sockets:
// network = "tcp" beside address = "127.0.0.1:6379" becomes "unix" (Go's net.Dial, and what
// is made after it). Beside it is in the same section or list of the same indentation, with a key
// that begins as the address's does (REDIS_NETWORK, REDIS_ADDR). An error says what stands
// there if it has no such form.
func withTransport(before, after string) (string, error) {
	old, lines := strings.Split(before, "\n"), strings.Split(after, "\n")
	if len(old) != len(lines) {
		return after, nil
	}
	for i := range lines {
		m := reSetting.FindStringSubmatch(lines[i])
		if lines[i] == old[i] || m == nil || !strings.HasPrefix(m[5], "/") { // unix:///path says it itself
			continue
		}
		j := transportBeside(lines, i, m[1], reAddressKey.ReplaceAllString(m[2], ""))
		if j < 0 {
			continue
		}
		t := reSetting.FindStringSubmatch(lines[j])
		switch value := strings.ToLower(t[5]); {
		case value == "unix":
		case (value == "tcp" || value == "tcp4") && !strings.HasSuffix(strings.ToLower(t[2]), "scheme"):
			at := len(lines[j]) - len(t[6]) - len(t[5])
			lines[j] = lines[j][:at] + "unix" + t[6]
		default:
			return "", fmt.Errorf("how settings that say %s = %s name a socket is not known", t[2], t[5])
		}
	}
	return strings.Join(lines, "\n"), nil
}

// transportBeside is the line that names the transport of the address in line i; -1 if none does.
func transportBeside(lines []string, i int, indent, prefix string) int {
	for _, step := range []int{-1, 1} {
		for j := i + step; j >= 0 && j < len(lines); j += step {
			text := strings.TrimSpace(lines[j])
			here := lines[j][:len(lines[j])-len(strings.TrimLeft(lines[j], " \t"))]
			if text == "" || len(here) > len(indent) {
				continue
			}
			if text[0] == '[' || len(here) < len(indent) {
				break
			}
			m := reSetting.FindStringSubmatch(lines[j])
			if m != nil && reTransportKey.MatchString(m[2]) && strings.EqualFold(reTransportKey.ReplaceAllString(m[2], ""), prefix) {
				return j
			}
		}
	}
	return -1
}
