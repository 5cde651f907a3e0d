package diagnose

import (
	"net"
	"regexp"
	"strings"
)

// DatabasePlace is where an application's settings may say that a database is.
type DatabasePlace struct {
	Port, Socket string
	Addresses    []string // of its host, loopback aside
	Remote       bool     // the application is on another host: loopback is not it
}

// at reports whether a name and a port are the database's; "" stands for what a
// client takes then (localhost, which is the socket, and 3306).
func (p DatabasePlace) at(name, port string) bool {
	if port != "" && port != p.Port || port == "" && p.Port != "3306" {
		return false
	}
	for _, a := range p.Addresses {
		if name == a {
			return true
		}
	}
	ip := net.ParseIP(name)
	return !p.Remote && (name == "" || name == "localhost" || ip != nil && ip.IsLoopback())
}

var (
	goUnixDSN = regexp.MustCompile(`@unix\(([^()\s]+)\)`)
	// hostSetting is a database's host under a name that many applications use:
	// DB_HOST=… of an env file, env[DB_HOST] = … of a pool, define('DB_HOST', '…')
	// of WordPress, 'DB_HOST' => '…', $wgDBserver = "…" of MediaWiki.
	hostSetting = regexp.MustCompile(`(\b(?:DB_HOST|DATABASE_HOST|MYSQL_HOST|MARIADB_HOST|wgDBserver)\b["'\]]*[ \t]*(?:=>|=|,|:)[ \t]*["']?)([A-Za-z0-9_.\[\]-]+(?::\d+)?)`)
)

// MoveDatabase returns content with another address, host and port, wherever it
// names the database at a place, and how often it did.
func MoveDatabase(content []byte, from DatabasePlace, name, port string) ([]byte, int) {
	n := 0
	text := pdoDSN.ReplaceAllStringFunc(string(content), func(s string) string {
		host, at, socket := "", "", ""
		var rest []string
		for _, kv := range strings.Split(strings.TrimPrefix(s, "mysql:"), ";") {
			k, v, _ := strings.Cut(kv, "=")
			switch k {
			case "host":
				host = v
			case "port":
				at = v
			case "unix_socket":
				socket = v
			default:
				rest = append(rest, kv)
			}
		}
		if socket != "" && (from.Remote || socket != from.Socket) || socket == "" && !from.at(host, at) {
			return s
		}
		n++
		return "mysql:" + strings.Join(append([]string{"host=" + name, "port=" + port}, rest...), ";")
	})
	text = goDSN.ReplaceAllStringFunc(text, func(s string) string {
		if h, p, err := net.SplitHostPort(goDSN.FindStringSubmatch(s)[1]); err != nil || !from.at(h, p) {
			return s
		}
		n++
		return "@tcp(" + net.JoinHostPort(name, port) + ")"
	})
	text = goUnixDSN.ReplaceAllStringFunc(text, func(s string) string {
		if from.Remote || goUnixDSN.FindStringSubmatch(s)[1] != from.Socket {
			return s
		}
		n++
		return "@tcp(" + net.JoinHostPort(name, port) + ")"
	})
	text = hostSetting.ReplaceAllStringFunc(text, func(s string) string {
		m := hostSetting.FindStringSubmatch(s)
		h, p, err := net.SplitHostPort(m[2])
		if err != nil {
			h, p = m[2], ""
		}
		if !from.at(h, p) || p == "" && port != "3306" { // where the port stands is not known
			return s
		}
		n++
		if p == "" {
			return m[1] + name
		}
		return m[1] + net.JoinHostPort(name, port)
	})
	return []byte(text), n
}
