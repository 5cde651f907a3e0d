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
	phpUnbuffered   = lazyregexp.New(`(?i)USE_BUFFERED_QUERY|MYSQLI_USE_RESULT|\buse_result\b|unbuffered`)
)

// phpMagic are the methods that PHP calls without being told to.
var phpMagic = []string{"__get", "__set", "__isset", "__unset", "__toString", "__destruct", "__clone", "offsetGet", "offsetSet", "offsetExists", "offsetUnset",
	"current", "next", "key", "valid", "rewind", "getIterator", "jsonSerialize", "count", "__debugInfo"}

// look gathers the facts.
func (p *php) look() {
	news, told, all := 0, map[string]bool{}, 0
	count := 0
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
		p.text.unbuffered = p.text.unbuffered || phpUnbuffered.MatchString(src)
		for _, m := range phpReference.FindAllStringSubmatch(src, -1) {
			p.text.references[strings.ToLower(m[1])] = true
		}
		news += len(phpNewPDO.FindAllString(src, -1))
		all += len(phpFetchModes.FindAllString(src, -1))
		for _, m := range phpFetchMode.FindAllStringSubmatch(src, -1) {
			told[m[1]] = true
			count++
		}
	}
	// What vendored code does with a connection is not known.
	p.text.transactions = p.text.transactions || p.vendored
	switch {
	case all == 0 && news > 0:
		p.text.fetchMode = "BOTH"
	case all == count && count >= news && len(told) == 1:
		for mode := range told {
			p.text.fetchMode = mode
		}
	}
	for _, m := range phpMagic {
		if len(p.named(m)) > 0 {
			p.text.magic = append(p.text.magic, m)
		}
	}
	p.close()
}
