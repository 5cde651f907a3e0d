package patch

import (
	"strings"

	"kasoku/internal/lazyregexp"
)

// phpFacts are what the texts of a program tell as a whole.
type phpFacts struct {
	driver       *Refusal // another database than MySQL, or classes that stand for it
	transactions bool
	fetchMode    string // of PDO, where a call names none; "" unknown
	unbuffered   bool
	yields       bool     // it has generators
	magic        []string // methods that PHP calls by itself
	// references are the functions and methods that take something by reference.
	references map[string]bool
}

var (
	phpOtherDriver  = lazyregexp.New(`(?i)['"](pgsql|sqlite|sqlsrv|oci|odbc|dblib|firebird|ibm|informix):`)
	phpExtends      = lazyregexp.New(`(?i)\bextends\s+\\?(PDO|mysqli|PDOStatement|mysqli_stmt|mysqli_result)\b|ATTR_STATEMENT_CLASS|sql_select_limit`)
	phpTransactions = lazyregexp.New(`(?i)beginTransaction|begin_transaction|START\s+TRANSACTION|['"]\s*BEGIN\b|autocommit|LOCK\s+TABLES|GET_LOCK`)
	phpFetchModes   = lazyregexp.New(`ATTR_DEFAULT_FETCH_MODE`)
	phpFetchMode    = lazyregexp.New(`PDO::ATTR_DEFAULT_FETCH_MODE\s*(?:=>|,)\s*\\?PDO::FETCH_(\w+)`)
	phpNewPDO       = lazyregexp.New(`(?i)\bnew\s+\\?PDO\b`)
	phpReference    = lazyregexp.New(`(?i)\bfunction\s+&?\s*(\w+)\s*\([^)]*&\s*(?:\.\.\.\s*)?\$`)
	phpYields       = lazyregexp.New(`(?i)\byield\b`)
	phpUnbuffered   = lazyregexp.New(`(?i)USE_BUFFERED_QUERY|MYSQLI_USE_RESULT|\buse_result\b|unbuffered`)
)

// phpMagic are the methods that PHP calls without being told to.
var phpMagic = []string{"__get", "__set", "__isset", "__unset", "__toString", "__destruct", "__clone", "offsetGet", "offsetSet", "offsetExists", "offsetUnset",
	"current", "next", "key", "valid", "rewind", "getIterator", "jsonSerialize", "count", "__debugInfo"}

// look gathers the facts.
func (p *php) look() {
	modes := &phpModes{told: map[string]bool{}}
	p.text.references = map[string]bool{}
	for _, f := range p.files {
		src := string(f.src)
		if m := phpOtherDriver.FindString(src); m != "" {
			p.text.driver = refuse("driver", "%s names another database: %s", f.rel, m[1:])
		}
		if m := phpExtends.FindString(src); m != "" && p.text.driver == nil {
			p.text.driver = refuse("driver", "%s changes what a read gives: %s", f.rel, m)
		}
		p.text.transactions = p.text.transactions || phpTransactions.MatchString(src)
		p.text.yields = p.text.yields || phpYields.MatchString(src)
		p.text.unbuffered = p.text.unbuffered || phpUnbuffered.MatchString(src)
		for _, m := range phpReference.FindAllStringSubmatch(src, -1) {
			p.text.references[strings.ToLower(m[1])] = true
		}
		modes.read(src)
	}
	p.text.fetchMode = modes.one()
	// What vendored code does with a connection is not known.
	p.text.transactions = p.text.transactions || p.vendored
	for _, m := range phpMagic {
		if len(p.named(m)) > 0 {
			p.text.magic = append(p.text.magic, m)
		}
	}
	p.close()
}

// phpModes are the forms of rows that connections of PDO are told.
type phpModes struct {
	connections, all, plain int
	told                    map[string]bool
}

func (m *phpModes) read(src string) {
	m.connections += len(phpNewPDO.FindAllString(src, -1))
	m.all += len(phpFetchModes.FindAllString(src, -1))
	for _, found := range phpFetchMode.FindAllStringSubmatch(src, -1) {
		m.told[found[1]] = true
		m.plain++
	}
}

// one is the form that all have, "" if it is not known.
func (m *phpModes) one() string {
	switch {
	case m.all == 0 && m.connections > 0:
		return "BOTH"
	case m.all == m.plain && m.plain >= m.connections && len(m.told) == 1:
		for mode := range m.told {
			return mode
		}
	}
	return ""
}
