package diagnose

import (
	"bytes"
	"net"
	"regexp"
	"strings"
)

// DatabaseAddress is a database's TCP address as an application's settings
// name it, in a form whose driver also understands a socket.
type DatabaseAddress struct {
	Text string // the bytes to replace
	Host string
	Port string
	Form string // "pdo" or "go"
}

var (
	// pdoDSN is PHP's form: mysql:host=127.0.0.1;port=3306;dbname=app
	// (PHP manual, "PDO_MYSQL DSN").
	pdoDSN = regexp.MustCompile(`mysql:[A-Za-z_]+=[^\s"'<>]*`)
	// goDSN is the address part of user:password@tcp(127.0.0.1:3306)/app
	// (go-sql-driver/mysql, "DSN").
	goDSN = regexp.MustCompile(`@tcp\(([^()\s]+)\)`)
)

// DatabaseAddresses finds them in a settings file.
func DatabaseAddresses(content []byte) []DatabaseAddress {
	var out []DatabaseAddress
	for _, text := range pdoDSN.FindAllString(string(content), -1) {
		a := DatabaseAddress{Text: text, Port: "3306", Form: "pdo"}
		socket := false
		for _, kv := range strings.Split(strings.TrimPrefix(text, "mysql:"), ";") {
			k, v, _ := strings.Cut(kv, "=")
			switch k {
			case "host":
				a.Host = v
			case "port":
				a.Port = v
			case "unix_socket":
				socket = true
			}
		}
		if !socket && a.Host != "" {
			out = append(out, a)
		}
	}
	for _, m := range goDSN.FindAllStringSubmatch(string(content), -1) {
		a := DatabaseAddress{Text: m[0], Port: "3306", Form: "go"}
		if h, p, err := net.SplitHostPort(m[1]); err == nil {
			a.Host, a.Port = h, p
		} else {
			a.Host = m[1]
		}
		out = append(out, a)
	}
	return out
}

// ReplaceAddresses returns content with every address in the words that with
// gives for it. Each is replaced where it stands, so that one which begins
// like another does no harm.
func ReplaceAddresses(content []byte, with func(DatabaseAddress) string) []byte {
	var out []byte
	for _, a := range DatabaseAddresses(content) {
		if a.Form != "pdo" {
			continue
		}
		i := bytes.Index(content, []byte(a.Text))
		for i >= 0 && !whole(content, i, len(a.Text)) {
			next := bytes.Index(content[i+1:], []byte(a.Text))
			if next < 0 {
				i = -1
				break
			}
			i += 1 + next
		}
		if i < 0 {
			continue
		}
		out = append(append(out, content[:i]...), with(a)...)
		content = content[i+len(a.Text):]
	}
	out = append(out, content...)
	return goDSN.ReplaceAllFunc(out, func(b []byte) []byte {
		found := DatabaseAddresses(b)
		if len(found) != 1 {
			return b
		}
		return []byte(with(found[0]))
	})
}

// whole reports whether the n bytes at i are all of a PDO address.
func whole(content []byte, i, n int) bool {
	at := pdoDSN.FindIndex(content[i:])
	return at != nil && at[0] == 0 && at[1] == n
}

// Loopback reports whether the address is this machine's own.
func (a DatabaseAddress) Loopback() bool {
	if a.Host == "localhost" {
		return a.Form == "go" // PDO's localhost is the socket already
	}
	ip := net.ParseIP(a.Host)
	return ip != nil && ip.IsLoopback()
}

// WithSocket returns Text with the socket in place of host and port.
func (a DatabaseAddress) WithSocket(socket string) string {
	if a.Form == "go" {
		return "@unix(" + socket + ")"
	}
	var out []string
	for _, kv := range strings.Split(strings.TrimPrefix(a.Text, "mysql:"), ";") {
		k, _, _ := strings.Cut(kv, "=")
		switch k {
		case "host":
			out = append(out, "unix_socket="+socket)
		case "port":
		default:
			out = append(out, kv)
		}
	}
	return "mysql:" + strings.Join(out, ";")
}
