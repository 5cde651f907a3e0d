package stack

import (
	"slices"
	"strings"

	"kasoku/internal/lazyregexp"
)

// namedIn is what a settings file names.
type namedIn struct {
	names    []string // of stores
	guessed  bool     // the file gives no port or socket
	why      string   // what a guess is taken from; "" for this machine's name
	mentions bool     // a database address of which no store is known
}

const here = `(?:127\.0\.0\.1|localhost|\[?::1\]?)`

var (
	// "127.0.0.1:3306" and "mysql://user:secret@localhost:3306/shop".
	hostPort = lazyregexp.New(`(?i)` + here + `:(\d{2,5})\b`)
	// "mysql:host=127.0.0.1;port=3306;dbname=shop" (PDO).
	pdo = lazyregexp.New(`(?i)\b(?:mysql|mariadb):(?:[a-z_]+=[^;"'\s]*;)*host=([^;"'\s]*)`)
	// "mysql://…@host/db" of Laravel, Symfony, Django, Rails.
	databaseURL = lazyregexp.New(`(?i)\b(?:mysql2?|mariadb|pdo_mysql)(?:\+\w+)?://(?:[^\s"'/@]*@)?([^\s"'/:]+)`)
	// A whole host name that is this machine's, and one that is written out (not
	// a variable of a template).
	isHere       = lazyregexp.New(`(?i)^` + here + `$`)
	isWrittenOut = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9.-]*$`)
	// DB_HOST=127.0.0.1, 'host' => 'localhost', "server": "::1", $DB['SERVER'] = 'localhost'.
	hostKey = lazyregexp.New(`(?i)[\w.-]*(?:host|hostname|server|addr|address)\b["']?\]?\s*(?:=>|=|:|,)\s*["']?` + here + `(?:["'\s;,)}]|$)`)
	portKey = lazyregexp.New(`(?i)[\w.-]*port\b["']?\]?\s*(?:=>|=|:|,)\s*["']?(\d{2,5})\b`)
	// mysqli_connect("localhost", …).
	mysqliCall = lazyregexp.New(`(?i)mysqli(?:_connect|->real_connect)?\s*\(\s*["'](?:p:)?` + here + `["']`)
	// What Debian's dbconfig-common writes into the settings of a package, for a database on
	// this machine: $dbserver=''; $dbtype='mysql';
	dbconfigHere = lazyregexp.New(`(?i)\bdbserver\s*=\s*(?:''|"")[\s;](?s:.*)\bdbtype\s*=\s*["']mysql["']`)
	// DB_NAME=shop, "database": "shop", and a key that names a host, wherever it is.
	databaseKey  = lazyregexp.New(`(?im)(?:^|[\s"'(,{$])[\w.-]*(?:db|database|mysql|mariadb)[._-]?(?:name|database|schema)?["']?\]?\s*(?:=>|=|:|,)\s*["']?([A-Za-z0-9_]{2,64})(?:["'\s;,)}]|$)`)
	hostAnywhere = lazyregexp.New(`(?im)[\w.-]*(?:host|hostname|server|addr|address|url|dsn)\b["']?\]?\s*(?:=>|=|:)\s*["']?[\w/\[]`)
	sqlWord      = lazyregexp.New(`(?i)mysql|mariadb|database|db_?name|(?:\b|_)db_`)
)

// namedStores finds the stores whose socket, or address and port, the text of a
// settings file names. A text that names this machine as a database's host but
// no port means the only database there is; that is a guess.
func namedStores(text string, stores []store) namedIn {
	var out namedIn
	add := func(name string) {
		if !slices.Contains(out.names, name) {
			out.names = append(out.names, name)
		}
	}
	byPort := func(port string) {
		for _, s := range stores {
			if s.port == port {
				add(s.name)
			}
		}
	}
	for _, s := range stores {
		for _, path := range s.sockets {
			if strings.Contains(text, path) {
				add(s.name)
			}
		}
	}
	for _, m := range hostPort.FindAllStringSubmatch(text, -1) {
		byPort(m[1])
	}
	ofDatabase := mysqliCall.MatchString(text) || dbconfigHere.MatchString(text)
	for _, m := range append(pdo.FindAllStringSubmatch(text, -1), databaseURL.FindAllStringSubmatch(text, -1)...) {
		switch {
		case isHere.MatchString(m[1]):
			ofDatabase = true
		case isWrittenOut.MatchString(m[1]):
			out.mentions = true
		}
	}
	hasHost := ofDatabase || hostKey.MatchString(text)
	if hasHost {
		for _, m := range portKey.FindAllStringSubmatch(text, -1) {
			byPort(m[1])
		}
	}
	if hasHost && (ofDatabase || hostOfDatabase(text) || len(out.names) == 0) {
		out.guessDatabase(text, stores)
	}
	return out
}

// guessDatabase takes the only database there is, if none is named yet; that the text names
// this machine as the host of one is known.
func (n *namedIn) guessDatabase(text string, stores []store) {
	var databases []string
	for _, s := range stores {
		if s.database {
			databases = append(databases, s.name)
		}
	}
	named := slices.ContainsFunc(databases, func(name string) bool { return slices.Contains(n.names, name) })
	switch {
	case named || !sqlWord.MatchString(text):
	case len(databases) == 1:
		n.names, n.guessed = append(n.names, databases...), true
	default:
		n.mentions = true
	}
}

// kindWord tells what the settings around it are of.
var kindWord = lazyregexp.New(`(?i)mysql|mariadb|database|db_|redis|memcache|cache|mail|smtp|session|elastic|amqp|rabbit|queue|mongo|search`)

// hostOfDatabase reports whether one of the keys that name this machine is a database's: in
// a file that names caches, too, the last word of a kind up to the key tells whose it is.
func hostOfDatabase(text string) bool {
	for _, at := range hostKey.FindAllStringIndex(text, -1) {
		kinds := kindWord.FindAllString(text[:at[1]], -1)
		if len(kinds) > 0 && sqlWord.MatchString(kinds[len(kinds)-1]) {
			return true
		}
	}
	return false
}
